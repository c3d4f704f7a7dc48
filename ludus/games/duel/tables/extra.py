# ruff: noqa: E501  (a card, or one thing it does, is one line; its words are many)
"""The monsters of the extra deck, a row each: code, name, types, attribute, race, level (or rank, or link rating), attack, defense,
effects. Link monsters have no defense; theirs is 0.
"""

from __future__ import annotations

from ludus.games.duel.tables.words import (
    ALWAYS_IN_DAMAGE_STEP, ATTACK, ATTACKED, ATTACK_BY_ANYONE, BATTLE_DESTROYING, BEAST, BOTTOM, BOTTOM_LEFT,
    BOTTOM_RIGHT, CHAINING, COPIES_EQUIP, CYBERSE, DAMAGE, DARK, DESTROYED, DESTROYED_BY_BATTLE_OR_EFFECT,
    DESTROYED_TO_GRAVE, DESTROY_SELF, DETACH, DINOSAUR, DRAGON, EARTH, EFFECT, END_PHASE, EQUIP_TARGET, EVERYONE,
    FAIRY, FIEND, FIRE, FREEZES, FUSION, GOYO, GRAVE, LIGHT, LINK, LINKED, LINK_PROCEDURE, MATERIALS, MONSTER,
    NEGATES_DESTROYED, NEGATE_ACTIVATION, NEGATE_EFFECT, NORMAL, NORMAL_SPELL_ACTIVATED, NOT_EQUIPPED_YET,
    NO_MATERIAL, ONCE_A_TURN, ONCE_BY_NAME, OTHER_MONSTERS, OWN, OWN_GRAVE, OWN_HAND, PAY, REVIVE_SELF, ROCK, SELF,
    SHIELDED_BY_EQUIP, SHIELDED_BY_MATERIAL, SPELLCASTER, STARDUST, SUMMON_LINKED, SYNCHRO, SYNCHRO_PROCEDURE,
    TARGETS_OWN_CARD, TOP, TO_HAND_TARGETS, TRIBUTE_LINKED, TRIBUTE_SELF, TUNER, UP, UP_DEFENSE, USED_THIS_TURN,
    UTOPIA_NEGATE, WARRIOR, WIND, WOULD_DESTROY, XYZ, XYZ_PROCEDURE, Card, cards, change, exists, ignition,
    may_trigger, monster, quick, target, trigger,
)  # fmt: skip

