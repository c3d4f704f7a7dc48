"""Replays: a game stored as its seed and its actions, and replayed exactly.

A file is one line of JSON, the actions as little-endian numbers compressed by zlib, and the SHA-256 of both. Its
contents are validated before use, and nothing in it is executed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import pathlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, NoReturn, TypeGuard

import numpy as np

from ludus.bridges import open_pool
from ludus.dsl import OVER, PLAYING
from ludus.evaluation import show
from ludus.files import write_atomically
from ludus.pool import Pool
from ludus.types import Array, Continuous, DType, JsonObject, LudusError, Spec

FORMAT, VERSION = "ludus replay", 1
SUFFIX = ".replay"
LONGEST_LINE, LONGEST_NAME, MOST_SEATS = 2**16, 500, 64
MOST_STEPS, MOST_BYTES = 10_000_000, 2**28
"""maximum steps of a game and bytes of its uncompressed actions; larger files are rejected"""
DIGEST = hashlib.sha256().digest_size
ENDED = {"over": "over", "cut": "cut off", "open": "not finished"}
"""the endings of a game: by its rules, by its horizon, or abandoned"""
FIELDS = (
    "format", "version", "game", "fingerprint", "seed", "agents", "returns", "ending", "actions", "type", "shape"
)  # fmt: skip


Move = str | list[str]
"""the name of an action, or the names of the actions of all seats"""


class Replay(NamedTuple):
    """One game: what is needed to replay it, and its result."""

    game: str
    """full name, with parameters"""
    fingerprint: str
    seed: int
    """a pool of one row with this seed opens with this game"""
    agents: tuple[str, ...]
    """the agent in each seat"""
    returns: tuple[float, ...]
    """the return of each seat"""
    ending: str
    """a key of ENDED"""
    actions: Array
    """[T(, seats)(, k)]: with seats if all act at once, with k if actions are continuous"""


class Outcome(NamedTuple):
    """The result of a game after its last action."""

    returns: tuple[float, ...]
    ending: str


def record(game: str, seed: int, agents: Sequence[str], actions: Sequence[Array] | Array) -> Replay:
    """The replay of these actions, [T(, seats)(, k)]; they are played once to find the result."""
    with _open_pool(game, seed) as pool:
        spec, name, fingerprint = pool.spec, pool.name, pool.game.fingerprint
    kind = action_type(spec)
    given = np.asarray(actions) if len(actions) else np.zeros((0, *action_shape(spec)), kind)
    shape = (len(given), *action_shape(spec))
    if given.shape != shape or given.dtype.kind not in ("iufb" if kind.kind == "f" else "iub"):
        raise LudusError(f"a record of {name} needs actions of shape {shape}, not {given.dtype} of shape {given.shape}")
    if kind.kind == "u" and given.size and not 0 <= int(given.min()) <= int(given.max()) < 2 ** (8 * kind.itemsize):
        raise LudusError(
            f"{name} has no actions from {given.min()} to {given.max()}; pass the actions that were played"
        )
    names = tuple(_checked_agents(list(agents), spec, "this record"))
    # Convert to the type of the file here, so that a saved and loaded replay equals the recorded one.
    draft = Replay(name, fingerprint, seed, names, (), "open", given.astype(kind))
    _check_seed(seed, "this record")
    return draft._replace(**outcome(draft)._asdict())


def steps(replay: Replay) -> Iterator[Pool]:
    """Replay the game: yields its pool of one row at the opening and after each action, T + 1 times."""
    with _open_pool(replay.game, replay.seed) as pool:
        _check_version(replay, pool)
        yield pool
        for number, action in enumerate(replay.actions):
            if pool.status[0] != PLAYING:
                _raise_changed(replay, number, f"the game was over after {number} of {len(replay.actions)} steps")
            batch = action if pool.spec.turns == "simultaneous" else action[None]
            try:
                pool.advance(batch)
            except LudusError as error:
                _raise_changed(replay, number, str(error))
            yield pool


def outcome(replay: Replay) -> Outcome:
    """The result of replaying the game."""
    total, status = np.zeros(len(replay.agents)), PLAYING
    for pool in steps(replay):
        total += pool.step.reward[0]
        status = int(pool.status[0])
    return Outcome(tuple(total.tolist()), {PLAYING: "open", OVER: "over"}.get(status, "cut"))


def verify(replay: Replay) -> None:
    """Raise LudusError unless replaying the game gives the recorded result.

    Returns may differ by a millionth, because processors may round sines differently.
    """
    found = outcome(replay)
    if found.ending != replay.ending or not np.allclose(found.returns, replay.returns, rtol=1e-6, atol=1e-6):
        raise LudusError(
            f"this replay of {replay.game} records {replay.ending} with {list(replay.returns)}, but replayed it is "
            f"{found.ending} with {list(found.returns)}; the rules have changed, or the file was forged"
        )


def action_names(replay: Replay) -> list[Move]:
    """[T] the names of the actions; a list of them for each step if all seats act at once."""
    with _open_pool(replay.game, replay.seed) as pool:
        if pool.names_moves:
            return [now.action_name(one) for now, one in zip(steps(replay), replay.actions, strict=False)]
        continuous = isinstance(pool.spec.actions, Continuous)

        def name(action: Array) -> str:
            return pool.action_name(action if continuous else int(action))

        if pool.spec.turns == "simultaneous":
            return [[name(one) for one in row] for row in replay.actions]
        return [name(one) for one in replay.actions]


def frames(replay: Replay) -> list[Array]:
    """[T + 1] the shapes of the game after each step; empty if it has no scene."""
    return [shapes for pool in steps(replay) for shapes in show.draw(pool)]


def frame_size(replay: Replay) -> tuple[int, int]:
    """The size of its pictures."""
    with _open_pool(replay.game, replay.seed) as pool:
        return pool.spec.frame


def watch(replay: Replay, tell: Callable[[str], None], ask: Callable[[str], str] | None = None) -> None:
    """Print a game step by step; before each step `ask` waits: Enter continues, a number skips steps, q quits."""
    moves, seat, leap = action_names(replay), 0, 0
    for number, pool in enumerate(steps(replay)):
        if number:
            tell(f"{number}. {_move_text(replay, seat, moves[number - 1])}")
        seat, leap = int(pool.step.seat[0]), leap - 1
        if leap > 0 and number < len(moves):
            continue
        tell(pool.describe())
        if ask and number < len(moves):
            answer = ask(f"step {number} of {len(moves)} (Enter, a number or q): ").strip()
            if answer.startswith("q"):
                return
            leap = int(answer) if answer.isdecimal() and len(answer) < 10 else 1
    tell(
        f"{ENDED[replay.ending]}: "
        + ", ".join(f"{a} {r:g}" for a, r in zip(replay.agents, replay.returns, strict=True))
    )


def _move_text(replay: Replay, seat: int, move: Move) -> str:
    pairs = zip(replay.agents, move, strict=True) if isinstance(move, list) else [(replay.agents[seat], move)]
    return ", ".join(f"{agent}: {name}" for agent, name in pairs)


def header(replay: Replay) -> JsonObject:
    """The first line of the file as a dictionary."""
    facts = {"format": FORMAT, "version": VERSION, "game": replay.game, "fingerprint": replay.fingerprint}
    facts |= {"seed": replay.seed, "agents": list(replay.agents), "returns": list(replay.returns)}
    actions = {"actions": len(replay.actions), "type": replay.actions.dtype.name, "shape": list(replay.actions.shape)}
    return facts | {"ending": replay.ending} | actions


def save(path: str | pathlib.Path, replay: Replay) -> None:
    """Write a replay atomically."""
    write_atomically(pathlib.Path(path), packed(replay))


def packed(replay: Replay) -> bytes:
    """A replay as the content of a file."""
    line = json.dumps(header(replay), ensure_ascii=True, allow_nan=False).encode() + b"\n"
    if len(line) > LONGEST_LINE or replay.actions.nbytes > MOST_BYTES or len(replay.actions) > MOST_STEPS:
        raise LudusError(f"the game is too long to be saved; a replay has at most {MOST_STEPS:,} steps")
    content = line + zlib.compress(np.ascontiguousarray(replay.actions).tobytes(), 9)
    return content + hashlib.sha256(content).digest()


def load(path: str | pathlib.Path) -> Replay:
    """Read and validate a replay; its actions are checked by the rules when it is replayed."""
    file = pathlib.Path(path)
    place = f'"{file}"'
    line, packed = _split_header(_content(file, place), place)
    facts = _facts(line, place)
    with _open_pool(facts["game"], facts["seed"]) as pool:
        actions = _decompressed_actions(packed, facts, pool.spec, place)
        agents = tuple(_checked_agents(facts["agents"], pool.spec, place))
        returns = tuple(_checked_returns(facts["returns"], pool.spec, place))
        found = Replay(pool.name, facts["fingerprint"], facts["seed"], agents, returns, facts["ending"], actions)
        _check_version(found, pool)
    return found


def action_type(spec: Spec) -> DType:
    """The stored type of an action: the shortest integer for the number of actions, or float64 if continuous."""
    if isinstance(spec.actions, Continuous):
        return np.dtype("<f8")
    return np.dtype("<u1" if spec.actions.n <= 2**8 else "<u2" if spec.actions.n <= 2**16 else "<u4")


def action_shape(spec: Spec) -> tuple[int, ...]:
    """The shape of the actions of one step: (), (seats,), (k,) or (seats, k)."""
    together = (spec.seats,) if spec.turns == "simultaneous" else ()
    return together + ((len(spec.actions.low),) if isinstance(spec.actions, Continuous) else ())


@contextlib.contextmanager
def _open_pool(game: str, seed: int) -> Iterator[Pool]:
    """A pool of this game, closed at the end; raises LudusError for games of other libraries."""
    # Checked before the game is opened, because the name of a foreign game in a file can import any module.
    plain = game.removeprefix("discretize:").partition("(")[0]
    pool = None if ":" in plain or "@" in plain else open_pool(game, 1, [seed], threads=1).compiled
    if pool is None:
        raise LudusError(
            f"{game} is from another library, so it cannot be replayed exactly from its actions; "
            "replays work only for the games that ludus games lists"
        )
    try:
        yield pool
    finally:
        pool.close()


def _content(file: pathlib.Path, place: str) -> bytes:
    """The contents of the file without its digest, which is verified."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise LudusError(f"cannot read the replay {place}: {error.strerror}; give a {SUFFIX} file") from None
    if len(data) > MOST_BYTES:
        raise LudusError(f"{place} is too large for a replay, which has at most {MOST_BYTES:,} bytes")
    if not data.startswith(b"{"):
        raise LudusError(f"{place} is not a replay; it should begin with a line of JSON")
    if hashlib.sha256(data[:-DIGEST]).digest() != data[-DIGEST:]:
        raise LudusError(f"{place} is damaged: its checksum does not match; copy the replay again")
    return data[:-DIGEST]


