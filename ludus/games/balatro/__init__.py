"""Balatro: poker hands, jokers and ever higher scores; the complete game, with the seeds of the original.

A run has eight antes of three blinds. Play or discard up to five cards at a time until the blind's score is reached,
collect the pay, buy jokers and other cards, continue. `scale` multiplies all required scores, for a curriculum.
"""

from ludus.games.balatro import actions, run_start, hidden_cards, observation, rounds, seeds
from ludus.games.balatro.scene import scene as scene
from ludus.games.balatro.state import STATE as STATE
from ludus.games.balatro.tables import decks
from ludus.games.balatro.text import text as text
from ludus.dsl import CUT, OVER, PLAYING, Discrete, Parameter, Spec, choice, number, record, rule

LIMIT = 50_000
"""decisions after which a run is truncated, since selecting and unselecting cards could go on forever"""
SPEC = Spec(seats=1, actions=Discrete(actions.ACTIONS), horizon=LIMIT, frame=(960, 600))
PARAMETERS = {
    "deck": choice("red", decks.NAMES, "the deck"),
    "stake": choice("white", decks.STAKES, "the stake"),
    "seed": Parameter("random", seeds.parse, "a seed of the original, 1 to 8 of 1-9 and A-Z, or random for a new one"),
    "actions": choice(
        "direct", ("direct", "elementary", "all"), "which actions are legal: direct, elementary or all", by_hand="all"
    ),
    "reward": choice(
        "blinds",
        ("win", "blinds", "shaped"),
        "the reward: for a win, for each beaten blind, or shaped, which also rewards parts of a blind's score",
    ),
    "endless": choice("no", ("no", "yes"), "whether a run continues after its eighth ante"),
    "scale": number(1, 1e-9, 1000, "a factor for every required score"),
}
OBSERVATION = record(**observation.FIELDS)
RARELY_SEEN = ("hand", "owned", "counters", "consumables", "shelf", "pack", "prices", "redeemed", "held_tags", "played",
               "vouchers", "packs", "cards", "jokers", "game_state")  # fmt: skip
"""fields with parts that random play rarely fills: an edition, a legendary joker, a full shelf"""
VARIANTS = ("balatro(scale=0.001, endless=yes)",)
"""games that are measured besides the default one: long runs"""
MEASURES = {
    "ante 1 cleared": lambda states: states["furthest_ante"] > 1,
    "ante": lambda states: states["furthest_ante"],
    "won": lambda states: states["won"],
}
"""statistics of finished runs, besides the return"""
SUM_OF_ANTES = 108
"""sum of the antes of all 24 blinds (3 * (1 + … + 8)): divided by it, the rewards of a won run add up to 1"""
WIN, PER_BLIND, SHAPED = range(3)


@rule
def init(state):
    run_start.start(state)


@rule
def step(state, action, reward):
    beaten = state.beaten
    ante = state.ante
    actions.take(state, action)
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
    """The reward of the current blind times the fraction of its score that is reached; 0 between blinds.

    As potential-based shaping it sums to 0 over a blind, so the optimal policy does not change.
    """
    if state.status == OVER or state.phase != rounds.PLAYING_HAND:
        return 0.0
    return min(1.0, state.score / state.required) * max(1, state.ante) / SUM_OF_ANTES


@rule
def legal(state, seat, mask):
    actions.legal(state, mask)


@rule
def observe(state, seat, out):
    observation.observe(state, out)


@rule
def redeal(state, seat):
    hidden_cards.redeal(state)


def action_name(action: int) -> str:
    return actions.name_of(action)
