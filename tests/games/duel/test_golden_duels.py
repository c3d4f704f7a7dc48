"""Recorded duels of the real engine, replayed by our rules: every question, option and state must match."""

import collections
import copy
import lzma
import pathlib

import pytest

from ludus.games.duel.tools import check, recorded_duels
from ludus.types import LudusError

DATA = pathlib.Path(__file__).parents[2] / "data"
RECORDED = DATA / "duels_recorded.jsonl.xz", DATA / "duels_differed.jsonl.xz"
"""a sample of recorded duels, and those in which our rules once differed"""


@pytest.fixture(scope="module")
def duels():
    return [duel for path in RECORDED for duel in recorded_duels.read(path)]


@pytest.fixture(scope="module")
def found(duels):
    return check.check(duels, lambda *_: None)


@pytest.mark.parametrize("stage", [1, 2, 3, 4, 5])
def test_every_decision_of_a_stage_matches(found, stage):
    first = next((one for one in found.differences if one.stage == stage), None)
    assert first is None, check.table(found)
    assert found.stages[stage].decisions_right == found.stages[stage].decisions > 500


def test_counts_are_reported_by_stage(found, duels):
    report = check.as_json(found)
    assert report["differences"] == []
    counted = collections.Counter(str(duel["stage"]) for duel in duels)
    assert {stage: tally["duels"] for stage, tally in report["stages"].items()} == counted
    assert all(tally["duels_right"] == tally["duels"] for tally in report["stages"].values())


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda decision: decision.update(p=1 - decision["p"]), "question"),
        (lambda decision: decision["o"].pop(), "options"),
        (lambda decision: decision["s"].update(lp=[1, 2]), "state lp"),
    ],
)
def test_a_difference_is_reported_at_its_decision(duels, change, what):
    duel = copy.deepcopy(duels[0])
    change(duel["dec"][5])
    right, difference = recorded_duels.replay(duel)
    assert (right, difference.decision, difference.what) == (5, 5, what)
    assert difference.position


def test_another_winner_is_a_difference(duels):
    duel = copy.deepcopy(duels[0])
    duel["end"]["winner"] = 1 - duel["end"]["winner"]
    right, difference = recorded_duels.replay(duel)
    assert right == len(duel["dec"])
    assert difference.what == "end"


def test_another_state_at_the_end_is_a_difference(duels):
    duel = copy.deepcopy(duels[0])
    duel["end"]["s"]["lp"][0] += 100
    right, difference = recorded_duels.replay(duel)
    assert (right, difference.what) == (len(duel["dec"]), "state lp")


@pytest.mark.parametrize("content", [b"\x00\x01 nothing", b'{"id": ', lzma.compress(b"[1, 2")])
def test_files_without_duels_raise_an_error(tmp_path, content):
    path = tmp_path / "duels.xz"
    path.write_bytes(content)
    with pytest.raises(LudusError, match=r"duels\.xz"):
        list(recorded_duels.read(path))


def test_an_empty_list_of_duels_raises_an_error():
    with pytest.raises(LudusError, match="no recorded duel"):
        check.check([], lambda *_: None)