def _split_header(content: bytes, place: str) -> tuple[bytes, bytes]:
    end = content.find(b"\n", 0, LONGEST_LINE)
    if end < 0:
        raise LudusError(f"{place} has no first line of at most {LONGEST_LINE} bytes, so it is not a replay")
    return content[:end], content[end + 1 :]


def _facts(line: bytes, place: str) -> JsonObject:
    """The first line as a dictionary, with all fields checked that do not depend on the game."""
    try:
        facts = json.loads(line)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise LudusError(f'{place} is not a replay; its first line should be JSON with "format": "{FORMAT}"')
    if facts.get("version") != VERSION:
        raise LudusError(f"{place} is a replay of format {facts.get('version')!r:.40}; this ludus reads {VERSION}")
    if set(facts) != set(FIELDS):
        wrong = ", ".join(sorted(set(facts) ^ set(FIELDS)))[:100]
        raise LudusError(f"the first line of {place} has missing or unknown fields ({wrong}); use another copy")
    for field in ("game", "fingerprint"):
        _check_name(facts[field], f"the {field} of {place}")
    _check_seed(facts["seed"], place)
    if not isinstance(facts["ending"], str) or facts["ending"] not in ENDED:
        raise LudusError(f"{place} has an unknown ending; expected one of {', '.join(ENDED)}")
    return facts


