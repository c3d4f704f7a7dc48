"""`ludus serve` under load: rates, latency, many sessions, time to be ready, sudden death, and malformed requests.

The server, the load and this process are three processes on one machine, connected by loopback.
"""

from __future__ import annotations

import contextlib
import pathlib
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ludus.agents import checkpoint
from ludus.agents.neural.networks.games.duel.layout import LAYOUT as DUEL_SHAPED
from ludus.agents.neural.networks.layout import trimmed
from ludus.agents.neural.networks.settings import ModelArgs
from ludus.bench import Result, Tell, inference, load
from ludus.bench.served import Server, observation, served
from ludus.bridges import identity_of, open_pool
from ludus.types import JsonObject, LudusError

SESSIONS = 64
SECONDS, OPEN_SECONDS = 6.0, 8.0
"""of a measurement of the rate; of the latency"""
LIVE = 10_000
REFERENCE_RATE = 150.0
"""observations/s of the reference project's network in batches of 64, measured once, roughly, on a shared CPU; this
suite compares with it, but does not measure it again"""
MASK = [1] * 8 + [0] * 16
"""the eight actions of `inference.random_duel`"""


@dataclass(frozen=True)
class Settings:
    """How much to measure."""

    rounds: int = 5
    kills: int = 50
    mutations: int = 100_000


Part = Callable[[Settings], Iterator[Result]]


def suite(only: Sequence[str], settings: Settings, tell: Tell) -> Iterator[Result]:
    """All parts, or those whose names start with one of `only`."""
    chosen = {name: part for name, part in PARTS.items() if not only or any(name.startswith(word) for word in only)}
    if not chosen:
        raise LudusError(f"no part of the benchmark starts with {', '.join(only)}; the parts are {', '.join(PARTS)}")
    for number, (name, part) in enumerate(chosen.items()):
        tell(f"serve/{name}", number, len(chosen))
        yield from part(settings)


def recurrent(name: str, args: ModelArgs, cards: int, settings: Settings) -> Iterator[Result]:
    """The default network for duels, compared with batches of eight in this process before and after."""
    seen = inference.random_duel(inference.ROWS, cards)
    if args.card_mask:
        seen = trimmed(DUEL_SHAPED, seen)
    before = inference.measure(args, seen, settings.rounds)
    with tempfile.TemporaryDirectory(prefix="ludus-bench-") as folder:
        save_untrained(pathlib.Path(folder), args)
        with served(f"net={folder}") as server:
            blank = observation(server.schema("net"))
            many = inference.random_duel(SESSIONS, cards)
            shown = [blank | {field: many[field][row].tolist() for field in many} for row in range(SESSIONS)]
            results = list(loaded(f"serve/{name}", server, "net", shown, MASK, packed=True))
    after = inference.measure(args, seen, settings.rounds)
    yield from results
    yield Result(f"serve/{name}/in_process/before", before, "observations/s")
    yield Result(f"serve/{name}/in_process/after", after, "observations/s")
    yield Result(f"serve/{name}/ratio", 2 * results[0].value / (before + after), "of the rate in process")
    yield Result(f"serve/{name}/over_reference", results[0].value / REFERENCE_RATE, f"times {REFERENCE_RATE:g}/s")


def save_untrained(folder: pathlib.Path, args: ModelArgs) -> None:
    """A checkpoint of a new network for duels."""
    from ludus.agents.neural import agent as deep

    with contextlib.closing(open_pool("duel", 1, 0, threads=1)) as pool:
        params = checkpoint.flatten(deep.new_agent(pool, args).init(pool.spec, 0))
        described = deep.describe(args, False, False)
        manifest = checkpoint.describe(identity_of(pool), described, {"kind": "ppo"})
    checkpoint.save(folder, 1, checkpoint.Checkpoint(manifest, {"params": params}))


def small(game: str, packed: bool, settings: Settings) -> Iterator[Result]:
    """A small policy that was trained."""
    with served(f"net={game}:trained") as server, contextlib.closing(open_pool(game, SESSIONS, 0, threads=1)) as pool:
        seen = pool.step.observation
        shown = [{field: seen[field][row].tolist() for field in seen} for row in range(SESSIONS)]
        name = f"serve/{game}/{'msgpack' if packed else 'json'}"
        yield from loaded(name, server, "net", shown, None, packed)


