"""The duel as a picture and as text: every move has a click area and a name, and hidden cards stay hidden."""

import numpy as np
import pytest

from ludus.dsl import PLAYING, draw
from ludus.evaluation import replays, terminal
from ludus.evaluation.conformance.picture_checks import extents
from ludus.games import duel
from ludus.games.duel.state import MOST_CARDS
from ludus.games.duel.tables import ROWS
from ludus.games.duel.tables import words as w
from ludus.pool import Pool

DECKS = ("duel", "duel(deck1=goat_chaos, deck2=pegasus)", "duel(deck1=extra, deck2=extra)")
FRAME = duel.SPEC.frame
STEPS, EVERY = 300, 3


def positions(name, seed=7):
    """Every third position of random duels."""
    pool = Pool(name, 1, [seed], threads=1)
    for step in range(STEPS):
        if step % EVERY == 0:
            yield pool
        pool.advance(pool.random_actions(1000 * seed + step))


def areas(shapes):
    found = shapes[shapes["kind"] == draw.AREA]
    places = {int(a["color"]): tuple(float(a[name]) for name in "xywh") for a in found}
    assert len(places) == len(found), "an action has two areas"
    return places


def apart(a, b):
    return a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]


@pytest.mark.parametrize("name", DECKS)
def test_every_move_has_an_area_of_its_own_inside_the_frame(name):
    for pool in positions(name):
        asked = int(pool.states["asked"][0])
        shapes = pool.scene(seat=asked)
        assert len(shapes) < draw.CAPACITY
        left, top, right, bottom = extents(shapes)
        assert left.min() >= 0 and top.min() >= 0 and right.max() <= FRAME[0] and bottom.max() <= FRAME[1]
        if pool.status[0] != PLAYING:
            continue
        places = areas(shapes)
        assert set(places) == set(np.flatnonzero(pool.step.mask[0]).tolist())
        boxes = list(places.values())
        assert all(apart(a, b) for k, a in enumerate(boxes) for b in boxes[:k])
        assert not areas(pool.scene(seat=1 - asked)), "the seat that does not decide has click areas"


@pytest.mark.parametrize("name", DECKS)
def test_all_moves_have_different_names(name):
    for pool in positions(name):
        if pool.status[0] == PLAYING:
            names = [pool.action_name(int(action)) for action in np.flatnonzero(pool.step.mask[0])]
            assert len(set(names)) == len(names) and all(names)
            assert all(f"{number} {name}" in pool.describe() for number, name in enumerate(names, start=1))


def exchange_hidden(state, seat):
    """Exchange cards that a seat does not know for others of the same kind; returns how many were exchanged."""
    changed = 0
    for c in range(1, MOST_CARDS):
        card = state["cards"][c]
        on_field = int(card["place"]) & w.ON_FIELD
        hidden = card["place"] in (w.HAND, w.EXTRA) or (on_field and card["position"] & w.DOWN)
        if card["controller"] != seat and hidden:
            kind = ROWS[card["code"]].types & (w.MONSTER | w.SPELL | w.TRAP)
            others = [row for row, one in enumerate(ROWS) if one.types & kind and row != card["code"]]
            card["code"] = others[c % len(others)]
            changed += 1
    return changed


@pytest.mark.parametrize("name", DECKS)
def test_hidden_cards_are_in_neither_picture_nor_text(name):
    changed = 0
    for pool in positions(name, seed=11):
        for seat in range(2):
            before = pool.scene(seat=seat).tobytes(), pool.describe(seat=seat)
            kept = pool.save()
            changed += exchange_hidden(pool.states[0], seat)
            assert (pool.scene(seat=seat).tobytes(), pool.describe(seat=seat)) == before
            pool.restore(kept)
    assert changed > 100


def test_set_cards_of_the_opponent_have_no_name():
    shown = set()
    for pool in positions("duel"):
        if pool.status[0] != PLAYING:
            continue
        for action in np.flatnonzero(pool.step.mask[0]):
            own, other = (pool.action_name(int(action), seat=int(pool.states["asked"][0]) ^ side) for side in (0, 1))
            if own.startswith("set "):
                assert own.removeprefix("set ").partition(" (")[0] in {card.name for card in ROWS}
                shown.add(other.partition(" (")[0])
    assert shown == {"set a monster", "set a card"}


def test_the_opening_as_text():
    pool = Pool("duel(starts=0)", 1, [3], threads=1)
    lines = pool.describe().splitlines()
    assert lines[0] == "turn 1, your main phase 1"
    assert lines[1] == "opponent: 8000 life points; hand 5, deck 35, extra deck 1"
    assert lines[2].startswith("you: 8000 life points; deck 35") and lines[3].startswith("  hand: ")
    assert "What will you do?" in lines and "battle phase" not in pool.describe() and lines[3].count(" | ") == 4
    assert pool.describe(seat=1).splitlines()[-1] == "the opponent decides"


def test_moves_can_be_typed_by_name_or_number():
    pool = Pool("duel(starts=0)", 1, [3], threads=1)
    name = pool.action_name(1)
    assert [terminal.choose(pool, lambda _, word=word: word, print) for word in (name, "2", "quit")] == [1, 1, "quit"]


def test_a_replay_names_moves_by_the_positions_they_were_made_in():
    pool, actions, names = Pool("duel", 1, [5], threads=1), [], []
    for step in range(60):
        actions.append(int(pool.random_actions(step)[0]))
        names.append(pool.action_name(actions[-1]))
        pool.advance([actions[-1]])
    assert replays.action_names(replays.record("duel", 5, ["random", "random"], actions)) == names