def _check_name(value: object, what: str) -> None:
    """Raise LudusError unless a name, which is shown in terminals, is one short printable line."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME or not value.isprintable():
        raise LudusError(f"{what} should be a printable line of 1 to {LONGEST_NAME} characters, not {value!r:.60}")


def _check_seed(seed: object, place: str) -> None:
    if not _whole(seed) or not 0 <= seed < 2**64:
        raise LudusError(f"the seed of {place} should be a whole number from 0 to 2^64 - 1, not {seed!r:.40}")


def _checked_agents(agents: object, spec: Spec, place: str) -> list[str]:
    if not isinstance(agents, list) or len(agents) != spec.seats or spec.seats > MOST_SEATS:
        raise LudusError(
            f"{place} should name {spec.seats} agents, one per seat (at most {MOST_SEATS}): {agents!r:.60}"
        )
    for agent in agents:
        _check_name(agent, f"each agent of {place}")
    return agents


def _checked_returns(returns: object, spec: Spec, place: str) -> list[float]:
    finite = isinstance(returns, list) and all(type(one) in (int, float) and abs(one) <= 1e300 for one in returns)
    if not isinstance(returns, list) or not finite or len(returns) != spec.seats:
        raise LudusError(f"{place} should have {spec.seats} finite returns, one per seat, not {returns!r:.60}")
    return [float(one) for one in returns]


def _decompressed_actions(packed: bytes, facts: JsonObject, spec: Spec, place: str) -> Array:
    """The actions with the type and shape of the game; uncompressed to at most the size that the header states."""
    count, kind = facts["actions"], action_type(spec)
    if not _whole(count) or not 0 <= count <= MOST_STEPS:
        raise LudusError(f"{place} should have 0 to {MOST_STEPS:,} actions, not {count!r:.40}")
    shape = (count, *action_shape(spec))
    size = int(np.prod(shape)) * kind.itemsize
    if facts["type"] != kind.name or facts["shape"] != list(shape) or size > MOST_BYTES:
        raise LudusError(
            f"{place} contains actions {facts['type']!r:.20} of shape {facts['shape']!r:.60}; "
            f"{facts['game']} has {kind.name!r} of shape {list(shape)}: it was recorded by another version"
        )
    reader = zlib.decompressobj()
    try:
        data = reader.decompress(packed, size + 1)
    except zlib.error:
        data = b""
    if len(data) != size or not reader.eof or reader.unused_data:
        raise LudusError(f"the actions of {place} do not uncompress to {size} bytes; use another copy")
    return np.frombuffer(data, kind).reshape(shape)


def _whole(value: object) -> TypeGuard[int]:
    return type(value) is int


def _check_version(replay: Replay, pool: Pool) -> None:
    if replay.fingerprint != pool.game.fingerprint:
        raise LudusError(
            f"this replay was recorded with another version of {replay.game} (fingerprint {replay.fingerprint:.16}, "
            f"here {pool.game.fingerprint}); play it with the version of ludus that recorded it"
        )


def _raise_changed(replay: Replay, number: int, why: str) -> NoReturn:
    raise LudusError(
        f"step {number + 1} of this replay cannot be played: {why}; "
        f"the rules of {replay.game} have changed, or the file was forged"
    ) from None
