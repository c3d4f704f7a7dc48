"""Random duels played by our rules and by the real core in parallel, compared at every decision.

Both get the same decks in the same order, and our rules are fed the random results of the core. Random legal
choices are made in both until the duel ends or the first difference is found.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

from ludus.bridges.ygopro import sums
from ludus.bridges.ygopro.core import MASTER_RULE_5, PSEUDO_SHUFFLE, Setup
from ludus.bridges.ygopro.real_duel import RealDuel
from ludus.bridges.ygopro.lockstep import Difference, compare
from ludus.bridges.ygopro.messages import Question
from ludus.bridges.ygopro.node import NodeCore
from ludus.games.duel.tools import scripts
from ludus.games.duel.tools.check import named
from ludus.games.duel.tools.own_engine import OwnEngine
from ludus.types import JsonObject

LONGEST = 1000
"""decisions after which a duel is cut off"""
BATCH = 8
"""duels of each process between two reports of progress"""
SHOWN = 12
"""how many choices before a difference a report shows"""
ENDS = ("ep", "pass", "cancel", "m2")


class Played(NamedTuple):
    """The result of one duel."""

    kind: str
    seed: int
    decisions: int
    """decisions in which both agreed"""
    difference: JsonObject | None = None


class Report(NamedTuple):
    """The results of all duels."""

    duels: dict[str, int]
    """by kind"""
    decisions: dict[str, int]
    cards: int
    """how many cards have a script of our own"""
    differences: list[Played]


def compare_engines(
    decisions: int, seed: int, workers: int, kinds: Sequence[str], progress: Callable[[str, int, int], None]
) -> Report:
    """Play until `decisions` were compared in total, the same number of each kind."""
    report = Report(dict.fromkeys(kinds, 0), dict.fromkeys(kinds, 0), len(scripts.scripted_codes()), [])
    share = decisions / len(kinds)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for kind in kinds:
            seeds = itertools.count(seed)
            while report.decisions[kind] < share:
                batch = list(itertools.islice(seeds, BATCH * workers))
                for played in pool.map(functools.partial(play, kind), batch):
                    report.duels[kind] += 1
                    report.decisions[kind] += played.decisions
                    if played.difference:
                        report.differences.append(played)
                progress(f"{kind}, {len(report.differences)} differences", sum(report.decisions.values()), decisions)
    return report


def play(kind: str, seed: int) -> Played:
    """Play one duel of this kind, to its end or the first difference."""
    rng = random.Random(f"{kind} {seed}")
    setup = random_setup(kind, rng)
    core = open_core()
    core.log.clear()
    real, own, choose = RealDuel(core, setup), OwnEngine(setup), RandomChoice(rng)
    try:
        found = compare(real, own, choose, LONGEST)
    finally:
        real.close()
    difference = found.difference
    if core.log and difference is None:
        difference = Difference("script error", core.log[0], None, None)
    if difference is None:
        return Played(kind, seed, found.decisions)
    details = {
        "what": difference.what,
        "real": difference.real,
        "ours": difference.other,
        "question": difference.question and difference.question[:2],
        "choices": choose.made[-SHOWN:],
        "position": own.position(),
        "log": core.log[:3],
    }
    return Played(kind, seed, found.decisions, details)


@functools.cache
def open_core() -> NodeCore:
    """One Node process for each worker process, which ends with it."""
    core = NodeCore(scripts.OwnCards())
    atexit.register(core.close)
    return core


def random_setup(kind: str, rng: random.Random) -> Setup:
    """Two random decks, in the order in which they are drawn."""
    first, second = (scripts.random_deck(kind, rng) for _ in range(2))
    return Setup((first, second), (rng.getrandbits(63), 1, 2, 3), MASTER_RULE_5 | PSEUDO_SHUFFLE)


class RandomChoice:
    """Chooses at random; in some duels it rarely passes or ends phases, so that more effects are used."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._eager = rng, rng.choice((0.0, 0.5, 0.9))
        self.made = list[list[object]]()

    def __call__(self, question: Question) -> Sequence[int]:
        chosen = self._choose(question)
        self.made.append([question.player, question.message, [question.options[index] for index in chosen]])
        return chosen

    def _choose(self, question: Question) -> Sequence[int]:
        if question.message in ("card", "tribute"):
            return self._cards(question)
        if question.message == "sum":
            return self._sum(question)
        indices = list(range(len(question.options)))
        others = [index for index in indices if not _ends(question.options[index])]
        return [self._rng.choice(others if others and self._rng.random() < self._eager else indices)]

    def _cards(self, question: Question) -> Sequence[int]:
        facts = question.facts
        if facts["cancel"] and self._rng.random() < 0.1:
            return []
        most = min(facts["max"], len(question.options))
        return sorted(self._rng.sample(range(len(question.options)), self._rng.randint(facts["min"], most)))

    def _sum(self, question: Question) -> Sequence[int]:
        picked = list[int]()
        while not sums.may_finish(question, picked):
            picked.append(self._rng.choice(sums.may_pick(question, picked)))
        return sorted(picked)


def _ends(option: object) -> bool:
    return isinstance(option, list) and option[0] in ENDS


def as_json(report: Report) -> JsonObject:
    differences = [
        {"kind": one.kind, "seed": one.seed, "decision": one.decisions} | (one.difference or {})
        for one in report.differences
    ]
    return report._asdict() | {"differences": differences}


def table(report: Report) -> str:
    """The same as text."""
    lines = [f"{'duels of':<12}{'duels':>10}{'decisions':>12}"]
    lines += [f"{kind:<12}{report.duels[kind]:>10,}{report.decisions[kind]:>12,}" for kind in report.duels]
    lines.append(f"{len(report.differences)} differences")
    for one in report.differences[:3]:
        lines += ["", *_describe(one)]
    return "\n".join(lines)


def _describe(played: Played) -> Iterator[str]:
    found = played.difference or {}
    yield f"{played.kind} duel, seed {played.seed}, decision {played.decisions}: {found['what']} at {found['question']}"
    yield from (f"  chosen {named(choice)}" for choice in found["choices"])
    yield f"  core   {named(found['real'])}"
    yield f"  ours   {named(found['ours'])}"
    yield from (f"  {line}" for line in found["position"].splitlines())
    yield from (f"  log: {line}" for line in found["log"])
