"""From a question to the answer: the model judges the legal options, page by page if they are too many for one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.duel_record import MAX_OPTIONS
from ludus.server.batching import Decided
from ludus.server.model import Memory
from ludus.server.reference.encode import option_rows
from ludus.server.reference.encodings import Encoding
from ludus.server.reference.options import Entry
from ludus.server.reference.requests import ActionPredict, MsgResponse
from ludus.types import Array

NOT_OFFERED, NOT_JUDGED = -1.0, -1.0
"""the `prob` of an entry that cannot be chosen, and the `win_rate` if there was nothing to judge"""
Decide = Callable[[Memory, Mapping[str, Array], Array, bool], Awaitable[Decided]]
"""decide with this memory, observation and mask; the flag says whether it is the first decision of the duel"""


class Page(NamedTuple):
    """The options of one decision, as indices of entries."""

    entries: Sequence[int]
    turns: bool
    """the last option turns the page"""


class Judgement(NamedTuple):
    """What the model thinks of the options."""

    probabilities: Mapping[int, float]
    """of the entries that it could choose"""
    value: float | None
    """None if it was not asked"""
    memory: Memory
    asked: bool
    """whether the memory includes this question"""


def pages(legal: Sequence[int], encoding: Encoding) -> Iterator[Page]:
    """The pages of the options, as the model saw them in training."""
    if len(legal) <= MAX_OPTIONS or not encoding.pages:
        yield Page(legal[:MAX_OPTIONS], turns=False)
        return
    for start in range(0, len(legal), MAX_OPTIONS - 1):
        yield Page(legal[start : start + MAX_OPTIONS - 1], turns=True)


async def judge(
    entries: Sequence[Entry], seen: Mapping[str, Array], memory: Memory, first: bool, encoding: Encoding, decide: Decide
) -> Judgement:
    """Ask the model for the probabilities of the legal entries; a single option needs no judgement."""
    legal = [at for at, entry in enumerate(entries) if entry.row]
    if len(legal) == 1 and not (encoding.sees_single and memory):
        return Judgement({legal[0]: 1.0}, None, memory, asked=False)
    for page in pages(legal, encoding):
        rows = [entries[at].row for at in page.entries] + [_turn_row(entries[legal[0]])] * page.turns
        mask = np.arange(MAX_OPTIONS) < len(rows)
        decided = await decide(memory, {**seen, "actions_": option_rows(rows)}, mask, first)
        memory, first = decided.memory, False
        if not page.turns or decided.action != len(page.entries):
            break
    probabilities = dict(zip(page.entries, map(float, decided.probabilities), strict=False))
    if len(legal) == 1:
        return Judgement({legal[0]: 1.0}, None, memory, asked=True)
    return Judgement(probabilities, float(decided.value), memory, asked=True)


def _turn_row(entry: Entry) -> bytes:
    """The option that turns the page: only its message is filled in."""
    row = bytearray(len(entry.row))
    row[features.MESSAGE] = entry.row[features.MESSAGE]
    return bytes(row)


def response_of(entries: Sequence[Entry], judgement: Judgement) -> MsgResponse:
    """The answer, with all entries in their order."""
    predicts = [
        ActionPredict(judgement.probabilities.get(at, NOT_OFFERED), entry.response, entry.can_finish)
        for at, entry in enumerate(entries)
    ]
    return MsgResponse(predicts, NOT_JUDGED if judgement.value is None else (judgement.value + 1) / 2)
