"""Features of a duel for `DuelNet`: a short list of the relevant cards, and the results of possible battles.

Most of the 160 rows of cards are decks and graveyards. Cards on the field and in the hand become slots, with attack and
defense compared with the other side; graveyards, banished cards and the extra deck become sums; for every option the
result of its attack is computed. Nothing here is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ludus.agents.players.greedy.duel import attack_of, favourite, last_action, number, points, seen
from ludus.dsl import kernel, random, rule
from ludus.games.duel import action_features as act
from ludus.games.duel import observation as see
from ludus.games.duel.state import MOST_ACTIONS
from ludus.games.duel.tables import ROWS
from ludus.types import Array

SLOTS, PAST = 24, 4
"""maximum number of cards on the field and in the hand; number of past actions that are read"""
OWN_MONSTERS, OWN_SPELLS, THEIR_MONSTERS, THEIR_SPELLS, HAND, GROUPS = range(6)
POSITIONS = 9
SLOT_NUMBERS, BATTLE_NUMBERS = 8, 4
POINTS = BATTLE_NUMBERS + SLOT_NUMBERS
FAVOURITE = POINTS + 1
"""columns of an option's numbers, after those of its card: the points of the greedy player, and whether it would choose
the option"""
TOTALS = 6
BAGS = 5
"""own graveyard, theirs, own banished cards, theirs, own extra deck"""
SIZES = (18, 10, 5, 13, 16, 18)
"""sizes of the categories of an option: message; action; next phase, or end of a choice; position of a card, or side
and kind of a zone; location and owner of the card; effect"""
MESSAGE, ACTION, PHASE, POSITION, WHERE, EFFECT, CODE, COLUMNS = range(8)
FINISH, FIRST_ZONE, AGES = 4, 9, act.MOST_AGE + 1
THOUSAND = np.float32(0.001)
UNKNOWN_WALL = 1400.0
"""assumed defense of a face-down monster"""
NONE = -1.0
BUCKETS = (8, 16, MOST_ACTIONS)
"""possible lengths of the list of options; few of them keep the number of compilations low"""
BITS = 64


def _codes() -> Array:
    """[cards, numbers] a code for each card: its printed properties, and 64 random bits.

    With these codes a network can distinguish all cards without an embedding table that grows with their number; row 0,
    for unknown cards, is 0.
    """
    bits = np.unpackbits(random.keys(240, len(ROWS)).view(np.uint8).reshape(len(ROWS), 8), axis=1)
    looks = see.LOOKS.astype(np.float32)
    strength = [looks[:, at] * 256 + looks[:, at + 1] for at in (see.ATTACK, see.DEFENSE)]
    printed = np.stack([*strength, 250.0 * looks[:, see.LEVEL]], axis=1) * THOUSAND
    codes = np.concatenate([bits * 0.25 - 0.125, looks[:, see.TYPES :], printed], axis=1).astype(np.float32)
    codes[0] = 0.0
    return codes


CODES = _codes()
WIDTH = CODES.shape[1]


@rule
def known(high, low):
    """The number of a card, or 0 if it is unknown."""
    code = np.int64(high) * 256 + low
    return code if code < len(CODES) else 0


@rule
def group_of(location, theirs):
    if location == see.IN_HAND:
        return HAND
    if location == see.ON_MZONE:
        return THEIR_MONSTERS if theirs else OWN_MONSTERS
    return THEIR_SPELLS if theirs else OWN_SPELLS


@rule
def wall(cards, n, row):
    """The attack or defense that an attack on this monster must exceed."""
    if cards[n, row, see.ID_HIGH] == 0 and cards[n, row, see.ID_LOW] == 0:
        return UNKNOWN_WALL
    return float(number(cards, n, row, see.ATTACK if cards[n, row, see.POSITION] == 1 else see.DEFENSE))


@rule
def weigh_sides(cards, n, sides):
    """For each side: the strongest attacker, the weakest monster to attack, and the sum of all attackers."""
    for side in range(2):
        sides[side, 0] = NONE
        sides[side, 1] = NONE
        sides[side, 2] = 0.0
    for row in range(see.SHOWN):
        if cards[n, row, see.LOCATION] == see.ON_MZONE and cards[n, row, see.IS_OVERLAY] == 0:
            side = cards[n, row, see.CONTROLLER]
            stands = wall(cards, n, row)
            if sides[side, 1] == NONE or stands < sides[side, 1]:
                sides[side, 1] = stands
            if cards[n, row, see.POSITION] == 1:
                sides[side, 0] = max(sides[side, 0], stands)
                sides[side, 2] += stands


@rule
def clipped(points):
    """Points in thousands, clipped to -3 to 3."""
    return max(-3.0, min(3.0, points * THOUSAND))


@rule
def read_strength(cards, n, row, sides, out, k, first):
    """Write the strength of a card, and its comparison with the other side."""
    attack = float(number(cards, n, row, see.ATTACK))
    defense = float(number(cards, n, row, see.DEFENSE))
    out[n, k, first] = attack * THOUSAND
    out[n, k, first + 1] = defense * THOUSAND
    out[n, k, first + 2] = cards[n, row, see.LEVEL] * 0.25
    out[n, k, first + 3] = cards[n, row, see.COUNTERS] * 0.25
    out[n, k, first + 4] = cards[n, row, see.NEGATED]
    if cards[n, row, see.TYPES] and cards[n, row, see.LOCATION] != see.ON_SZONE:
        other = 1 - np.int64(cards[n, row, see.CONTROLLER])
        strongest = max(sides[other, 0], 0.0)
        out[n, k, first + 5] = clipped(attack - strongest)
        out[n, k, first + 6] = clipped(attack - max(sides[other, 1], 0.0))
        out[n, k, first + 7] = clipped(defense - strongest)


@rule
def read_slot(cards, n, row, sides, at, slots, numbers):
    """Write the slot of a card on the field or in the hand."""
    slots[n, at, 0] = known(cards[n, row, see.ID_HIGH], cards[n, row, see.ID_LOW])
    slots[n, at, 1] = 1 + group_of(cards[n, row, see.LOCATION], cards[n, row, see.CONTROLLER])
    slots[n, at, 2] = min(np.int64(cards[n, row, see.POSITION]), POSITIONS - 1)
    read_strength(cards, n, row, sides, numbers, at, 0)


@rule
def read_cards(cards, n, sides, slots, numbers, piles):
    """Write cards on the field and in the hand to slots, and add all others to sums."""
    at = 0
    for row in range(see.SHOWN):
        location = cards[n, row, see.LOCATION]
        if (location == see.ON_MZONE or location == see.ON_SZONE) and at < SLOTS:
            read_slot(cards, n, row, sides, at, slots, numbers)
            at += 1
    for row in range(see.SHOWN):
        location = cards[n, row, see.LOCATION]
        code = known(cards[n, row, see.ID_HIGH], cards[n, row, see.ID_LOW])
        if location == see.IN_HAND and code and at < SLOTS:
            read_slot(cards, n, row, sides, at, slots, numbers)
            at += 1
        elif location >= see.IN_GRAVE and code:
            bag = 2 * (location - see.IN_GRAVE) + np.int64(cards[n, row, see.CONTROLLER])
            bag = min(bag, BAGS - 1)
            for k in range(WIDTH):
                piles[n, bag, k] += CODES[code, k]


@rule
def read_action(rows, n, k, out):
    """Write the categories of an option or of a past action."""
    out[n, k, MESSAGE] = min(np.int64(rows[n, k, act.MESSAGE]), SIZES[MESSAGE] - 1)
    out[n, k, ACTION] = min(np.int64(rows[n, k, act.ACT]), SIZES[ACTION] - 1)
    out[n, k, PHASE] = FINISH if rows[n, k, act.FINISH] else min(np.int64(rows[n, k, act.PHASE]), FINISH - 1)
    out[n, k, EFFECT] = min(np.int64(rows[n, k, act.EFFECT]), SIZES[EFFECT] - 1)
    place = np.int64(rows[n, k, act.PLACE_ID])
    if place:
        # Of a zone only its side and whether it is for monsters are used.
        out[n, k, POSITION] = FIRST_ZONE + 2 * (place > 15) + ((place - 1) % 15 > 6)
    else:
        out[n, k, POSITION] = min(np.int64(rows[n, k, act.POSITION_ID]), FIRST_ZONE - 1)
    out[n, k, CODE] = known(rows[n, k, act.ID_HIGH], rows[n, k, act.ID_LOW])


@rule
def read_option(cards, totals, actions, past, n, k, sides, options, numbers):
    """Write the features of an option: its categories, its card, and the result of its attack."""
    read_action(actions, n, k, options)
    row = np.int64(actions[n, k, act.SPEC]) - 1
    if row < 0 or row >= see.SHOWN:
        return
    options[n, k, WHERE] = min(2 * np.int64(cards[n, row, see.LOCATION]) + cards[n, row, see.CONTROLLER], 15)
    read_strength(cards, n, row, sides, numbers, k, BATTLE_NUMBERS)
    if options[n, k, POSITION] == 0:
        options[n, k, POSITION] = min(np.int64(cards[n, row, see.POSITION]), FIRST_ZONE - 1)
    done = actions[n, k, act.ACT]
    life = np.int64(totals[n, 2]) * 256 + totals[n, 3]
    attack = float(number(cards, n, row, see.ATTACK))
    if done == act.DIRECT_ATTACK:
        read_outcome(numbers, n, k, attack, attack >= life)
    elif done == act.ATTACK:
        read_outcome(numbers, n, k, attack - sides[1, 1], False)
    elif options[n, k, MESSAGE] == 3 and cards[n, row, see.CONTROLLER] == 1:
        last = last_action(past, n)
        if past[n, last, act.ACT] == act.ATTACK:
            code = np.int64(past[n, last, act.ID_HIGH]) * 256 + past[n, last, act.ID_LOW]
            margin = attack_of(cards, n, code) - wall(cards, n, row)
            read_outcome(numbers, n, k, margin, cards[n, row, see.POSITION] == 1 and margin >= life)


@rule
def read_outcome(numbers, n, k, margin, lethal):
    """Write the margin of an attack, and whether it wins, destroys both monsters, or ends the duel."""
    numbers[n, k, 0] = clipped(margin)
    numbers[n, k, 1] = 1.0 if margin > 0 else -1.0
    numbers[n, k, 2] = margin == 0
    numbers[n, k, 3] = lethal


@rule
def read_advice(cards, totals, actions, past, n, numbers):
    """Write the greedy player's choice and its points for every option, from which learning starts."""
    for k in range(MOST_ACTIONS):
        if actions[n, k, act.MESSAGE]:
            numbers[n, k, POINTS] = clipped(float(points(cards, totals, actions, past, n, k)))
    numbers[n, favourite(cards, totals, actions, past, n), FAVOURITE] = 1.0


