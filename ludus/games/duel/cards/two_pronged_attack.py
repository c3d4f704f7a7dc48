"""Two-Pronged Attack: two monsters of your own and one of the opponent are destroyed."""

from ludus.games.duel.filters import count_matching, gather
from ludus.games.duel.frames import ask_cards
from ludus.games.duel.operations_targets import live
from ludus.games.duel.processes import destroy, put_in
from ludus.games.duel.state import BY_EFFECT
from ludus.games.duel.tables.words import OTHER_MONSTERS
from ludus.dsl import rule


@rule
def possible(state, c, player):
    return count_matching(state, OTHER_MONSTERS, 0, c, player, True) >= 1


@rule
def ask_third(state, frame, link, player):
    """After the own monsters, ask for the opponent's."""
    gather(state, OTHER_MONSTERS, 0, link.card, player, True, frame)
    ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)


@rule
def resolve(state, link):
    """Destroy all three targets, or none if one of them is gone."""
    if live(state, link, 0) and live(state, link, 1) and live(state, link, 2):
        work = destroy(state, BY_EFFECT, link.player)
        for k in range(3):
            put_in(work, link.targets[k])
