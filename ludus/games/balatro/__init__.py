"""Balatro: poker hands, jokers and ever higher scores; the whole game, on the seeds of the real one.

A run is eight antes of three blinds. Play or discard up to five cards at a time until the blind's score is reached,
take the pay, shop for jokers and other cards, go on. `scale` makes every required score smaller, for a curriculum.
"""

from ludus.games.balatro import actions as doing
from ludus.games.balatro import beginning, hiding, observing, rounds, seeds
from ludus.games.balatro.scene import scene as scene
from ludus.games.balatro.state import STATE as STATE
from ludus.games.balatro.tables import decks
from ludus.games.balatro.text import text as text
from ludus.words import CUT, OVER, PLAYING, Discrete, Parameter, Spec, choice, number, record, rule

LIMIT = 50_000
"""decisions after which a run is cut off: selecting cards back and forth would never end"""
SPEC = Spec(seats=1, actions=Discrete(doing.ACTIONS), horizon=LIMIT, frame=(960, 600))
PARAMETERS = {
    "deck": choice("red", decks.NAMES, "the deck"),
    "stake": choice("white", decks.STAKES, "the stake"),
    "seed": Parameter("random", seeds.parse, "a seed of the real game, 1 to 8 of 1-9 and A-Z, or random for a new one"),
    "actions": choice("direct", ("direct", "elementary", "all"), "which actions are legal: direct, elementary or all"),
    "reward": choice(
        "blinds",
        ("win", "blinds", "shaped"),
        "what is paid: win, blinds, or shaped, which pays for a part of a blind at once",
    ),
    "endless": choice("no", ("no", "yes"), "whether a run goes on after its eighth ante"),
    "scale": number(1, 1e-9, 1000, "a factor of every required score"),
}
OBSERVATION = record(**observing.FIELDS)
RARELY_SEEN = ("hand", "owned", "counters", "consumables", "shelf", "pack", "prices", "redeemed", "held_tags", "played",
               "vouchers", "packs", "cards", "jokers", "game_state")  # fmt: skip
"""parts of them are never filled by random play: an edition, a legendary joker, a full shelf"""
VARIANTS = ("balatro(scale=0.001, endless=yes)",)
"""what is measured besides the plain game: runs that are long"""
NETWORK = "ludus.agents.networks.balatro"
"""where the network is that knows what poker hands are"""
MEASURES = {
    "ante 1 cleared": lambda states: states["furthest_ante"] > 1,
    "ante": lambda states: states["furthest_ante"],
    "won": lambda states: states["won"],
}
"""what is counted at the end of a run, besides its return"""
SUM_OF_ANTES = 108
"""three blinds in each of eight antes: what all of them pay comes to one"""
WIN, PER_BLIND, SHAPED = range(3)


@rule
def init(state):
    beginning.start(state)


@rule
def step(state, action, reward):
    beaten = state.beaten
    ante = state.ante
    doing.take(state, action)
    state.decisions += 1
    if state.reward == WIN:
        reward[0] = float(state.won and state.status == OVER)
    else:
        if state.beaten > beaten:
            reward[0] = max(1, ante) / SUM_OF_ANTES
        if state.reward == SHAPED:
            before = state.potential
            state.potential = potential(state)
            reward[0] += state.potential - before
    if state.status == PLAYING and state.decisions >= LIMIT:
        state.status = CUT


@rule
def potential(state):
    """The reward of the blind that is being played, times the part of its score that is reached; 0 between blinds.

    Over a blind it comes to nothing, so what is best does not change; but a good hand is rewarded at once.
    """
    if state.status == OVER or state.phase != rounds.PLAYING_HAND:
        return 0.0
    return min(1.0, state.score / state.required) * max(1, state.ante) / SUM_OF_ANTES


@rule
def legal(state, seat, mask):
    doing.legal(state, mask)


@rule
def observe(state, seat, out):
    observing.observe(state, out)


@rule
def redeal(state, seat):
    hiding.redeal(state)


def action_name(action: int) -> str:
    return doing.name_of(action)
