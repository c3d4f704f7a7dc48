"""Exported agents: an agent as one file that other runtimes can run, checked against the agent before it is written.

`formats/` has a module for each file format, `agents/` one for each kind of agent; `ludus.agents.exported` plays files.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ludus import __version__
from ludus.agents.export import formats
from ludus.agents.export.metadata import LONGEST_NAME, MOST_NAMES, Check, Metadata, Quantization, encode
from ludus.files import write_atomically
from ludus.types import Array, Discrete, LudusError

if TYPE_CHECKING:
    from ludus.agents.export.formats import Format, Runtime
    from ludus.agents.export.model import Model
    from ludus.agents.protocol import Agent
    from ludus.agents.trained import Trained
    from ludus.bridges import AnyPool

ROWS = 4
"""games that are played at the same time to check a file"""
Strength = Callable[["Agent", "Trained"], dict[str, float]]
"""measures how well an exported agent plays against the agent that it was made of"""


class Exported(NamedTuple):
    """A file that was written."""

    path: pathlib.Path
    size: int
    metadata: Metadata


def export(
    run: str | pathlib.Path,
    out: str | pathlib.Path,
    format: str | None = None,
    batch: int | None = None,
    quantize: Quantization | None = None,
    measure: Strength | None = None,
) -> Exported:
    """Write the agent of a run or a checkpoint as a file; nothing is written if the file plays differently.

    The format follows from the suffix of `out`. `batch` is the number of rows that the file takes; by default any
    number, or 1 where the format cannot express that.
    """
    from ludus.agents import trained

    form, target = _format_of(format, pathlib.Path(out)), pathlib.Path(out)
    _check_request(form, batch, quantize, target)
    agent = trained.load(run)
    return write(form, agent, target, batch if batch or form.DYNAMIC else 1, quantize, measure)


def write(
    form: Format,
    agent: Trained,
    out: pathlib.Path,
    batch: int | None = None,
    quantize: Quantization | None = None,
    measure: Strength | None = None,
) -> Exported:
    """The same for an agent that is already loaded."""
    from ludus.agents.export.agents import model_of
    from ludus.agents.neural import devices
    from ludus.bridges import open_pool

    devices.start()
    pool = open_pool(agent.manifest.game, ROWS, 1, threads=1)
    try:
        model = model_of(agent.manifest.agent, agent.agent, agent.params, pool)
        metadata = _describe(agent, model, pool, batch, quantize)
        body = form.write(model, batch, quantize)
        check = _checked(form, body, metadata, model, pool)
        if measure is not None:
            check = _with_strength(check, form, body, metadata, pool, agent, measure)
    finally:
        pool.close()
    metadata = _with_check(metadata, check)
    data = form.attach(body, encode(metadata))
    form.metadata_of(data, f'"{out}"')
    write_atomically(out, data)
    return Exported(out, len(data), metadata)


def _format_of(name: str | None, out: pathlib.Path) -> Format:
    if name is not None:
        return formats.find(name)
    form = formats.of_file(out)
    if form is None:
        suffixes = ", ".join(formats.find(known).SUFFIX for known in formats.names())
        raise LudusError(f'the name "{out.name}" does not end with a known format ({suffixes}); add --format onnx')
    return form


def _check_request(form: Format, batch: int | None, quantize: str | None, out: pathlib.Path) -> None:
    name = form.SUFFIX[1:]
    if out.suffix.lower() != form.SUFFIX:
        raise LudusError(f'a file of this format must end with {form.SUFFIX}, not "{out.name}"; rename --out')
    if not out.parent.is_dir():
        raise LudusError(f'the folder "{out.parent}" does not exist; create it first')
    if batch is not None and not 1 <= batch <= 2**16:
        raise LudusError(f"--batch must be a number from 1 to {2**16}, or dynamic, not {batch}")
    if quantize is not None and quantize not in form.QUANTIZATIONS:
        known = ", ".join(form.QUANTIZATIONS) or "none"
        raise LudusError(f"{name} cannot store weights as {quantize}; it can store: {known}")


def _describe(
    agent: Trained, model: Model, pool: AnyPool, batch: int | None, quantize: Quantization | None
) -> Metadata:
    from ludus.agents.trained import count_parameters

    manifest, actions = agent.manifest, pool.spec.actions
    count = actions.n if isinstance(actions, Discrete) else None
    low, high = (None, None) if isinstance(actions, Discrete) else (list(actions.low), list(actions.high))
    trained: dict[str, str | int | float | None] = {
        "steps": manifest.steps, "version": manifest.version, "score": manifest.score, "created": manifest.created,
        "parameters": count_parameters(agent.params),
    }  # fmt: skip
    return Metadata(
        1, __version__, manifest.game, pool.fingerprint, _description(agent), model.network, model.memory,
        model.read is not None, model.ties, batch, quantize, pool.spec.seats, count, _action_names(pool, count or 0),
        low, high, list(model.inputs), list(model.outputs), trained,
    )  # fmt: skip


def _description(agent: Trained) -> dict[str, Any]:
    """What the checkpoint says of its agent; the table of an imported model has been put into the order of the game."""
    described = agent.manifest.agent
    if not described.get("args", {}).get("reference"):
        return described
    table = list(agent.agent.network.args.embedding_shape)
    return described | {"args": described["args"] | {"embedding_shape": table}}


def _action_names(pool: AnyPool, count: int) -> list[str]:
    """The names of all actions; none if there are too many, or if they depend on the position."""
    if count > MOST_NAMES or pool.names_moves:
        return []
    return [_line(pool.action_name(action)) for action in range(count)]


def _line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)[:LONGEST_NAME]


def _checked(form: Format, body: bytes, metadata: Metadata, model: Model, pool: AnyPool) -> Check:
    """Compare the file, in its own runtime, with the agent; raises LudusError if an exact file differs."""
    from ludus.agents.export.recording import TOLERANCE, compare, record

    runtime = form.open_runtime(form.attach(body, encode(metadata)), metadata, "the exported file")
    check = compare(model, record(model, pool), _in_turns(runtime, metadata.batch), runtime.version)
    exact = metadata.quantize is None
    if exact and not (check.max_error <= TOLERANCE and check.agreement == 1.0):
        raise LudusError(
            f"the exported file differs from the agent by {check.max_error:.2g} (at most {TOLERANCE:g} is allowed) and "
            f"agrees in {check.agreement:.1%} of the moves, so it was not written; use another --format"
        )
    if not check.max_error < float("inf"):
        raise LudusError("the exported file computes NaN or infinity, so it was not written; use another --format")
    return check


def _in_turns(runtime: Runtime, batch: int | None) -> Callable[[dict[str, Any]], dict[str, Array]]:
    """Run a file for any number of rows with all rows at once and with single rows, in turns."""
    turn = 0

    def run(inputs: dict[str, Any]) -> dict[str, Array]:
        nonlocal turn
        turn += 1
        try:
            return formats.run_rows(runtime, inputs, 1 if batch is None and turn % 2 else batch)
        except (RuntimeError, ValueError) as error:
            raise LudusError(
                f"{runtime.version} cannot run the exported file ({formats.reason_of(error)}), so it was not written; "
                "use another --format"
            ) from None

    return run


def _with_strength(
    check: Check, form: Format, body: bytes, metadata: Metadata, pool: AnyPool, agent: Trained, measure: Strength
) -> Check:
    import msgspec

    from ludus.agents.exported import ExportedAgent

    runtime = form.open_runtime(form.attach(body, encode(metadata)), metadata, "the exported file")
    network = agent.agent.network if metadata.features else None
    player = ExportedAgent(runtime, metadata, pool.spec, pathlib.Path("file"), network)
    return msgspec.structs.replace(check, strength=measure(player, agent))


def _with_check(metadata: Metadata, check: Check) -> Metadata:
    import msgspec

    return msgspec.structs.replace(metadata, check=check)
