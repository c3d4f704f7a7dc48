# ruff: noqa: E501  (a list of words is one thing)
"""The vocabulary of the card tables: types, events, conditions, costs, operations and traits.

    spell(53129443, "Dark Hole", activate(when=exists(MONSTERS), do=(DESTROY_ALL, MONSTERS)))
    monster(54652250, "Man-Eater Bug", FLIP, EARTH, INSECT, 2, 450, 600,
            flip(target=target(MONSTERS), do=(DESTROY_TARGETS,), text=0, says="destroy a monster"))

Most cards are fully described by their row; effects with code of their own are in `cards/`. `says` is the text for people.
"""

from __future__ import annotations

from typing import NamedTuple

# fmt: off
# What a card is: the bits of the real engine.
MONSTER, SPELL, TRAP, NORMAL, EFFECT, FUSION, RITUAL = 0x1, 0x2, 0x4, 0x10, 0x20, 0x40, 0x80
SPIRIT, TUNER, SYNCHRO, TOKEN, QUICKPLAY, CONTINUOUS = 0x200, 0x1000, 0x2000, 0x4000, 0x10000, 0x20000
EQUIP, FIELD, COUNTER, FLIP, TOON, XYZ, SPECIAL_ONLY, LINK = 0x40000, 0x80000, 0x100000, 0x200000, 0x400000, 0x800000, 0x2000000, 0x4000000
EXTRA_DECK = FUSION | SYNCHRO | XYZ | LINK
EARTH, WATER, FIRE, WIND, LIGHT, DARK, DIVINE = 1, 2, 4, 8, 16, 32, 64
ATTRIBUTES = ("EARTH", "WATER", "FIRE", "WIND", "LIGHT", "DARK", "DIVINE")
RACES = ("Warrior", "Spellcaster", "Fairy", "Fiend", "Zombie", "Machine", "Aqua", "Pyro", "Rock", "Winged Beast", "Plant", "Insect", "Thunder",
         "Dragon", "Beast", "Beast-Warrior", "Dinosaur", "Fish", "Sea Serpent", "Reptile", "Psychic", "Divine-Beast", "Creator God", "Wyrm", "Cyberse")
(WARRIOR, SPELLCASTER, FAIRY, FIEND, ZOMBIE, MACHINE, AQUA, PYRO, ROCK, WINGED_BEAST, PLANT, INSECT, THUNDER, DRAGON, BEAST, BEAST_WARRIOR,
 DINOSAUR, FISH, SEA_SERPENT, REPTILE, PSYCHIC, DIVINE_BEAST, CREATOR_GOD, WYRM, CYBERSE) = (1 << bit for bit in range(25))
BOTTOM_LEFT, BOTTOM, BOTTOM_RIGHT, LEFT, RIGHT, TOP_LEFT, TOP, TOP_RIGHT = 0x1, 0x2, 0x4, 0x8, 0x20, 0x40, 0x80, 0x100

# Locations and positions: the bits of the real engine.
DECK, HAND, MZONE, SZONE, GRAVE, BANISHED, EXTRA, OVERLAY = 1, 2, 4, 8, 16, 32, 64, 128
ON_FIELD = MZONE | SZONE
UP_ATTACK, DOWN_ATTACK, UP_DEFENSE, DOWN_DEFENSE, UP, DOWN, IN_ATTACK, IN_DEFENSE = 1, 2, 4, 8, 5, 10, 3, 12

# Where cards are searched, relative to the player of an effect.
OWN_MONSTERS, OTHER_MONSTERS, OWN_SPELLS, OTHER_SPELLS, OWN_GRAVE, OTHER_GRAVE, OWN_HAND, OTHER_HAND, OWN_DECK, OTHER_DECK, OWN_EXTRA = (1 << bit for bit in range(11))
MONSTERS, SPELLS, GRAVES, HANDS = OWN_MONSTERS | OTHER_MONSTERS, OWN_SPELLS | OTHER_SPELLS, OWN_GRAVE | OTHER_GRAVE, OWN_HAND | OTHER_HAND
OTHERS_FIELD = OTHER_MONSTERS | OTHER_SPELLS
BOTH_FIELDS = MONSTERS | SPELLS

