"""Duels of /v0 over HTTP: all message types, selections of several cards, indices, retries and errors."""

import json

import pytest
from conftest import FOREIGN_CODE, IMPORTED, OWN

from ludus.server.reference.examples import BLUE_EYES, CARDS, MESSAGES, PICKS, best, card, picks, request, sums
from ludus.server.reference.service import TEST_DUEL

RESPONSES = {
    "select_idlecmd": [0, 1, 2, 3, 4, 5, 6, 7], "select_battlecmd": [65537, 65538, 0, 2, 3],
    "select_chain": [0, 1, -1], "select_card": [10, 11, 12, -1], "select_tribute": [10, 11, 12, -1],
    "select_sum": [20, 21, 22], "select_unselect_card": [11, 12, -1], "select_position": [1, 2, 4, 8],
    "select_effectyn": [1, 0], "select_yesno": [1, 0], "select_option": [7, 8], "select_place": [0, 1],
    "select_disfield": [-1, -1], "announce_attrib": [1, 64], "announce_number": [0, 1],
}  # fmt: skip


def probabilities(answer):
    return [one["prob"] for one in answer["action_preds"]]


@pytest.mark.parametrize("message", MESSAGES)
def test_all_message_types(player, message):
    answer = player.ask(message)
    assert [one["response"] for one in answer["action_preds"]] == RESPONSES[message]
    assert sum(prob for prob in probabilities(answer) if prob != -1) == pytest.approx(1.0, abs=1e-5)
    assert 0 <= answer["win_rate"] <= 1 or message not in ("select_idlecmd",)
    player.ask("select_idlecmd")


def test_exact_form_of_answers(served):
    created = served.send("POST", "/v0/duels")
    assert created.status_code == 200
    assert list(created.json()) == ["duelId", "index"] and created.json()["index"] == 0
    duel = created.json()["duelId"]
    answer = served.send("POST", f"/v0/duels/{duel}/predict", json=request("select_yesno"))
    assert answer.headers["content-type"] == "application/json"
    assert list(answer.json()) == ["predict_results", "index"]
    assert list(answer.json()["predict_results"]) == ["action_preds", "win_rate"]
    assert list(answer.json()["predict_results"]["action_preds"][0]) == ["prob", "response", "can_finish"]
    deleted = served.send("DELETE", f"/v0/duels/{duel}")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert deleted.headers["content-type"] == "application/json"
    assert served.send("DELETE", f"/v0/duels/{duel}").status_code == 204
    assert served.ask(duel, request("select_yesno", 1)) == {"error": f"duel {duel} not found"}


def test_single_action_is_not_judged(player):
    only = MESSAGES["select_position"] | {"positions": ["faceup_defense"]}
    predict = {"prob": 1.0, "response": 4, "can_finish": False}
    assert player.ask(only) == {"action_preds": [predict], "win_rate": -1.0}
    assert player.ask("select_idlecmd")["win_rate"] != -1.0


def test_several_cards_are_selected_one_by_one(player):
    assert probabilities(player.ask("select_card"))[3] == -1.0
    first = player.previous
    second = player.ask(picks("select_card", 1, 3, [first]))
    assert len(second["action_preds"]) == 4, "no entry may be missing"
    assert [entry for entry, prob in enumerate(probabilities(second)) if prob == -1.0] == [first]
    assert second["action_preds"][3]["response"] == -1 and second["action_preds"][3]["prob"] >= 0
    third = player.ask(picks("select_card", 1, 3, [0, 1]))
    assert probabilities(third)[:2] == [-1.0, -1.0] and min(probabilities(third)[2:]) >= 0


def test_last_tribute_keeps_the_indices_of_cards(player):
    player.ask("select_tribute")
    cards = PICKS[:2]
    message = picks("select_tribute", 2, 2, [0], level=1)
    message["cards"] = [one | {"level": 1} for one in cards]
    answer = player.ask(message)
    assert probabilities(answer) == [-1.0, 1.0, -1.0] and best({"predict_results": answer}) == 1


def test_sums_have_one_entry_for_each_card(player):
    answer = player.ask(sums([(4, 0), (3, 0), (1, 0), (9, 0)], 4))
    assert [one["can_finish"] for one in answer["action_preds"]] == [True, False, False, False]
    assert [prob == -1.0 for prob in probabilities(answer)] == [False, False, False, True]
    answer = player.ask(sums([(4, 0), (3, 0), (1, 0), (9, 0)], 4, selected=[1]))
    assert probabilities(answer) == [-1.0, -1.0, 1.0, -1.0] and answer["action_preds"][2]["can_finish"]


