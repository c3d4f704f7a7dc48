"""Agent sessions: the caller plays the game and sends observations; the index of a request makes retries safe."""

from __future__ import annotations

import asyncio
import zlib
from collections import deque

import msgspec

from ludus.server.batching import Decided
from ludus.server.messages import Answer, SessionInfo
from ludus.server.model import Memory
from ludus.server.problems import Problem
from ludus.server.stores import Record

MOST_IN_LINE = 32
"""requests of one session that may wait for each other"""


class Session(msgspec.Struct, frozen=True, array_like=True, tag="session1"):
    """What is stored of a session, in this order, as an array of msgpack; the tag is the version of the format.

    The memory is that of one version of one model, whose arrays have fixed types and shapes.
    """

    model: str
    version: str
    seat: int
    seed: int
    memory: Memory
    last: msgspec.Raw
    """the last answer as msgpack, or nil"""


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Session)
_answers = msgspec.msgpack.Decoder(Answer)
NOTHING = msgspec.Raw(_encoder.encode(None))


def label_of(model: str, version: str) -> str:
    """The label under which a store counts the sessions of a version of a model."""
    return f"{model}@{version}"


def encode(session: Session, index: int) -> Record:
    """The record of a session after `index` requests."""
    return Record(index, _encoder.encode(session), label_of(session.model, session.version))


def decode(record: Record) -> Session:
    """The session in a record; raises Problem for one that this version of ludus cannot read."""
    try:
        return _decoder.decode(record.data)
    except msgspec.MsgspecError:
        detail = "this session was stored by another version of ludus; open a new session"
        raise Problem(410, "session_gone", detail) from None


def check_index(index: int, expected: int) -> None:
    """Raise Problem unless the index is the expected one, or that of the last request."""
    if index == expected or (index == expected - 1 and expected > 0):
        return
    before = f", or {expected - 1} for the last answer again" if expected else ""
    detail = f"the index is {index}; expected is {expected}{before}"
    raise Problem(409, "index_mismatch", detail, expected=expected)


def last_answer(session: Session) -> Answer:
    """The last answer, exactly as it was."""
    return _answers.decode(session.last)


def answered(session: Session, index: int, decided: Decided) -> tuple[Answer, Session]:
    """The answer to request `index`, and the session after it."""
    answer = Answer(
        decided.action, decided.name, decided.probabilities, decided.value, index + 1, decided.degraded
    )  # fmt: skip
    last = msgspec.Raw(_encoder.encode(answer))
    return answer, Session(session.model, session.version, session.seat, session.seed, decided.memory, last)


def seed_of(seed: int, index: int) -> int:
    """The seed of one request: the same again if it is repeated, by whichever worker."""
    return zlib.crc32(b"%d:%d" % (seed, index))


class Turns:
    """Lets the requests of each session through one at a time, in the order of their arrival."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def busy(self) -> bool:
        """Whether any request is being answered."""
        return bool(self._lines)

    async def enter(self, session: str) -> None:
        """Wait for the turn of this request; `leave` ends it."""
        line = self._lines.get(session)
        if line is None:
            self._lines[session] = deque()
            return
        if len(line) >= MOST_IN_LINE:
            detail = f"{len(line)} requests of this session are waiting already; wait for their answers"
            raise Problem(503, "overloaded", detail, retry_after=1)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the turn came together with the cancellation
                self.leave(session)
            raise

    def leave(self, session: str) -> None:
        """Let the next request of the session through."""
        line = self._lines[session]
        while line:
            turn = line.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self._lines[session]


__all__ = ["NOTHING", "Answer", "Session", "SessionInfo", "Turns"]
