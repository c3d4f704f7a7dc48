"""All questions of the core: the script of a test monster makes the core send each of them."""

import random
import shutil

import pytest
from real_cores import HERE, library_of, open_node_core, plain_deck

from ludus.bridges.ygopro import messages
from ludus.bridges.ygopro.choices import MAX_OPTIONS, Choice
from ludus.bridges.ygopro.core import Cards, Setup
from ludus.bridges.ygopro.real_duel import RealDuel

QUESTIONER = 10000001
ROW = (QUESTIONER, 3, 0, 0, 0x21, 100, 100, 1, 1, 1, 0, "Questioner")
EXPECTED = {
    "idlecmd", "battlecmd", "chain", "card", "tribute", "sum", "unselect_card", "place", "disfield", "position",
    "effectyn", "yesno", "option", "announce_race", "announce_attrib", "announce_number", "announce_card", "counter",
    "hand_sign",
}  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questioner")
    (folder / "script").mkdir()
    shutil.copy(HERE / "every_question.lua", folder / "script" / f"c{QUESTIONER}.lua")
    return library_of(folder, folder / "script", [ROW])


@pytest.fixture(scope="module")
def core(library):
    core = open_node_core(library)
    yield core
    core.close()


def questioner_setup():
    deck = [QUESTIONER if place % 4 == 0 else code for place, code in enumerate(plain_deck())]
    return Setup((Cards(tuple(deck)), Cards(tuple(deck))), (1, 2, 3, 4))


def random_answer(question, rng):
    """A random answer, one option at a time; effects are used whenever possible."""
    choice = Choice(question)
    while choice.answer is None:
        shown = choice.shown
        assert 0 < len(shown) <= MAX_OPTIONS
        acts = []
        if question.message == "idlecmd":
            acts = [place for place, index in enumerate(shown) if index >= 0 and question.options[index][0] == "act"]
        choice = choice.take(acts[0] if acts and rng.random() < 0.7 else rng.randrange(len(shown)))
    return choice.answer


def test_every_question_is_read_and_answered(core):
    rng, met, chance, shown, seen = random.Random(5), {}, set(), 0, {"counters": 0, "overlays": 0, "must": 0}
    duel = RealDuel(core, questioner_setup())
    for _ in range(1500):
        question = duel.question()
        if question is None:
            duel.close()
            duel = RealDuel(core, questioner_setup())
            continue
        met[question.message] = question
        chance |= {result[0] for result in duel.random}
        shown += len(duel.shown)
        seen["must"] += bool(question.facts.get("must"))
        for monster in (monster for side in duel.state()["m"] for monster in side if monster):
            seen["counters"] += monster[5] in ([[1, 1]], [[1, 2]])
            seen["overlays"] += len(monster[6])
        duel.answer(random_answer(question, rng))
    duel.close()
    assert set(met) == EXPECTED
    assert chance == {"hand", "coin", "dice", "random"}
    assert shown and all(seen.values()), (shown, seen)
    assert core.log == []


def test_options_match_the_arguments_in_the_script(core):
    rng, found = random.Random(8), {}
    duel = RealDuel(core, questioner_setup())
    while len(found) < 6 and (question := duel.question()):
        if question.message in (
            "option",
            "announce_race",
            "announce_attrib",
            "announce_number",
            "effectyn",
            "position",
        ):
            found[question.message] = question
        duel.answer(random_answer(question, rng))
    duel.close()
    assert found["option"].options == [[0, 60], [0, 61], [QUESTIONER, 5]]
    assert found["announce_race"].options == [1, 2, 4, 0x2000] and found["announce_race"].facts["count"] == 2
    assert found["announce_attrib"].options == [1, 2, 16, 32]
    assert found["announce_number"].options == [1, 4, 7]
    assert found["effectyn"].facts["desc"] == [QUESTIONER, 3] and found["effectyn"].facts["card"][3] == QUESTIONER
    assert found["position"].options == [1, 4, 8]


def test_all_received_message_types_are_known(core, monkeypatch):
    received = set()
    read_event = RealDuel._read_event

    def recording(duel, message):
        received.add(message[0])
        read_event(duel, message)

    monkeypatch.setattr(RealDuel, "_read_event", recording)
    rng = random.Random(2)
    duel = RealDuel(core, questioner_setup())
    for _ in range(300):
        if (question := duel.question()) is None:
            break
        duel.answer(random_answer(question, rng))
    duel.close()
    assert received <= messages.MESSAGE_TYPES and len(received) > 25


def test_the_same_seed_gives_the_same_duel(core):
    def play():
        rng, states = random.Random(3), []
        duel = RealDuel(core, questioner_setup())
        for _ in range(120):
            question = duel.question()
            if question is None:
                break
            states.append((question, duel.state()))
            duel.answer(random_answer(question, rng))
        duel.close()
        return states

    assert play() == play()