# Kinds of effects. Ignition effects and most spells have spell speed 1, quick effects and traps 2, counter traps 3.
ACTIVATE, IGNITION, TRIGGER, MAY_TRIGGER, QUICK, STATIC = range(6)
"""activation of a spell or trap; in the own main phase; mandatory trigger; optional trigger; at any time; continuous"""

# Events that effects respond to.
(FREE, SUMMON, FLIP_SUMMON, SPSUMMON, SUMMONED, FLIP_SUMMONED, SPSUMMONED, FLIPPED, ATTACK, ATTACKED, CHAINING, BATTLE_START,
 PRE_CALCULATION, BATTLE_DAMAGE, BATTLED, BATTLE_DESTROYING, BATTLE_DESTROYED, DESTROYED, TO_GRAVE, EQUIPPED, CHANGED_POSITION,
 STANDBY_PHASE, BATTLE_PHASE_END, END_PHASE) = (1 << bit for bit in range(24))
"""no event; a summon that can still be negated (3); a completed summon (3); turned face-up; attacks; is attacked; a card or effect is activated;
the damage step begins; before damage calculation; battle damage; after damage calculation; destroyed a monster by battle; was destroyed by
battle; was destroyed; was sent to the graveyard; was equipped; changed its position; phases"""

# Conditions: (word, number, number).
(ALWAYS, EXISTS, FROM_FIELD, FROM_HAND, TRIBUTED, IN_GRAVE, DAMAGE_TO_OTHER, DIRECT_DAMAGE_TO_OTHER, ATTACK_TO_DEFENSE, DEFENSE_TO_ATTACK,
 WAS_ATTACKED_BY_SURVIVOR, BATTLES_A_MONSTER, ATTACKS_FACE_DOWN, ATTACKED_FACE_DOWN, DESTROYED_AS_ATTACKER, DESTROYED_TO_GRAVE,
 OTHERS_TURN_WOULD_TAKE_DAMAGE, IN_THIS_BATTLE, OWN_STANDBY, OTHERS_STANDBY, SUMMONED_THIS_TURN, USED_THIS_TURN, ATTACK_BY_OTHER,
 ATTACK_BY_ANYONE, NO_MATERIAL, SUMMON_BY_OTHER, ANY_SUMMON, SPELL_ACTIVATED, TRAP_ACTIVATED, SPELL_OR_TRAP_ACTIVATED,
 NORMAL_SPELL_ACTIVATED, WOULD_DESTROY, TARGETS_OWN_CARD, OTHERS_TURN, CARDS_IN_DECK, OTHER_HAS_HAND, SOMEONE_HAS_HAND, FREE_MONSTER_ZONES,
 LORD_OF_D, OTHERS_FACE_DOWN, NOT_EQUIPPED_YET, FUSION_POSSIBLE, RITUAL_POSSIBLE, SWAP_POSSIBLE, NOT_ATTACKED_YET, DESTROYED_BY_BATTLE_OR_EFFECT,
 OWN_EFFECT_NOT_USED) = range(47)

# Costs: (word, number, number).
(NO_COST, PAY, PAY_HALF, DISCARD, DISCARD_SELF, TRIBUTE, TRIBUTE_SELF, DETACH, REMOVE_COUNTER, GIVE_UP_ATTACK, TRIBUTE_LINKED, TRIBUTE_FOR_FUSION,
 GIVE_UP_SUMMONS) = range(13)

