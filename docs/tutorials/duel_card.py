"""Add a card to the duel: write its row and play it.

A card is a row of a table: its printed values, and its effects with condition and cost. This file defines one:

    python docs/tutorials/duel_card.py                       # plays a few turns with the card
    LUDUS_CARDS=docs/tutorials/duel_card.py ludus play duel  # all commands and .ydk files know the card

To add a card permanently, put its row into ludus/games/duel/tables: spells.py, traps.py, monsters.py or extra.py.
"""

import os

# The table of cards is built at import and reads the files in LUDUS_CARDS. Plain Python is fast enough for a few turns.
os.environ["LUDUS_CARDS"] = __file__
os.environ["NUMBA_DISABLE_JIT"] = "1"

from ludus.games.duel.tables.words import DAMAGE_BOTH, OTHER_MONSTERS, activate, exists, spell

# `when` is the condition, `do` the effect with its numbers, `says` the text that players read.
SPARK = spell(
    99000001,
    "Spark of the Workshop",
    activate(
        when=exists(OTHER_MONSTERS),
        do=(DAMAGE_BOTH, 700, 300),
        says="only against a monster: 700 damage to the other player, 300 to you",
    ),
)
ROWS = (SPARK,)

DECK = [91939608] * 36 + [99000001] * 4  # the last card is on top: the opening hand is four Sparks and a Rogue Doll


def choose(duel, wanted: str) -> None:
    """Choose the first option of a kind."""
    from ludus.games.duel.tools import recorded_duels

    options = recorded_duels.options(duel)
    duel.answer([next(number for number, option in enumerate(options) if option[0] == wanted)])


def main() -> None:
    from ludus.games.duel.tools import recorded_duels
    from ludus.games.duel.tools.engine import Duel

    duel = Duel([(DECK, []), (DECK, [])])
    duel.begin()
    assert not any(option[0] == "act" for option in recorded_duels.options(duel)), "the Spark needs an opposing monster"
    choose(duel, "ep")  # the first player ends the turn
    choose(duel, "summon")  # the second player summons a monster
    duel.answer([0])
    choose(duel, "ep")
    offered = [option for option in recorded_duels.options(duel) if option[0] == "act"]
    print(f"{SPARK.name}: {SPARK.effects[0].says}")
    print(f"{len(offered)} activations are offered: four Sparks are in the hand, and the opponent has a monster")
    choose(duel, "act")
    duel.answer([0])  # in the first zone
    print(f"life points now: {duel.state['life'].tolist()}")
    assert duel.state["life"].tolist() == [7700, 7300]


if __name__ == "__main__":
    main()
