"""Situations written as short texts score like those in the format of the calculator."""

import json
import lzma
import pathlib

import pytest

from ludus.games.balatro.tools import scores, situations
from ludus.types import LudusError

DATA = pathlib.Path(__file__).parents[2] / "data" / "balatro_scores.json.xz"
SIMPLE = {"tarots_used": 0, "skips": 0}


def text_of(card):
    marks = [
        card.get("enh"),
        card.get("edition"),
        f"{card['seal']}-seal" if card.get("seal") else None,
        "debuffed" if card.get("debuffed") else None,
    ]
    return " ".join([card["rank"] + card["suit"], *filter(None, marks)])


def joker_of(joker):
    marks = [joker.get("edition"), "debuffed" if joker.get("debuffed") else None]
    text = " ".join([joker["key"], *filter(None, marks)])
    return {"joker": text, "sell": joker["sell"], "state": joker.get("state")}


def is_simple(vector):
    """Whether the vector has only what can be written in short."""
    cards = [*vector["play"], *vector["held"]]
    return (
        not vector["outcomes"] and not vector["observatory"] and set(vector["blind"]) == {"key"}
        and {key: value for key, value in vector["round"].items() if key != "first_hand"} == SIMPLE
        and not any(card.get("extra_chips") for card in cards)
        and not any(given.get("played_round") for given in vector["levels"].values())
    )  # fmt: skip


def test_texts_score_like_the_vectors():
    vectors = [vector for vector in json.loads(lzma.decompress(DATA.read_bytes()))["vectors"] if is_simple(vector)]
    assert len(vectors) > 50
    written = [
        situations.situation(
            [text_of(card) for card in vector["play"]], [text_of(card) for card in vector["held"]],
            [joker_of(joker) for joker in vector["jokers"]],
            {name: given.get("level", 1) for name, given in vector["levels"].items()},
            {name: given.get("played", 0) for name, given in vector["levels"].items()}, vector["blind"]["key"],
            vector["deck_type"], vector["money"], vector["hands_left"], vector["discards_left"],
            vector["round"]["first_hand"],
        )
        for vector in vectors
    ]  # fmt: skip
    for situation, vector in zip(written, vectors, strict=True):
        situation |= {"joker_slots": vector["joker_slots"], "deck": vector["deck"]}
    found = scores.score(written)
    assert [one["score"] for one in found] == [vector["expected"]["score"] for vector in vectors]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"play": ["1H"]}, '"1H" is not a card'),
        ({"play": [""]}, "is not a card"),
        ({"play": ["KH golden"]}, '"golden" of "KH golden" is no mark'),
        ({"play": ["KH"], "owned": [{"joker": "j_jokr"}]}, 'did you mean "j_joker"'),
        ({"play": ["KH"], "owned": [{"joker": "j_joker shiny"}]}, '"shiny" is no mark of a joker'),
        ({"play": ["KH"], "levels": {"Pear": 2}}, 'did you mean "Pair"'),
        ({"play": ["KH"], "blind": "bl_x"}, "is not a blind"),
        ({"play": ["KH"], "rolls": {"dice": 1}}, "is not a roll"),
    ],
)
def test_mistakes_are_sentences(given, sentence):
    with pytest.raises(LudusError, match=sentence.replace("(", r"\(")):
        situations.situation(**given)