# Operations: (word, number, number, number).
(NOTHING,
 # Cards are destroyed, returned or banished.
 DESTROY_TARGETS, TO_HAND_TARGETS, BANISH_TARGETS, DESTROY_ALL, DESTROY_WEAKEST, DESTROY_HIGHEST_DEFENSE, DESTROY_STRONGEST_ATTACKER,
 DESTROY_IF_TYPE, DESTROY_IF_DOWN, DESTROY_SELF, DESTROY_EVENT_CARDS, DESTROY_ATTACK_TARGET, DESTROY_ALL_OTHERS, RETURN_ATTACKER, RETURN_ALL, RETURN_SELF,
 BANISH_BATTLERS,
 # Deck and hand.
 SEARCH, SEARCH_AND_BAN, ADD_COPIES, DRAW, UPSTART, DISCARD_RANDOM,
 # Life points.
 DAMAGE, DAMAGE_BOTH, RECOVER, DAMAGE_PER, SNATCH_RECOVER,
 # The card itself, or its player, in a battle.
 ADD_COUNTER, NO_BATTLE_DAMAGE, ATTACK_AGAIN, SPIRIT_RETURN, LILY,
 # Positions and values of monsters.
 TURN_DOWN, TO_DEFENSE, TO_ATTACK, RAISE_ATTACK, RAISE_DEFENSE, DICE, SWAP_BASE_VALUES, WABOKU,
 # Answers to a card, a summon or an attack.
 NEGATE_ACTIVATION, NEGATE_EFFECT, NEGATE_SUMMON, SOLEMN, STARDUST, DESTROY_ATTACKER, CYLINDER, NEGATE_ATTACK, NEGATE_ATTACK_AND_END, DRAINING,
 UTOPIA_NEGATE, TO_DECK_TOP,
 # Cards with code of their own: see `cards/hooks.py`.
 CHARITY, DUO, CARD_DESTRUCTION, MORPHING_JAR, THESTALOS, DON_ZALOOG, TIME_WIZARD, NOBLEMAN, RING, DUST_TORNADO, RUIN, TRAP_HOLE, BOTTOMLESS,
 DESTROY_THREE, DESTROY_RACE, SWORDS, SERPENT,
 # Monsters are summoned, equipped, or change sides.
 RECRUIT, GERM, MOMONGA, SUMMON_FROM_HAND, SUMMON_LINKED, REVIVE, REVIVE_NEGATED, REVIVE_EQUIPPED, REVIVE_BOUND, REVIVE_SELF, GOYO, FUSE, RITUAL_SUMMON,
 EQUIP_CARD, EQUIP_TARGET, TAKE_CONTROL, SNATCH,
 # The same, with code of their own.
 ENEMY_CONTROLLER, SWAP_CONTROL, TOKENS, METAMORPHOSIS, FLUTE) = range(93)
FIRST_WITH_CODE, FIRST_MOVING, FIRST_MOVING_WITH_CODE = CHARITY, RECRUIT, ENEMY_CONTROLLER
"""where these groups begin"""
DESTROYING = frozenset((DESTROY_TARGETS, DESTROY_ALL, DESTROY_WEAKEST, DESTROY_HIGHEST_DEFENSE, DESTROY_STRONGEST_ATTACKER, DESTROY_IF_TYPE,
    DESTROY_IF_DOWN, DESTROY_SELF, DESTROY_EVENT_CARDS, DESTROY_ATTACK_TARGET, DESTROY_ALL_OTHERS, NEGATE_SUMMON, SOLEMN, DESTROY_ATTACKER,
    TIME_WIZARD, NOBLEMAN, RING, DUST_TORNADO, RUIN, TRAP_HOLE, BOTTOMLESS, DESTROY_THREE, DESTROY_RACE))
"""of these, those that destroy cards on the field: WOULD_DESTROY answers them"""
AIM_CHOSEN, AIM_ATTACKER, AIM_EVENT_CARDS, AIM_BATTLED, AIM_PRESENT = range(5)
"""how an effect gets its targets: they are chosen, or it has none; the attacker; the cards of the event that it answers; the monster that its own
card has fought; no targets, but cards that come after the activation are not affected"""
AIMS = {DESTROY_ATTACKER: AIM_ATTACKER, CYLINDER: AIM_ATTACKER, NEGATE_ATTACK: AIM_ATTACKER, NEGATE_ATTACK_AND_END: AIM_ATTACKER, DRAINING: AIM_ATTACKER,
    TRAP_HOLE: AIM_EVENT_CARDS, DESTROY_EVENT_CARDS: AIM_EVENT_CARDS, GOYO: AIM_BATTLED, BOTTOMLESS: AIM_PRESENT, SWAP_BASE_VALUES: AIM_PRESENT}
