"""Observations and histories of /v0: rows of cards and options, in the encoding of both kinds of models."""

import asyncio
import itertools
import json

import numpy as np
import pytest
from conftest import FOREIGN_CODE
from hypothesis import given
from hypothesis import strategies as st

from ludus.bridges.ygopro import sums as core_sums
from ludus.bridges.ygopro.messages import Question
from ludus.games.duel import action_features as act
from ludus.games.duel.tables import ROW_OF
from ludus.server.batching import Decided
from ludus.server.reference import encodings
from ludus.server.reference.duels import ENCODER, Duel, answered, from_bytes
from ludus.server.reference.encode import board_of
from ludus.server.reference.examples import (
    BLUE_EYES,
    CARDS,
    DARK_MAGICIAN,
    MESSAGES,
    MIRROR_FORCE,
    RAIGEKI,
    at,
    card,
    command,
    picks,
    request,
    sums,
)
from ludus.server.reference.options import entries_of
from ludus.server.reference.problems import RefusedError
from ludus.server.reference.requests import read
from ludus.server.reference.sums import Sum, may_finish, may_pick
from ludus.types import LudusError

OWN = encodings.own()
REFERENCE = encodings.reference([FOREIGN_CODE, *sorted(code for code in ROW_OF if code)])


def parsed(message, **more):
    return read(json.dumps(request(message, **more)).encode())


def rows_of(message, encoding, **more):
    """The rows of the options, without those that are not legal."""
    asked = parsed(message, **more).input
    board = board_of(asked.cards, encoding)
    rows = [entry.row for entry in entries_of(asked.action_msg.data, board, encoding)]
    return np.array([np.frombuffer(row, np.uint8) for row in rows if row])


def cards_of(cards, encoding):
    return board_of(parsed("select_yesno", cards=cards).input.cards, encoding)


class Model:
    """Remembers what it saw, and chooses the first option."""

    def __init__(self, action=0):
        self.seen, self.action, self.memory = [], action, b""

    async def decide(self, memory, seen, mask, first):
        self.seen.append((dict(seen), mask.copy(), memory, first))
        chosen = min(self.action, int(mask.sum()) - 1)
        probabilities = np.where(mask, 0.01, 0.0)
        probabilities[chosen] = 0.9
        return Decided(chosen, "", probabilities.tolist(), 0.5, False, memory + b"x" if memory else b"")


class Steps:
    """A duel without a server."""

    def __init__(self, encoding, model, memory=b""):
        self.duel, self.encoding, self.model = Duel("model", "1", memory, 0), encoding, model

    def ask(self, message, previous=0, **more):
        asked = parsed(message, index=self.duel.index, previous=previous, **more)
        after, answer = asyncio.run(answered(self.duel, asked, self.encoding, self.model.decide))
        self.duel = from_bytes(after.to_bytes())
        assert self.duel == after, "a duel survives as bytes"
        return answer


def test_rows_of_cards_are_in_the_order_of_training():
    shuffled = [CARDS[place] for place in (9, 7, 3, 5, 0, 8, 2, 6, 4, 1)]
    rows = cards_of(shuffled, OWN).rows
    assert np.array_equal(rows, cards_of(CARDS, OWN).rows)
    assert rows[:10, 2].tolist() == [1, 2, 2, 3, 3, 4, 2, 3, 3, 5]
    assert rows[:10, 4].tolist() == [0] * 6 + [1] * 4
    assert not rows[10:].any()


def test_columns_of_a_card():
    row = cards_of(CARDS, OWN).rows[3]
    number = ROW_OF[BLUE_EYES]
    assert row[:16].tolist() == [number >> 8, number & 255, 3, 3, 0, 1, 0, 6, 2, 8, 0, 0, 11, 184, 9, 196]
    assert row[16:].tolist() == [1, 0, 0, 1] + [0] * 21


def test_hidden_cards_show_only_where_they_are():
    hidden = [card(0, "hand", 3, "opponent"), card(0, "mzone", 2, "opponent", "facedown_defense", attack=2000),
              card(0, "removed", 1, "opponent", "facedown")]  # fmt: skip
    for encoding in (OWN, REFERENCE):
        rows = cards_of(hidden, encoding).rows
        assert rows[:3, :6].tolist() == [[0, 0, 2, 0, 1, 0], [0, 0, 3, 3, 1, 6], [0, 0, 6, 0, 1, 7]]
        assert not rows[:, 6:].any()


def test_overlays_lie_face_up_below_their_monster():
    rows = cards_of([card(BLUE_EYES, "mzone", 2, overlay=1), card(RAIGEKI, "mzone", 2, overlay=0), *CARDS], OWN).rows
    ids = [int(rows[place, 0]) * 256 + int(rows[place, 1]) for place in (3, 4, 5)]
    assert ids == [ROW_OF[BLUE_EYES], ROW_OF[RAIGEKI], ROW_OF[BLUE_EYES]]
    assert rows[3:6, 2:7].tolist() == [[3, 3, 0, 1, 0], [3, 3, 0, 5, 1], [3, 3, 0, 5, 1]]
    options = rows_of(picks("select_card", 1, 1) | {"cards": [{"location": at("mzone", 2, overlay=1), "response": 0}]},
                      OWN, cards=[card(BLUE_EYES, "mzone", 2, overlay=1), *CARDS])  # fmt: skip
    assert options[0, act.SPEC] == 5


