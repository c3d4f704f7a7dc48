"""What the player does not know, dealt anew: the run as it might be, for players that think ahead."""

from ludus.games.balatro import beginning, holdings, randomness
from ludus.games.balatro.tables import cards
from ludus.words import random, rule


@rule
def redeal(state):
    """Another run that looks the same to the player: other random numbers from here on, another order of the pile,
    other cards where they lie face down, and jokers that lie so in another order."""
    beginning.new_seed(state)
    state.seed_hash = randomness.hash_seed(state, 0)
    for slot in range(len(state.streams)):
        state.streams[slot] = 0.0
    state.resamples = 0
    random.shuffle(state, state.pile, state.pile_count)
    redeal_hand(state)
    redeal_jokers(state)


@rule
def redeal_hand(state):
    """Other cards of the pile where those in hand lie face down."""
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
    """Another order of jokers that lie face down, where eternal ones stand where they do: that they are is seen."""
    for last in range(state.joker_count - 1, 0, -1):
        joker = state.jokers[last]
        other = random.below(state, last + 1)
        if not (joker.stickers | state.jokers[other].stickers) & cards.ETERNAL:
            if joker.face_down and state.jokers[other].face_down:
                holdings.swap_jokers(state, last, other)
    holdings.refresh(state)
