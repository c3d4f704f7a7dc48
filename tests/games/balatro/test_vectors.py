"""Independent test vectors: seeds of the original game, and hands whose score several calculators agree on."""

import json
import lzma
import pathlib

import pytest

from ludus.games.balatro.tools import scores, seeds

DATA = pathlib.Path(__file__).parents[2] / "data"


def load(name: str):
    return json.loads(lzma.decompress((DATA / f"{name}.json.xz").read_bytes()))["vectors"]


@pytest.mark.parametrize("vector", load("balatro_seeds"), ids=lambda vector: vector["seed"])
def test_a_seed_has_the_same_contents_as_in_the_original_game(vector):
    assert seeds.entry(vector["seed"], antes=4) == vector


def near(one, other):
    return abs(one - other) <= 1e-9 * max(1.0, abs(one), abs(other))


def differs(name, wanted, found):
    """Whether a field differs from the expected value; None means no expectation."""
    if wanted is None:
        return False
    if name in ("chips", "mult") or (name == "score" and wanted >= 1e9):
        return not near(wanted, found)
    if name == "jokers_after":
        return len(wanted) != len(found) or any(map(state_differs, wanted, found))
    if name == "cards_changed":
        wanted, found = (sorted(rows, key=lambda row: row["index"]) for rows in (wanted, found))
    return wanted != found


def state_differs(wanted, found):
    if wanted is None:
        return False
    return any(not near(value, found[name]) if isinstance(value, int | float) else value != found[name]
               for name, value in wanted.items())  # fmt: skip


def test_hands_score_as_independent_calculators_say():
    vectors = load("balatro_scores")
    wrong = {
        vector["id"]: [name for name, wanted in vector["expected"].items() if differs(name, wanted, result[name])]
        for vector, result in zip(vectors, scores.score(vectors), strict=True)
    }
    assert len(vectors) == 1223
    assert {name: fields for name, fields in wrong.items() if fields} == {}


def test_the_steps_of_a_score_end_at_its_total():
    vector = next(vector for vector in load("balatro_scores") if vector["id"] == "S0494")
    steps, result = scores.steps(vector), scores.score([vector])[0]
    assert (steps[-1]["chips"], steps[-1]["mult"]) == (result["chips"], result["mult"])
    assert len({(step["chips"], step["mult"]) for step in steps}) > 10