def test_two_levels_and_mandatory_cards(player):
    answer = player.ask(sums([(1, 5), (2, 0), (3, 0)], 8, must=[(3, 0)]))
    assert [prob >= 0 for prob in probabilities(answer)] == [True, True, True]
    assert [one["can_finish"] for one in answer["action_preds"]] == [True, False, False]


def test_cancel_of_an_unselect_question_without_cards(player):
    empty = MESSAGES["select_unselect_card"] | {"finishable": False, "cancelable": True, "selectable_cards": []}
    assert player.ask(empty)["action_preds"] == [{"prob": 1.0, "response": -1, "can_finish": False}]


@pytest.mark.parametrize(("message", "error"), [
    (sums([(4, 0)], 4, overflow=True), "overflow is not supported for select_sum."),
    (sums([(4, 0)], 4, must=[(1, 0)] * 3), "must select more than 2 cards is not supported for select_sum."),
    (sums([(4, 0)], 4, selected=[0]), "empty select in select_sum."),
    (picks("select_card", 0, 1), "min=0 is not supported."),
    (picks("select_tribute", 0, 1, level=1), "min=0 is not supported for select_tribute."),
    (picks("select_tribute", 1, 2, level=1), "min != max is not supported for select_tribute."),
    (picks("select_tribute", 1, 1, level=2), "Only level=1 cards are supported for select_tribute."),
    (MESSAGES["announce_attrib"] | {"count": 2}, "Multiple attributes are not supported."),
    (MESSAGES["announce_number"] | {"count": 2}, "Multiple numbers are not supported."),
    (MESSAGES["announce_number"] | {"numbers": [{"number": 13, "response": 0}]},
     "Number out of range, only 1-12 are supported."),
    ({"msg_type": "select_yesno", "effect_description": 9999}, "9999"),
    ({"msg_type": "select_yesno", "effect_description": 0}, "Unknown desc 0 in select_yesno"),
    (MESSAGES["select_option"] | {"options": [{"code": 0, "response": 1}]}, "Unknown desc 0 in select_option"),
    (MESSAGES["select_option"] | {"options": []}, "no legal actions in select_option"),
    (MESSAGES["select_position"] | {"positions": ["attack"]}, "Invalid position: attack"),
    ({"msg_type": "select_idlecmd", "idle_cmds": [{"cmd_type": "activate"}]}, "the command activate needs data"),
    (MESSAGES["select_place"] | {"places": [{"controller": "me", "location": "mzone", "sequence": 7}]},
     "Invalid place: mzone has no zone 7"),
    (picks("select_card", 1, 2, [3]), "selected contains 3, but the message has 3 cards"),
    (picks("select_card", 1, 2, [0, 0]), "selected contains a card twice"),
    (sums([(4, 0)], 9), "no legal actions in select_sum"),
    (sums([(4, 0)], 10**9), "select_sum is supported for at most 60 cards and sums of 0 to 100."),
])  # fmt: skip
def test_errors_have_status_200_and_change_nothing(player, message, error):
    player.ask("select_idlecmd")
    again = player.request("select_yesno")
    assert player.refused(message) == error
    assert player.served.ask(player.duel, again)["index"] == 2


def test_unknown_cards_are_named(player):
    unknown = [*CARDS, card(777, "hand", 5)]
    assert player.refused("select_yesno", cards=unknown) == "Invalid code: 777"
    assert player.refused({"msg_type": "select_yesno", "effect_description": 777 << 4}) == "Invalid code: 777"
    assert player.ask("select_yesno")


def test_models_know_their_own_cards(play):
    foreign = [*CARDS, card(FOREIGN_CODE, "hand", 5)]
    assert play(OWN).refused("select_yesno", cards=foreign) == f"Invalid code: {FOREIGN_CODE}"
    assert play(IMPORTED).ask("select_yesno", cards=foreign)