"""AIM_CHOSEN for all others"""

# Traits: continuous properties of a card, one bit each.
(PIERCES, NOT_BY_BATTLE, ATTACKS_ALL, IS_TOON, NO_SPECIAL_SUMMON, SHIELDS_DRAGONS, STOPS_TRAPS, NEGATES_TRAPS, BINDS_LEVELS, BINDS_STRONG,
 BINDS_OTHERS, SITS_LEVELS, SITS_DRAGONS, FREEZES, LEADS_WARRIORS, KEEPS_GRAVES, SHIELDED_BY_EQUIP, SHIELDED_BY_MATERIAL, COPIES_EQUIP,
 REFLECTS_DAMAGE, NEGATES_DESTROYED, NEGATES_FLIP_WHEN_ALONE, DIES_WHEN_TARGETED, RESTS_AFTER_ATTACK, STAYS_ON_FIELD, BOUND_TO_MONSTER,
 DESTROYS_EQUIPPED, COSTS_UPKEEP, CONTROLS_EQUIPPED, LASTS_THREE_TURNS, NO_TRIBUTE_SUMMON, SUMMONED_PROPERLY_ONLY) = (1 << bit for bit in range(32))

# Whom a change of attack and defense applies to, and what it is multiplied by.
SELF, EQUIPPED_MONSTER, EVERYONE, OWN = range(4)
(ONE, EQUIPS, COUNTERS, DARK_MAGICIANS, OWN_UP_MONSTERS, OWN_SPELLS_AND_TRAPS, LINKED, MATERIALS, SHORT_HAND) = range(9)

# How often an effect can be used.
OFTEN, ONCE_A_TURN, ONCE_BY_NAME, ONCE_BY_NAME_GIVEN_BACK, ONCE_A_BATTLE = range(5)
"""GIVEN_BACK: a negated activation does not count"""

# Procedures by which a monster is special summoned from hand or extra deck.
NO_PROCEDURE, TOON_PROCEDURE, LIGHT_AND_DARK, EMPTY_FIELD, SYNCHRO_PROCEDURE, XYZ_PROCEDURE, LINK_PROCEDURE = range(7)
# fmt: on


class Filter(NamedTuple):
    """Which cards match: all given conditions must hold."""

    types: int = 0
    """any of these bits"""
    without: int = 0
    """none of these"""
    exactly: int = 0
    """these bits and no others"""
    position: int = 0
    races: int = 0
    attributes: int = 0
    lowest_level: int = 0
    highest_level: int = 0
    most_attack: int = -1
    most_defense: int = -1
    code: int = 0
    other: bool = False
    """excludes the card itself"""
    summonable: int = 0
    """can be special summoned by the player in this position"""
    banishable: bool = False
    controllable: bool = False
    has_defense: bool = False
    except_code: int = 0
    or_down: bool = False
    """face-down cards always match"""


ANY = Filter()


def cards(**which: int) -> Filter:
    return Filter(**which)  # type: ignore[arg-type]  # 0 and 1 are False and True


class Target(NamedTuple):
    """Targets that are chosen when an effect is activated."""

    where: int = 0
    which: Filter = ANY
    fewest: int = 0
    most: int = 0


NOTHING_TO_CHOOSE = Target()


def target(where: int, which: Filter = ANY, fewest: int = 1, most: int = 0) -> Target:
    return Target(where, which, fewest, most or fewest)


class Effect(NamedTuple):
    """One effect of a card."""

    kind: int
    on: int
    speed: int
    where: int
    text: int
    when: tuple[int, ...]
    seen: Target
    """what must exist for `when=exists(…)`"""
    cost: tuple[int, ...]
    target: Target
    do: tuple[int, ...]
    which: Filter
    """the cards that `do` applies to"""
    once: int
    waits: bool
    """cannot miss its timing"""
    in_damage_step: int
    says: str


NO_TEXT, SYSTEM = -1, 1_000_000
"""`text` is the number of a line of text of the card; SYSTEM + n is a line of the game itself"""
NEVER, BEFORE_CALCULATION, ALWAYS_IN_DAMAGE_STEP, IN_CALCULATION = range(4)
"""when in a damage step an effect may be used"""