# fmt: off
ROWS: tuple[Card, ...] = (
    # Fusion monsters.
    monster(45231177, "Flame Swordsman",           FUSION,          FIRE,  WARRIOR,     5,  1800, 1600,
        materials=(34460851, 44287299), says="made of Flame Manipulator and Masaki the Legendary Swordsman"),
    monster(25655502, "Bickuribox",                FUSION,          DARK,  FIEND,       7,  2300, 2000,
        materials=(93889755, 13215230), says="made of Crass Clown and Dream Clown"),
    monster(41462083, "Thousand Dragon",           FUSION,          WIND,  DRAGON,      7,  2400, 2000,
        materials=(71625222, 88819587), says="made of Time Wizard and Baby Dragon"),
    monster(66889139, "Gaia the Dragon Champion",  FUSION,          WIND,  DRAGON,      7,  2600, 2100,
        materials=(6368038, 28279543), says="made of Gaia The Fierce Knight and Curse of Dragon"),
    monster(23995346, "Blue-Eyes Ultimate Dragon", FUSION,          LIGHT, DRAGON,      12, 4500, 3800,
        materials=(89631139, 89631139, 89631139), says="made of three Blue-Eyes White Dragons"),
    monster(11901678, "Black Skull Dragon",        FUSION,          DARK,  DRAGON,      9,  3200, 2500,
        materials=(70781052, 74677422), says="made of Summoned Skull and Red-Eyes Black Dragon"),
    monster(63519819, "Thousand-Eyes Restrict",    EFFECT | FUSION, DARK,  SPELLCASTER, 1,  0,    0,
        ignition(when=(NOT_EQUIPPED_YET,), target=target(OTHER_MONSTERS), do=(EQUIP_TARGET,), once=ONCE_A_TURN, text=0, says="once a turn: take a monster of the opponent as an equip card"),
        materials=(64631466, 27125110), traits=COPIES_EQUIP | SHIELDED_BY_EQUIP | FREEZES, says="made of Relinquished and Thousand-Eyes Idol; other monsters cannot attack or change position; has the attack and defense of the monster it took, which is destroyed by battle in its place"),
    monster(80071763, "Dark Balter the Terrible",  EFFECT | FUSION, DARK,  FIEND,       5,  2000, 1200,
        quick(CHAINING, when=(NORMAL_SPELL_ACTIVATED,), cost=(PAY, 1000), do=(NEGATE_EFFECT,), text=0, says="pay 1000: a normal spell that is played does nothing"),
        traits=NEGATES_DESTROYED, says="comes by Metamorphosis only; monsters it destroys by battle lose their effects"),
    # Synchro monsters.
    monster(97204936, "Gaia Knight, the Force of Earth", SYNCHRO,          EARTH, WARRIOR, 6,  2600, 800,
        procedure=(SYNCHRO_PROCEDURE,), material=cards(types=TUNER), says="made of a tuner and others whose levels add up to its own"),
    monster(7391448,  "Goyo Guardian",   EFFECT | SYNCHRO, EARTH, WARRIOR, 6,  2800, 2000,
        may_trigger(BATTLE_DESTROYING, when=(DESTROYED_TO_GRAVE,), do=(GOYO, UP_DEFENSE), text=0, damage_step=ALWAYS_IN_DAMAGE_STEP, says="destroyed a monster by battle: you may summon it from the graveyard to your field in defense"),
        procedure=(SYNCHRO_PROCEDURE,), material=cards(types=TUNER, attributes=EARTH), says="made of an EARTH tuner and others whose levels add up to its own"),
    monster(45815891, "Scrap Archfiend", SYNCHRO,          EARTH, FIEND,   7,  2700, 1800,
        procedure=(SYNCHRO_PROCEDURE,), material=cards(types=TUNER), says="made of a tuner and others whose levels add up to its own"),
    monster(44508094, "Stardust Dragon", EFFECT | SYNCHRO, WIND,  DRAGON,  8,  2500, 2000,
        quick(CHAINING, when=(WOULD_DESTROY,), cost=(TRIBUTE_SELF,), do=(STARDUST,), text=0, damage_step=ALWAYS_IN_DAMAGE_STEP, says="tribute it: what would destroy a card on the field does not count and is destroyed"),
        may_trigger(END_PHASE, where=GRAVE, when=(USED_THIS_TURN,), do=(REVIVE_SELF, UP), once=ONCE_A_TURN, text=1, damage_step=ALWAYS_IN_DAMAGE_STEP, says="in the End Phase of a turn in which it was so used it may return from the graveyard"),
        procedure=(SYNCHRO_PROCEDURE,), material=cards(types=TUNER), says="made of a tuner and others whose levels add up to its own"),
    # Xyz monsters.
    monster(71594310, "Gem-Knight Pearl",     XYZ,          EARTH, ROCK,     4,  2600, 1900,
        procedure=(XYZ_PROCEDURE, 2), material=cards(lowest_level=4, highest_level=4), says="made of two monsters of level 4"),
    monster(84013237, "Number 39: Utopia",    EFFECT | XYZ, LIGHT, WARRIOR,  4,  2500, 2000,
        may_trigger(ATTACK, when=(ATTACK_BY_ANYONE,), cost=(DETACH, 1), do=(UTOPIA_NEGATE,), text=0, damage_step=ALWAYS_IN_DAMAGE_STEP, says="a monster attacks, detach a material: the attack fails"),
        trigger(ATTACKED, when=(NO_MATERIAL,), do=(DESTROY_SELF,), text=1, damage_step=ALWAYS_IN_DAMAGE_STEP, says="attacked without material: destroy it"),
        procedure=(XYZ_PROCEDURE, 2), material=cards(lowest_level=4, highest_level=4), says="made of two monsters of level 4"),
    monster(47506081, "Grenosaurus",          EFFECT | XYZ, FIRE,  DINOSAUR, 3,  2000, 1900,
        may_trigger(BATTLE_DESTROYING, when=(DESTROYED_TO_GRAVE,), cost=(DETACH, 1), do=(DAMAGE, 1000), text=0, damage_step=ALWAYS_IN_DAMAGE_STEP, says="destroyed a monster by battle, detach a material: the opponent takes 1000 damage"),
        procedure=(XYZ_PROCEDURE, 2), material=cards(lowest_level=3, highest_level=3), says="made of two monsters of level 3"),
    monster(10002346, "Gachi Gachi Gantetsu", EFFECT | XYZ, EARTH, ROCK,     2,  500,  1800,
        change(OWN, 200, 200, per=MATERIALS),
        procedure=(XYZ_PROCEDURE, 2), material=cards(lowest_level=2, highest_level=2), traits=SHIELDED_BY_MATERIAL, says="made of two monsters of level 2; your monsters gain 200 for each of its materials; a material may be detached instead of its destruction"),
    # Link monsters.
    monster(77637979, "LANphorhynchus",  LINK,          LIGHT, CYBERSE, 2,  1200, 0,
        markers=BOTTOM_LEFT | BOTTOM_RIGHT, procedure=(LINK_PROCEDURE, 2, 2), says="made of two monsters"),
    monster(3987233,  "Missus Radiant",  EFFECT | LINK, EARTH, BEAST,   2,  1400, 0,
        may_trigger(DESTROYED, where=0, when=(DESTROYED_BY_BATTLE_OR_EFFECT,), target=target(OWN_GRAVE, cards(types=MONSTER, attributes=EARTH)), do=(TO_HAND_TARGETS,), once=ONCE_BY_NAME, waits=True, text=0, damage_step=ALWAYS_IN_DAMAGE_STEP, says="destroyed by battle or effect: you may take a monster of attribute EARTH back from your graveyard"),
        change(EVERYONE, 500, 500, cards(attributes=EARTH)),
        change(EVERYONE, -400, -400, cards(attributes=WIND)),
        markers=BOTTOM_LEFT | BOTTOM_RIGHT, procedure=(LINK_PROCEDURE, 2, 2), material=cards(attributes=EARTH), says="made of two EARTH monsters; all EARTH monsters gain 500, all WIND monsters lose 400"),
    monster(98978921, "Link Spider",     EFFECT | LINK, EARTH, CYBERSE, 1,  1000, 0,
        ignition(when=exists(OWN_HAND, cards(types=NORMAL, highest_level=4, summonable=UP)), do=(SUMMON_LINKED, UP), which=cards(types=NORMAL, highest_level=4, summonable=UP), once=ONCE_A_TURN, text=0, says="once a turn: summon a normal monster of level 4 or less from your hand to a zone it points to"),
        markers=BOTTOM, procedure=(LINK_PROCEDURE, 1, 1), material=cards(types=NORMAL), says="made of a normal monster"),
    monster(7778726,  "Hip Hoshiningen", EFFECT | LINK, LIGHT, FAIRY,   2,  1400, 0,
        may_trigger(DESTROYED, where=0, when=(DESTROYED_BY_BATTLE_OR_EFFECT,), target=target(OWN_GRAVE, cards(types=MONSTER, attributes=LIGHT)), do=(TO_HAND_TARGETS,), once=ONCE_BY_NAME, waits=True, text=0, damage_step=ALWAYS_IN_DAMAGE_STEP, says="destroyed by battle or effect: you may take a monster of attribute LIGHT back from your graveyard"),
        change(EVERYONE, 500, 500, cards(attributes=LIGHT)),
        change(EVERYONE, -400, -400, cards(attributes=DARK)),
        markers=BOTTOM_LEFT | BOTTOM_RIGHT, procedure=(LINK_PROCEDURE, 2, 2), material=cards(attributes=LIGHT), says="made of two LIGHT monsters; all LIGHT monsters gain 500, all DARK monsters lose 400"),
    monster(1861629,  "Decode Talker",   EFFECT | LINK, DARK,  CYBERSE, 3,  2300, 0,
        quick(CHAINING, when=(TARGETS_OWN_CARD,), cost=(TRIBUTE_LINKED,), do=(NEGATE_ACTIVATION,), text=0, damage_step=ALWAYS_IN_DAMAGE_STEP, says="the opponent targets a card of yours on the field, tribute a monster it points to: that does not count and is destroyed"),
        change(SELF, 500, per=LINKED),
        markers=BOTTOM_LEFT | BOTTOM_RIGHT | TOP, procedure=(LINK_PROCEDURE, 2, 3), material=cards(types=EFFECT), says="made of two or three effect monsters; gains 500 attack for each monster it points to"),
)
# fmt: on