def test_repeated_request_has_the_same_answer(player):
    player.ask("select_idlecmd")
    body = player.request("select_battlecmd")
    first = player.served.ask(player.duel, body)
    assert player.served.ask(player.duel, body) == first
    other = request("select_yesno", 1, body["prev_action_idx"])
    assert player.served.ask(player.duel, other) == {"error": "index mismatch: expected 2, got 1"}
    assert player.served.ask(player.duel, request("select_yesno", 7)) == {"error": "index mismatch: expected 2, got 7"}
    assert player.served.ask(player.duel, request("select_yesno", 2, best(first)))["index"] == 3


@pytest.mark.parametrize(("chosen", "error"), [
    (9, "prev_action_idx 9 is out of range: the last answer has 4 actions"),
    (-1, "prev_action_idx -1 is out of range: the last answer has 4 actions"),
    (3, "prev_action_idx 3 could not be chosen: its prob is -1"),
])  # fmt: skip
def test_impossible_previous_action(player, chosen, error):
    player.ask("select_card")
    body = player.request("select_yesno")
    assert player.served.ask(player.duel, body | {"prev_action_idx": chosen}) == {"error": error}
    assert player.served.ask(player.duel, body)["index"] == 2


def test_first_previous_action_is_ignored(player):
    player.previous = 99
    player.ask("select_yesno")


@pytest.mark.parametrize(("change", "kind", "place"), [
    (lambda body: body.pop("index"), "missing", ["body", "index"]),
    (lambda body: body["input"]["cards"].clear(), "too_short", ["body", "input", "cards"]),
    (lambda body: body["input"]["cards"].extend(CARDS * 16), "too_long", ["body", "input", "cards"]),
    (lambda body: body["input"]["global"].update(phase="lunch"), "enum", ["body", "input", "global", "phase"]),
    (lambda body: body["input"]["global"].update(turn="x"), "int_type", ["body", "input", "global", "turn"]),
    (lambda body: body["input"]["action_msg"]["data"].update(msg_type="sort_card"), "union_tag_invalid",
     ["body", "input", "action_msg", "data", "msg_type"]),
    (lambda body: body["input"]["action_msg"]["data"].pop("options"), "missing",
     ["body", "input", "action_msg", "data", "select_option", "options"]),
])  # fmt: skip
def test_invalid_bodies_are_422(served, change, kind, place):
    body = json.loads(json.dumps(request("select_option")))
    change(body)
    answer = served.send("POST", "/v0/duels/unknown/predict", json=body)
    assert answer.status_code == 422, "the body is checked before the duel"
    assert list(answer.json()) == ["detail"]
    (detail,) = answer.json()["detail"]
    assert (detail["type"], detail["loc"]) == (kind, place) and detail["msg"] and "input" in detail


@pytest.mark.parametrize(("body", "kind"), [
    (b"", "missing"), (b"{", "json_invalid"), (b"\xff\xfe", "json_invalid"), (b"[]", "model_attributes_type"),
    (b'{"index": NaN}', "json_invalid"), (b"[" * 100_000, "model_attributes_type"),
    (b'{"index": "x", "input": {', "int_type"), (b'{"index": "x", "input": "\xbb"}', "int_type"),
])  # fmt: skip
def test_bodies_that_are_no_requests(served, body, kind):
    answer = served.send("POST", "/v0/duels/unknown/predict", content=body)
    assert (answer.status_code, answer.json()["detail"][0]["type"]) == (422, kind)


def test_numbers_are_read_as_pydantic_reads_them(player):
    body = player.request("select_yesno")
    body["input"]["global"] |= {"turn": "3", "my_lp": 8000.0, "is_first": 1}
    assert player.served.ask(player.duel, body)["index"] == 1


def test_duel_that_always_exists(served):
    assert served.ask(TEST_DUEL, request("select_yesno"))["index"] == 1
    assert served.ask(TEST_DUEL, request("select_yesno", 1))["index"] == 2
    assert served.send("DELETE", f"/v0/duels/{TEST_DUEL}").status_code == 204
    assert served.ask(TEST_DUEL, request("select_yesno"))["index"] == 1


def test_extreme_numbers_do_no_harm(player):
    huge = 2**63 - 1
    extreme = card(BLUE_EYES, "grave", huge, attack=-huge, defense=huge, level=huge, counter=-huge, overlay=-huge)
    for sign in (1, -1):
        player.ask("select_idlecmd", cards=[*CARDS, extreme], my_lp=sign * huge, turn=-sign * huge)