def exists(where: int, which: Filter = ANY, fewest: int = 1) -> tuple[tuple[int, ...], Target]:
    return (EXISTS, fewest), target(where, which, fewest)


def effect(
    kind: int, on: int = FREE, speed: int = 1, where: int = MZONE, text: int = NO_TEXT,
    when: tuple[object, ...] = (ALWAYS,), cost: tuple[int, ...] = (NO_COST,), target: Target = NOTHING_TO_CHOOSE,
    do: tuple[int, ...] = (NOTHING,), which: Filter = ANY, once: int = OFTEN, waits: bool = False,
    damage_step: int = NEVER, says: str = "",
) -> Effect:  # fmt: skip
    seen = Target()
    if isinstance(when[0], tuple):
        when, seen = when  # type: ignore[assignment]
    return Effect(kind, on, speed, where, text, when, seen, cost, target, do, which, once, waits, damage_step, says)  # type: ignore[arg-type]


def activate(**words) -> Effect:
    """The activation of a spell or trap; its spell speed follows from the type of the card."""
    return effect(ACTIVATE, where=HAND | SZONE, **words)


def ignition(**words) -> Effect:
    return effect(IGNITION, **words)


def trigger(on: int, **words) -> Effect:
    """A mandatory trigger effect."""
    return effect(TRIGGER, on, **words)


def may_trigger(on: int, **words) -> Effect:
    return effect(MAY_TRIGGER, on, **words)


def flip(**words) -> Effect:
    return effect(TRIGGER, FLIPPED, **words)


def may_flip(**words) -> Effect:
    return effect(MAY_TRIGGER, FLIPPED, waits=True, **words)


def quick(on: int, **words) -> Effect:
    return effect(QUICK, on, 2, **words)


class Change(NamedTuple):
    """A change of attack and defense while the card is face-up."""

    who: int
    attack: int
    defense: int
    which: Filter
    per: int


def change(who: int, attack: int = 0, defense: int = 0, which: Filter = ANY, per: int = ONE) -> Change:
    return Change(who, attack, defense, which, per)


class Card(NamedTuple):
    """A row of the table."""

    code: int
    name: str
    types: int
    attribute: int = 0
    race: int = 0
    level: int = 0
    """or rank, or link rating"""
    attack: int = 0
    defense: int = 0
    markers: int = 0
    effects: tuple[Effect, ...] = ()
    changes: tuple[Change, ...] = ()
    traits: int = 0
    procedure: tuple[int, ...] = (NO_PROCEDURE,)
    materials: tuple[int, ...] = ()
    """the codes that a fusion monster is made of"""
    material: Filter = Filter()
    """what synchro tuners, xyz and link materials must be"""
    partner: int = 0
    """the ritual monster of a ritual spell"""
    equips: Filter = Filter()
    """what an equip card may be put on"""
    says: str = ""
    """text about procedures and traits"""


def _effects(does: tuple[Effect | Change, ...]) -> tuple[Effect, ...]:
    return tuple(part for part in does if isinstance(part, Effect))


def _changes(does: tuple[Effect | Change, ...]) -> tuple[Change, ...]:
    return tuple(part for part in does if isinstance(part, Change))


def monster(
    code: int, name: str, types: int, attribute: int, race: int, level: int, attack: int, defense: int,
    *does: Effect | Change, **rest,
) -> Card:  # fmt: skip
    """A row for a monster; `types` does not include MONSTER, and includes NORMAL for a normal monster."""
    return Card(
        code,
        name,
        MONSTER | types,
        attribute,
        race,
        level,
        attack,
        defense,
        effects=_effects(does),
        changes=_changes(does),
        **rest,
    )


def spell(code: int, name: str, *does: Effect | Change, types: int = 0, **rest) -> Card:
    return Card(code, name, SPELL | types, effects=_effects(does), changes=_changes(does), **rest)


def trap(code: int, name: str, *does: Effect | Change, types: int = 0, **rest) -> Card:
    return Card(code, name, TRAP | types, effects=_effects(does), changes=_changes(does), **rest)
