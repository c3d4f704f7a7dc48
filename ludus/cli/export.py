"""`ludus export`."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from ludus.cli.application import app, print_json
from ludus.types import LudusError

if TYPE_CHECKING:
    from ludus.agents.export import Exported, Strength
    from ludus.agents.protocol import Agent
    from ludus.agents.trained import Trained


@app.command
def export(
    run: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    /,
    out: pathlib.Path | None = None,
    format: str | None = None,
    batch: str | None = None,
    quantize: Literal["float16", "int8"] | None = None,
    measure: int = 0,
    json: bool = False,
) -> None:
    """Write a trained agent as one file that plays without Ludus: ONNX, TFLite, StableHLO, or parameters for Flax.

    The file is compared with the agent on 64 steps of real play before it is written.

    Args:
        run: Folder of a run or of a checkpoint.
        out: File to write: .onnx, .tflite, .stablehlo or .msgpack; by default the name of the run, in this folder.
        format: onnx, tflite, stablehlo or flax; by default as the file's name ends.
        batch: Number of rows that the file takes, or dynamic for any number, which is the default where possible.
        quantize: Store weights in fewer bits.
        measure: Number of games to play with the file against the agent, to measure what quantization costs.
        json: Print one JSON object instead of text.
    """
    from ludus.agents import export as exporting

    if measure < 0 or measure % 2:
        raise LudusError(f"--measure must be an even number of games, 0 or more, not {measure}")
    strength = _strength(measure) if measure else None
    out = out or _file_of(run, format)
    written = exporting.export(run, out, format, _rows(batch, format, out), quantize, strength)
    if json:
        import msgspec

        facts = msgspec.to_builtins(written.metadata)
        print_json({"file": str(written.path), "bytes": written.size, **facts})
    else:
        print(_text(written))


def _file_of(run: str, format: str | None) -> pathlib.Path:
    """The file to write if none is named."""
    from ludus.agents.export import formats

    if format is None:
        raise LudusError("say what to write, by its format or its file: --format onnx, or --out agent.onnx")
    return pathlib.Path(pathlib.Path(run).resolve().name + formats.find(format).SUFFIX)


def _rows(batch: str | None, format: str | None, out: pathlib.Path) -> int | None:
    """The number of rows, None for any; raises LudusError if the format cannot express any number."""
    from ludus.agents.export import formats

    if batch is None:
        return None
    if batch == "dynamic":
        form = formats.find(format) if format else formats.of_file(out)
        if form is not None and not form.DYNAMIC:
            raise LudusError(f"{form.SUFFIX[1:]} cannot express any number of rows; give a number, like --batch 8")
        return None
    if not batch.isdecimal():
        raise LudusError(f'--batch must be a number of rows or dynamic, not "{batch}"')
    return int(batch)


def _strength(games: int) -> Strength:
    """Measures the mean result of the file against the agent; with one seat, the difference of their mean returns."""

    def measure(file: Agent, agent: Trained) -> dict[str, float]:
        from ludus.evaluation import scores

        game, params = agent.manifest.game, agent.params
        if agent.agent.spec.seats == 1:
            theirs, ours = (
                scores.score(game, one[0], one[1], games, 1).returns.mean(axis=1)
                for one in ((agent, params), (file, ()))
            )
            return {"file": float(ours.mean()), "agent": float(theirs.mean()), "games": float(games)}
        found = scores.match(game, [(file, ()), (agent, params)], games, 1).interval
        return {**found._asdict(), "games": float(games)}

    return measure


def _text(written: Exported) -> str:
    metadata, check = written.metadata, written.metadata.check
    assert check is not None
    rows = "any number of rows" if metadata.batch is None else f"batches of {metadata.batch}"
    lines = [
        f"wrote {written.path}: {metadata.game}, {metadata.network}, memory {metadata.memory}, {rows}, "
        f"{written.size:,} bytes",
        f"checked with {check.runtime} on {check.steps} steps of {check.rows} games: largest error "
        f"{check.max_error:.2g}, {check.agreement:.1%} of the moves agree",
    ]
    if metadata.quantize:
        lines.append(f"weights are stored as {metadata.quantize}; --measure 1000 plays games against the agent")
    if check.strength:
        lines.append("playing strength: " + ", ".join(f"{name} {value:.4g}" for name, value in check.strength.items()))
    lines.append("inputs: " + ", ".join(port.name for port in metadata.inputs))
    lines.append("outputs: " + ", ".join(port.name for port in metadata.outputs))
    return "\n".join(lines)
