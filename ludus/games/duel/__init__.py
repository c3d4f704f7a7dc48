"""Duel: two players, two decks, 8000 life points; summon, set, attack and chain.

The rules are those of the real game with 240 of its cards (Master Rule 5). A deck is one of the bundled ones, a .ydk
file, `random` for a new random deck in every duel, or `any` for any of the bundled ones.
"""

from ludus.games.duel import actions, setup, hidden_cards, observation
from ludus.games.duel.names import move_name as move_name
from ludus.games.duel.scene import scene as scene
from ludus.games.duel.state import MOST_ACTIONS
from ludus.games.duel.state import STATE as STATE
from ludus.games.duel.text import text as text
from ludus.games.duel.text import text_for as text_for
from ludus.dsl import OVER, PLAYING, Discrete, LudusError, Parameter, Spec, choice, integer, record, rule

LIMIT = 2000
"""a duel ends after this many decisions; the player with more life points wins"""
DRAWN = 2
SPEC = Spec(seats=2, actions=Discrete(MOST_ACTIONS), horizon=LIMIT, zero_sum=True, frame=(880, 660))


def _switch(meaning: str) -> Parameter:
    """A parameter with the values no and yes (or 0 and 1)."""

    def parse(text: str) -> int:
        if text not in ("no", "yes", "0", "1"):
            raise LudusError(f'"{text}" is not one of no, yes')
        return int(text in ("yes", "1"))

    return Parameter("no", parse, meaning)


A_DECK = "a bundled deck (ludus duel decks), a .ydk file, random for a new one in every duel, or any"
PARAMETERS = {
    "deck1": Parameter("yugi", setup.parse, f"the deck of seat 0: {A_DECK}"),
    "deck2": Parameter("kaiba", setup.parse, f"the deck of seat 1: {A_DECK}"),
    "starts": choice("random", ("0", "1", "random"), "the seat that moves first: 0, 1 or random"),
    "points": integer(8000, 1, 60_000, "the life points that both players begin with"),
    "opening": integer(5, 0, 15, "the number of cards in an opening hand"),
    "oppo_info": _switch("whether hidden cards are shown too; mask_ marks what is visible (for critics only)"),
    "greedy": _switch("whether a quick victory is worth more"),
}
OBSERVATION = record(**observation.FIELDS)
RARELY_SEEN = ("cards_", "global_", "actions_", "h_actions_", "mask_")
"""parts of these arrays stay empty in random play of two decks: link monsters, the 150th card, the 24th option"""
VARIANTS = ("duel(deck1=goat_control, deck2=goat_chaos)",)
"""games that are measured besides the default one: decks with more responses"""


@rule
def init(state):
    setup.deal(state)


@rule
def step(state, action, reward):
    actions.take(state, action)
    state.decisions += 1
    if state.status == PLAYING and state.decisions >= LIMIT:
        state.status = OVER
        state.winner = DRAWN
        if state.life[0] != state.life[1]:
            state.winner = 0 if state.life[0] > state.life[1] else 1
        state.menu_count = 0
    if state.status == OVER and state.winner != DRAWN:
        worth = quick(state) if state.greedy else 1.0
        reward[state.winner] = worth
        reward[1 - state.winner] = -worth


@rule
def quick(state):
    """The reward of a victory with `greedy`: it halves with every turn of the winner.

    The second player is one turn behind.
    """
    turn = state.turn + 0 if state.winner == state.first_player else state.turn + 2
    if turn <= 1:
        return 16.0
    if turn <= 3:
        return 8.0
    if turn <= 5:
        return 4.0
    return 2.0 if turn <= 7 else 0.5 + 1.0 / (turn - 7)


@rule
def legal(state, seat, mask):
    actions.legal(state, mask)


@rule
def observe(state, seat, out):
    observation.observe(state, seat, out)


@rule
def redeal(state, seat):
    hidden_cards.redeal(state, seat)


def action_name(action: int) -> str:
    return actions.name_of(action)