def loaded(
    name: str, server: Server, model: str, shown: Sequence[JsonObject], mask: Sequence[int] | None, packed: bool
) -> Iterator[Result]:
    """Requests/s of sessions that always wait for an answer, and the latency at half of that rate."""
    ids = [server.open_session(model) for _ in shown]
    targets = [load.target(session, one, mask, packed) for session, one in zip(ids, shown, strict=True)]
    full = checked(load.run(load.Job(server.port, packed, targets, SECONDS)))
    again = [load.Target(one.before, one.after, at) for one, at in zip(targets, full.indices, strict=True)]
    half = checked(load.run(load.Job(server.port, packed, again, OPEN_SECONDS, rate=full.rate / 2)))
    yield Result(f"{name}/rate", full.rate, "requests/s")
    yield Result(f"{name}/load_generator", full.busy, "of a core")
    yield Result(f"{name}/half_load/rate", half.rate, "requests/s")
    yield Result(f"{name}/half_load/p50", 1000 * half.p50, "ms")
    yield Result(f"{name}/half_load/p99", 1000 * half.p99, "ms")


def checked(report: load.Report) -> load.Report:
    """The report of a load in which every request was answered by the network."""
    if report.refused or report.degraded:
        raise LudusError(f"the server refused requests ({report.refused}) or answered degraded ({report.degraded})")
    return report


def sessions(settings: Settings) -> Iterator[Result]:
    """The rate of 64 sessions with LSTM memory among 10,000 live ones, compared with that before and after, and the
    memory of each."""
    with served("net=recall:trained", "--max-sessions", str(2 * LIVE), "--queue", str(LIVE)) as server:
        one = observation(server.schema("net"))
        targets = [load.target(server.open_session("net"), one, None, True) for _ in range(SESSIONS)]
        before, targets = _rate(server, targets)
        resident, ids = server.resident(), [server.open_session("net") for _ in range(LIVE)]
        live = [load.target(session, one, None, True) for session in ids]
        for start in range(0, LIVE, LIVE // 10):
            checked(load.run(load.Job(server.port, True, live[start : start + LIVE // 10], 0.05, warm=0.0)))
        grown = server.resident() - resident
        among, targets = _rate(server, targets)
        for session in ids:
            server.call("DELETE", f"/v1/sessions/{session}")
        after, _ = _rate(server, targets)
    yield Result(f"serve/sessions/{SESSIONS}/before", before, "requests/s")
    yield Result(f"serve/sessions/{SESSIONS}/after", after, "requests/s")
    yield Result(f"serve/sessions/{LIVE}/rate", among, "requests/s")
    yield Result(f"serve/sessions/{LIVE}/ratio", 2 * among / (before + after), f"of the rate with {SESSIONS}")
    yield Result("serve/sessions/memory", grown / LIVE, "bytes per session")


def _rate(server: Server, targets: list[load.Target]) -> tuple[float, list[load.Target]]:
    report = checked(load.run(load.Job(server.port, True, targets, SECONDS)))
    return report.rate, [load.Target(t.before, t.after, at) for t, at in zip(targets, report.indices, strict=True)]


def ready(settings: Settings) -> Iterator[Result]:
    """Seconds from the start of the process until /readyz answers 200, with a full compile cache."""
    with served("cartpole:trained") as server:
        seconds = []
        for _ in range(settings.rounds):
            server.stop()
            seconds.append(server.start())
    yield Result("serve/ready", statistics.median(seconds), "s")


def kill(settings: Settings) -> Iterator[Result]:
    """Servers that are killed under load."""
    from ludus.bench import killing

    yield from killing.measure(settings.kills)


def mutated(settings: Settings) -> Iterator[Result]:
    """Malformed requests."""
    from ludus.bench import mutations

    yield from mutations.measure(settings.mutations)


PARTS: dict[str, Part] = {
    "rnn160": partial(recurrent, "rnn160", ModelArgs(), 160),
    "rnn40": partial(recurrent, "rnn40", ModelArgs(card_mask=True), inference.IN_PLAY),
    "cartpole/json": partial(small, "cartpole", False),
    "cartpole/msgpack": partial(small, "cartpole", True),
    "car/json": partial(small, "car", False),
    "car/msgpack": partial(small, "car", True),
    "sessions": sessions,
    "ready": ready,
    "kill": kill,
    "mutated": mutated,
}
