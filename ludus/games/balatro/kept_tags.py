"""Tags that the player keeps until they take effect."""

from ludus.games.balatro import holdings
from ludus.games.balatro.tables import tags
from ludus.dsl import rule


@rule
def drop(state, place):
    """Remove a tag."""
    state.tag_count -= 1
    for index in range(place, state.tag_count):
        state.tags[index] = state.tags[index + 1]
        state.tag_hands[index] = state.tag_hands[index + 1]


@rule
def take(state, effect):
    """Remove the first tag with this effect; returns its row in the table, or -1 if there is none."""
    for place in range(state.tag_count):
        tag = state.tags[place]
        if tags.EFFECT[tag] == effect:
            drop(state, place)
            return int(tag)
    return -1


@rule
def gain(state, tag, hand):
    """Add a tag, once more for every Double Tag; those are then removed."""
    copies = 1
    if tag != tags.DOUBLE_TAG:
        while take(state, tags.DOUBLE) >= 0:
            copies += 1
    for _ in range(copies):
        holdings.add_tag(state, tag, hand)


@rule
def used_up(state, effect):
    """Remove all tags with this effect; returns the sum of their numbers."""
    total = 0
    tag = take(state, effect)
    while tag >= 0:
        total += tags.NUMBER[tag]
        tag = take(state, effect)
    return total
