"""Add a card to the duel: write its row, see what it says, and play it.

A card is a row: what it is, and what it does when, on what condition. This file is one that brings a row of its own:

    python docs/tutorials/duel_card.py                       # plays a few turns with it
    LUDUS_CARDS=docs/tutorials/duel_card.py ludus play duel  # every command knows it then, and .ydk files may name it

To keep a card for good, put its row into ludus/games/duel/tables: spells.py, traps.py, monsters.py or extra.py.
"""

import os

# Whoever makes the table of cards looks here too. Plain Python is enough for a few turns: nothing has to be compiled.
os.environ["LUDUS_CARDS"] = __file__
os.environ["NUMBA_DISABLE_JIT"] = "1"

from ludus.games.duel.tables.words import DAMAGE_BOTH, OTHER_MONSTERS, activate, exists, spell

# When, on what condition, what: three words. `says` is the line that people read.
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

DECK = [91939608] * 36 + [99000001] * 4  # the last one lies on top: four sparks and a Rogue Doll make the opening hand


def choose(duel, wanted: str) -> None:
    """Take the first option of a kind."""
    from ludus.games.duel.tools import recorded_duels

    options = recorded_duels.options(duel)
    duel.answer([next(number for number, option in enumerate(options) if option[0] == wanted)])


def main() -> None:
    from ludus.games.duel.tools import recorded_duels
    from ludus.games.duel.tools.engine import Duel

    duel = Duel([(DECK, []), (DECK, [])])
    duel.begin()
    assert not any(option[0] == "act" for option in recorded_duels.options(duel)), "nobody has a monster yet"
    choose(duel, "ep")  # the first player does nothing
    choose(duel, "summon")  # the second one summons
    duel.answer([0])
    choose(duel, "ep")
    offered = [option for option in recorded_duels.options(duel) if option[0] == "act"]
    print(f"{SPARK.name}: {SPARK.effects[0].says}")
    print(f"offered {len(offered)} times, for there are four in the hand and a monster on the other side")
    choose(duel, "act")
    duel.answer([0])  # into the first zone
    print(f"life points now: {duel.state['life'].tolist()}")
    assert duel.state["life"].tolist() == [7700, 7300]


if __name__ == "__main__":
    main()
