"""Resampling of hidden information, for players that search ahead."""

from ludus.games.balatro import run_start, holdings, randomness
from ludus.games.balatro.tables import cards
from ludus.dsl import random, rule


@rule
def redeal(state):
    """Change the run to another one that looks the same to the player: new random numbers from here on, a new order of
    the pile, other face-down cards, and a new order of face-down jokers."""
    run_start.new_seed(state)
    state.seed_hash = randomness.hash_seed(state, 0)
    for slot in range(len(state.streams)):
        state.streams[slot] = 0.0
    state.resamples = 0
    random.shuffle(state, state.pile, state.pile_count)
    redeal_hand(state)
    redeal_jokers(state)


@rule
def redeal_hand(state):
    """Swap face-down cards in hand with random cards of the pile."""
    for place in range(state.hand_count):
        if state.pile_count and state.cards[state.hand[place]].flags & cards.FACE_DOWN:
            other = random.below(state, state.pile_count)
            number = state.hand[place]
            state.hand[place] = state.pile[other]
            state.pile[other] = number
            flags = state.cards[number].flags
            state.cards[state.hand[place]].flags |= flags & (cards.FACE_DOWN | cards.SELECTED | cards.FORCED)
            state.cards[number].flags &= 255 - cards.FACE_DOWN - cards.SELECTED - cards.FORCED


@rule
def redeal_jokers(state):
    """Shuffle face-down jokers, except eternal ones: the player can see which jokers are eternal."""
    for last in range(state.joker_count - 1, 0, -1):
        joker = state.jokers[last]
        other = random.below(state, last + 1)
        if not (joker.stickers | state.jokers[other].stickers) & cards.ETERNAL:
            if joker.face_down and state.jokers[other].face_down:
                holdings.swap_jokers(state, last, other)
    holdings.refresh(state)