def test_numbers_wrap_around_only_in_the_reference():
    cards = [card(BLUE_EYES, "mzone", 0, attack=-2, defense=70_000), card(BLUE_EYES, "mzone", 1)]
    assert cards_of(cards, OWN).rows[0, 12:16].tolist() == [0, 0, 255, 255]
    assert cards_of(cards, REFERENCE).rows[0, 12:16].tolist() == [255, 254, 17, 112]


def test_global_numbers():
    model = Model()
    for encoding, counted in ((OWN, 2), (REFERENCE, 3)):
        cards = [*CARDS, card(RAIGEKI, "mzone", 2, overlay=0)]
        Steps(encoding, model).ask("select_idlecmd", cards=cards, my_lp=4000, turn=30, phase="damage", is_first=False)
        expected = [15, 160, 1, 44, 16, 5, 0, 1, 1, 2, counted, 1, 0, 0, 0, 0, 1, 2, 0, 1, 0, 0, 0]
        assert model.seen[-1][0]["global_"].tolist() == expected


def test_options_of_the_main_phase():
    rows = rows_of("select_idlecmd", OWN)
    magician, raigeki = ROW_OF[DARK_MAGICIAN], ROW_OF[RAIGEKI]
    assert rows[:, act.MESSAGE].tolist() == [1] * 8
    assert rows[:, act.ACT].tolist() == [4, 3, 2, 5, 1, 8, 0, 0]
    assert rows[:, act.SPEC].tolist() == [2, 2, 4, 2, 3, 3, 0, 0]
    assert rows[:, act.PHASE].tolist() == [0] * 6 + [1, 3]
    assert (rows[0, 1:3].tolist(), rows[5, 1:3].tolist()) == ([magician >> 8, magician & 255], [raigeki >> 8, raigeki])
    assert rows[5, act.EFFECT] == 4, "the third text of the card"


def test_texts_have_other_numbers_in_the_reference():
    message = {"msg_type": "select_yesno", "effect_description": 221}
    assert rows_of(message, OWN)[0, act.EFFECT] == act.SYSTEM_IDS[221]
    assert rows_of(message, REFERENCE)[0, act.EFFECT] == 16 + 73
    message["effect_description"] = 1050
    assert rows_of(message, OWN)[0, act.EFFECT] == act.OTHER_TEXT
    assert rows_of(message, REFERENCE)[0, act.EFFECT] == 16
    message["effect_description"] = RAIGEKI << 4 | 15
    assert rows_of(message, OWN)[0, act.EFFECT] == 15
    with pytest.raises(RefusedError, match="Invalid effect index: 15"):
        rows_of(message, REFERENCE)


def test_effects_are_named_by_their_text_in_the_reference():
    chain = {"code": MIRROR_FORCE, "location": at("szone", 1), "effect_description": RAIGEKI << 4, "response": 0}
    message = {"msg_type": "select_chain", "forced": True, "chains": [chain]}
    for encoding, named in ((OWN, MIRROR_FORCE), (REFERENCE, RAIGEKI)):
        assert rows_of(message, encoding)[0, act.ID_LOW] == ROW_OF[named] & 255


def test_remaining_differences_of_options():
    position, option = (rows_of(name, REFERENCE)[0] for name in ("select_position", "select_option"))
    assert (position[act.ID_LOW], option[act.ACT]) == (0, act.ACTIVATE)
    position, option = (rows_of(name, OWN)[0] for name in ("select_position", "select_option"))
    assert (position[act.ID_LOW], option[act.ACT]) == (ROW_OF[DARK_MAGICIAN] & 255, 0)


def test_places_numbers_and_attributes():
    assert rows_of("select_place", OWN)[:, act.PLACE_ID].tolist() == [1, 27]
    assert rows_of("select_disfield", OWN)[:, act.MESSAGE].tolist() == [13, 13]
    assert rows_of("announce_number", OWN)[:, act.NUMBER].tolist() == [1, 12]
    assert rows_of("announce_attrib", OWN)[:, act.ATTRIBUTE].tolist() == [1, 7]
    assert rows_of("select_sum", REFERENCE)[:, act.MESSAGE].tolist() == [12, 12, 12]


def test_cards_at_the_same_place_are_not_mixed_up():
    cards = [card(RAIGEKI, "deck", 0), card(BLUE_EYES, "deck", 0), *CARDS[1:]]
    message = picks("select_card", 1, 1) | {"cards": [{"location": at("deck", 0), "response": 0}]}
    assert rows_of(message, OWN, cards=cards)[0, :3].tolist() == [0, 0, 0]


