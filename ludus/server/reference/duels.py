"""Duels of /v0: what the server remembers of one, as bytes in the store, so that any worker can answer any request."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.duel_record import MAX_CARDS, MAX_HISTORY
from ludus.server.model import Memory
from ludus.server.reference.answer import Decide, judge, response_of
from ludus.server.reference.encode import PHASES, Past, board_of, global_row, history_rows
from ludus.server.reference.encodings import Encoding
from ludus.server.reference.options import entries_of
from ludus.server.reference.problems import RefusedError
from ludus.server.reference.requests import Input, PredictRequest, PredictResponse
from ludus.types import Array

MASK_SHAPE = (MAX_CARDS, features.MASK_COLUMNS)


class Asked(msgspec.Struct, frozen=True, array_like=True):
    """The last question, to know which action `prev_action_idx` means."""

    rows: list[bytes]
    """by entry of the answer; empty if it could not be chosen"""
    turn: int
    phase: int


class Duel(msgspec.Struct, frozen=True, array_like=True):
    """One duel between two requests."""

    model: str
    version: str
    memory: Memory
    seed: int
    index: int = 0
    """the index of the next request"""
    started: bool = False
    """whether the memory includes a decision"""
    history: list[Past] = []
    """own actions, newest first"""
    asked: Asked | None = None
    digest: bytes = b""
    answer: bytes = b""
    """digest of the last request, and its answer"""

    def to_bytes(self) -> bytes:
        return ENCODER.encode(self)


ENCODER, DECODER = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(Duel)
ANSWERS = msgspec.json.Encoder()


def from_bytes(data: bytes) -> Duel:
    """The duel of stored bytes; raises msgspec.DecodeError."""
    return DECODER.decode(data)


def digest_of(request: PredictRequest) -> bytes:
    """A short fingerprint of the content of a request."""
    return hashlib.blake2b(ENCODER.encode(request), digest_size=16).digest()


class Answered(NamedTuple):
    """The duel after a request."""

    duel: Duel
    response: PredictResponse


async def answered(duel: Duel, request: PredictRequest, encoding: Encoding, decide: Decide) -> Answered:
    """The answer to a request with the right index; raises RefusedError, and then nothing has changed."""
    history, about = remembered(duel, request.prev_action_idx), request.input
    board = board_of(about.cards, encoding)
    entries = entries_of(about.action_msg.data, board, encoding)
    seen = shown(about, board.rows, board.counts, history, encoding)
    judgement = await judge(entries, seen, duel.memory, not duel.started, encoding, decide)
    rows = [entry.row if at in judgement.probabilities else b"" for at, entry in enumerate(entries)]
    response = PredictResponse(response_of(entries, judgement), duel.index + 1)
    after = msgspec.structs.replace(
        duel, memory=judgement.memory, index=duel.index + 1, started=duel.started or judgement.asked, history=history,
        asked=Asked(rows, about.global_.turn, PHASES[about.global_.phase]), digest=digest_of(request),
        answer=ANSWERS.encode(response),
    )  # fmt: skip
    return Answered(after, response)


def shown(
    about: Input, rows: Array, counts: Sequence[int], history: list[Past], encoding: Encoding
) -> Mapping[str, Array]:
    """The observation without the options."""
    return {
        "cards_": rows, "global_": global_row(about, counts, encoding),
        "h_actions_": history_rows(history, about.global_.turn), "mask_": np.zeros(MASK_SHAPE, np.uint8),
    }  # fmt: skip


def remembered(duel: Duel, chosen: int) -> list[Past]:
    """The history with the action that the client has chosen; cancelling is not part of it, as in training."""
    if duel.asked is None:
        return duel.history
    rows = duel.asked.rows
    if not 0 <= chosen < len(rows):
        raise RefusedError(f"prev_action_idx {chosen} is out of range: the last answer has {len(rows)} actions")
    if not rows[chosen]:
        raise RefusedError(f"prev_action_idx {chosen} could not be chosen: its prob is -1")
    if rows[chosen][features.ACT] == features.CANCEL:
        return duel.history
    return [Past(rows[chosen], duel.asked.turn, duel.asked.phase), *duel.history[: MAX_HISTORY - 1]]