@kernel
def read_all(cards, totals, actions, past, slots, slot_numbers, piles, sums, options, option_numbers, deeds, ages):
    """Compute features [N, …], passed as arrays of zeros, from the arrays [N, …] of the observation."""
    sides = np.zeros((2, 3))
    for n in range(len(cards)):
        weigh_sides(cards, n, sides)
        read_cards(cards, n, sides, slots, slot_numbers, piles)
        for side in range(2):
            for k in range(3):
                sums[n, 3 * side + k] = sides[side, k] * THOUSAND
        for k in range(MOST_ACTIONS):
            if actions[n, k, act.MESSAGE]:
                read_option(cards, totals, actions, past, n, k, sides, options, option_numbers)
        read_advice(cards, totals, actions, past, n, option_numbers)
        for k in range(PAST):
            read_action(past, n, k, deeds)
            ages[n, k, min(np.int64(past[n, k, act.AGE]), AGES - 1)] = past[n, k, act.MESSAGE] != 0


def read(
    observation: Mapping[str, Array], agree: Callable[[dict[str, int]], dict[str, int]] = dict
) -> dict[str, Array]:
    """Features of N observations; options are cut to a length on which all processes of a run agree (`agree`)."""
    rows = len(observation["cards_"])
    shown: dict[str, Array] = {
        "slots": np.zeros((rows, SLOTS, 3), np.int16),
        "slot_numbers": np.zeros((rows, SLOTS, SLOT_NUMBERS), np.float32),
        "piles": np.zeros((rows, BAGS, WIDTH), np.float32),
        "sums": np.zeros((rows, TOTALS), np.float32),
        "options": np.zeros((rows, MOST_ACTIONS, COLUMNS), np.int16),
        "option_numbers": np.zeros((rows, MOST_ACTIONS, FAVOURITE + 1), np.float32),
        "deeds": np.zeros((rows, PAST, COLUMNS), np.int16),
        "ages": np.zeros((rows, PAST, AGES), np.uint8),
    }
    names = ("global_", "actions_", "h_actions_")
    totals, actions, past = (np.ascontiguousarray(observation[name]) for name in names)
    read_all(seen(observation), totals, actions, past, *shown.values())
    used: Array = actions[..., act.MESSAGE].max(axis=0, initial=0)
    length = agree({"options": next(length for length in BUCKETS if not used[length:].any())})["options"]
    cut = {name: shown[name][:, :length] for name in ("options", "option_numbers")}
    return shown | cut | {"global_": totals}