@pytest.mark.parametrize("encoding", [OWN, REFERENCE])
def test_history_has_the_actions_that_training_records(encoding):
    model = Model()
    steps = Steps(encoding, model)
    steps.ask("select_idlecmd", turn=3)
    steps.ask("select_yesno", previous=5, turn=3)  # the effect was activated
    steps.ask("select_chain", previous=1, turn=4)  # no
    steps.ask("select_sum", previous=2, turn=4)  # not chained
    steps.ask("select_place", previous=0, turn=5, phase="end")  # the first card of the sum
    steps.ask("select_idlecmd", previous=1, turn=30)
    past = model.seen[-1][0]["h_actions_"]
    assert past[:4, act.MESSAGE].tolist() == [11, 12, 1, 0]
    assert past[:3, act.ACT].tolist() == [0, 0, act.ACTIVATE]
    assert past[:3, 12:].tolist() == [[16, 9], [16, 2], [16, 2]]
    assert not past[:, act.SPEC].any() and not past[3:].any()


def test_history_keeps_the_last_32_actions():
    model = Model()
    steps = Steps(OWN, model)
    for _ in range(40):
        steps.ask("select_position")
    past = model.seen[-1][0]["h_actions_"]
    assert past[:, act.MESSAGE].tolist() == [5] * 32 and len(steps.duel.history) == 32


def test_more_than_24_options_take_pages():
    many = {"msg_type": "select_idlecmd", "idle_cmds": [
        command("summon", DARK_MAGICIAN, "hand", 0, number) for number in range(30)]}  # fmt: skip
    first_page, second_page, reference = Model(3), Model(23), Model(3)
    answer = Steps(OWN, first_page).ask(many).predict_results
    assert [one.prob >= 0 for one in answer.action_preds] == [True] * 23 + [False] * 7
    steps = Steps(OWN, second_page)
    answer = steps.ask(many).predict_results
    assert [one.prob >= 0 for one in answer.action_preds] == [False] * 23 + [True] * 7
    assert [int(seen[1].sum()) for seen in second_page.seen] == [24, 8]
    assert second_page.seen[0][0]["actions_"][23].tolist() == [0, 0, 0, 1] + [0] * 8
    steps.ask("select_yesno", previous=29)
    answer = Steps(REFERENCE, reference).ask(many).predict_results
    assert [one.prob >= 0 for one in answer.action_preds] == [True] * 24 + [False] * 6


def test_memory_includes_single_options_only_if_training_did():
    only = MESSAGES["select_position"] | {"positions": ["faceup_defense"]}
    for encoding, remembered in ((OWN, b"mxx"), (REFERENCE, b"mx")):
        steps = Steps(encoding, Model(), b"m")
        steps.ask(only)
        steps.ask("select_yesno")
        assert steps.duel.memory == remembered
        assert next(first for *_, first in steps.model.seen), "the first decision starts with an empty memory"


def test_refused_requests_leave_the_duel_as_it_was():
    steps = Steps(OWN, Model())
    steps.ask("select_idlecmd")
    before = steps.duel.to_bytes()
    with pytest.raises(RefusedError):
        steps.ask(picks("select_card", 0, 1))
    assert steps.duel.to_bytes() == before and ENCODER.encode(steps.duel) == before


@given(st.data())
def test_sums_agree_with_those_of_the_core(data):
    levels = data.draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=6))
    must = data.draw(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4)), max_size=2))
    goal, fewest, most = data.draw(st.tuples(st.integers(1, 14), st.integers(0, 3), st.integers(1, 6)))
    message = parsed(sums(levels, goal, must, fewest=fewest, most=most)).input.action_msg.data
    task = Sum.of(levels, must, message)
    facts = {"mode": 0, "sum": goal, "min": fewest, "max": most, "must": [[0] * 4 + list(pair) for pair in must]}
    question = Question(0, "sum", [[0] * 4 + list(pair) for pair in levels], facts)
    for picked in itertools.combinations(range(len(levels)), data.draw(st.integers(0, 2))):
        assert may_finish(task, picked) == core_sums.may_finish(question, picked)
        assert may_pick(task, picked) == set(core_sums.may_pick(question, picked))


def test_code_lists_have_one_or_two_columns(tmp_path):
    path = tmp_path / "codes.txt"
    path.write_text(f"{BLUE_EYES}\n\n{RAIGEKI} 1\n")
    assert encodings.read_code_list(path) == [BLUE_EYES, RAIGEKI]
    for text, message in (("", "is empty"), ("12\nx 1\n", 'line 2 of .* begins with "x"')):
        path.write_text(text)
        with pytest.raises(LudusError, match=message):
            encodings.read_code_list(path)
    with pytest.raises(LudusError, match="cannot be read"):
        encodings.read_code_list(tmp_path / "none")


def test_cards_of_a_code_list_follow_those_of_duel():
    numbered = encodings.own([777, 5, BLUE_EYES])
    assert numbered.cards[BLUE_EYES] == ROW_OF[BLUE_EYES]
    assert (numbered.cards[5], numbered.cards[777]) == (len(ROW_OF), len(ROW_OF) + 1)
    with pytest.raises(LudusError, match="can be numbered"):
        encodings.own(range(10**6, 10**6 + 70_000))
