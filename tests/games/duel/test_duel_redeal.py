"""Redealing a duel: visible cards stay, hidden cards change within their kind, and the duel continues."""

from collections import Counter

import numpy as np
import pytest

from ludus.dsl import PLAYING
from ludus.games.duel.state import DECK_PILE, HAND_PILE
from ludus.games.duel.tables import ROWS
from ludus.games.duel.tables import words as w
from ludus.pool import Pool

DECKS = ("duel(deck1=goat_chaos, deck2=goat_control)", "duel(deck1=extra, deck2=random)")


@pytest.fixture(scope="module", params=DECKS)
def pool(request):
    pool = Pool(request.param, 16, 5, threads=1)
    yield pool
    pool.close()


def hidden_cards(state, seat):
    """The opponent's main-deck cards that the seat does not know."""
    cards = state["cards"]
    for c in range(1, len(cards)):
        card = cards[c]
        set_down = card["place"] in (w.MZONE, w.SZONE) and card["position"] & w.DOWN
        theirs = card["code"] and card["controller"] == card["owner"] == 1 - seat
        if theirs and (card["place"] in (w.DECK, w.HAND) or set_down):
            yield c


def test_a_redealt_duel_has_the_same_cards_in_other_locations(pool):
    changed = 0
    for step in range(60):
        pool.advance(pool.random_actions(step))
        running = np.flatnonzero(pool.status == PLAYING)
        for seat in range(2):
            twin = pool.fork(running, seed=step, seat=seat)
            for row, new in zip(running, twin.states, strict=True):
                old = pool.states[row]
                hidden = list(hidden_cards(old, seat))
                assert Counter(old["cards"]["code"][hidden]) == Counter(new["cards"]["code"][hidden])
                assert old["sizes"].tolist() == new["sizes"].tolist()
                changed += int((old["cards"]["code"][hidden] != new["cards"]["code"][hidden]).sum())
                assert (new["cards"]["code"] == new["codes"])[1:151].all()
                for c in hidden:
                    check_kind(new["cards"][c])
                check_piles(new)
    assert changed > 1000


def check_kind(card):
    types = ROWS[card["code"]].types
    if card["place"] == w.MZONE:
        assert types & w.MONSTER
    if card["place"] == w.SZONE:
        assert types & (w.SPELL | w.TRAP) and bool(types & w.FIELD) == (card["sequence"] == 5)


def check_piles(state):
    for player in range(2):
        for pile in (DECK_PILE, HAND_PILE):
            numbers = state["piles"][player, pile, : state["sizes"][player, pile]]
            assert state["cards"]["sequence"][numbers].tolist() == list(range(len(numbers)))


def test_a_redealt_duel_continues(pool):
    for step in range(40):
        pool.advance(pool.random_actions(step))
        running = np.flatnonzero(pool.status == PLAYING)
        twin = pool.fork(running, seed=step, seat=step % 2)
        for later in range(30):
            twin.advance(twin.random_actions(later))
