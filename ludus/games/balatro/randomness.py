"""The random numbers of the original game, so that its seeds give the same runs here.

Every draw names a stream. A stream is a float that starts as a hash of its name and the seed and advances with each
draw; the float then seeds LuaJIT's generator (four combined Tausworthe words), which gives the number.
"""

import math

import numpy as np

from ludus.games.balatro.tables.streams import (
    ANTE_MARK, FIRST_OF_ANTE, FIRST_STREAMS, LENGTHS_AT_FIRST, LETTERS, LONGEST, NAMES_AT_FIRST, REPEATED,
)  # fmt: skip
from ludus.dsl import rule

ANTES_KEPT = 3
"""number of antes whose streams are stored: vouchers go back two antes at most, where streams continue"""
RESAMPLES = 96
"""maximum number of stored streams of repeated draws"""
TWO_51, FIVE_13 = 2.0**51, np.uint64(5**13)
S13, S25, LOW_25, HALF = np.uint64(13), np.uint64(25), np.uint64(2**25 - 1), np.uint64(2**12)
RESAMPLE = np.array(list(b"_resample"), np.uint8)
ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
MANTISSA, ONE = np.uint64(0x000FFFFFFFFFFFFF), np.uint64(0x3FF0000000000000)
KEPT_BITS = np.array([63, 58, 55, 47], np.uint64)
LEFT, BACK = np.array([31, 19, 24, 21], np.uint64), np.array([18, 28, 7, 8], np.uint64)
RIGHT = KEPT_BITS - BACK
MASKS = np.array([ONES << (np.uint64(64) - kept) for kept in KEPT_BITS])
LEAST_WORDS = np.array([np.uint64(1) << (np.uint64(64) - kept) for kept in KEPT_BITS])


@rule
def hash_step(value, byte, place):
    """Add one character, at position `place` counted from 1, to a hash."""
    value = (1.1239285023 / value) * byte * math.pi + math.pi * place
    return value - math.floor(value)


@rule
def digits_of(number):
    """The number of characters of a whole number in decimal."""
    count = 1 if number >= 0 else 2
    number = abs(number)
    while number >= 10:
        number //= 10
        count += 1
    return count


@rule
def hash_number(value, number, place):
    """Add the decimal digits of a whole number, whose last digit is at position `place`, to a hash."""
    left = abs(number)
    while True:
        value = hash_step(value, 48 + left % 10, place)
        place -= 1
        left //= 10
        if left == 0:
            break
    return hash_step(value, 45, place) if number < 0 else value


@rule
def hash_seed(state, before):
    """The hash of the seed after `before` other characters; hashing starts at the last character."""
    value = 1.0
    for index in range(state.seed_letters - 1, -1, -1):
        value = hash_step(value, state.seed_text[index], before + index + 1)
    return value


@rule
def name_length(stream, ante):
    length = 0
    while length < LONGEST and LETTERS[stream, length] != 0:
        length += 1
    return length - 1 + digits_of(ante) if stream >= FIRST_OF_ANTE else length


@rule
def hash_name(state, stream, ante, repeat):
    """The hash of a stream's name, followed by `_resample` and a number from the second draw on, and the seed."""
    length = name_length(stream, ante)
    behind = len(RESAMPLE) + digits_of(repeat) if repeat else 0
    value = hash_seed(state, length + behind)
    place = length + behind
    if repeat:
        value = hash_number(value, repeat, place)
        place -= digits_of(repeat)
        for index in range(len(RESAMPLE) - 1, -1, -1):
            value = hash_step(value, RESAMPLE[index], place)
            place -= 1
    index = LONGEST - 1
    while LETTERS[stream, index] == 0:
        index -= 1
    while index >= 0:
        letter = LETTERS[stream, index]
        if letter == ANTE_MARK:
            value = hash_number(value, ante, place)
            place -= digits_of(ante)
        else:
            value = hash_step(value, letter, place)
            place -= 1
        index -= 1
    return value


@rule
def begin_streams(state):
    """Hash the names of the streams that every run starts with, in parallel, which is much faster than one by one."""
    scratch = state.resample_values
    for index in range(len(FIRST_STREAMS)):
        scratch[index] = 1.0
    for back in range(NAMES_AT_FIRST.shape[1] + state.seed_letters):
        for index in range(len(FIRST_STREAMS)):
            length = LENGTHS_AT_FIRST[index]
            place = length + state.seed_letters - back
            if place > length:
                scratch[index] = hash_step(scratch[index], state.seed_text[place - length - 1], place)
            elif place > 0:
                scratch[index] = hash_step(scratch[index], NAMES_AT_FIRST[index, place - 1], place)
    for index in range(REPEATED):
        state.resample_names[index] = np.int32(slot_of(state, FIRST_STREAMS[index]) * 256 + 2)
    state.resamples = REPEATED
    for index in range(REPEATED, len(FIRST_STREAMS)):
        state.streams[slot_of(state, FIRST_STREAMS[index])] = scratch[index]


@rule
def stepped(value):
    """The next float of a stream: the fractional part of a sum between 2 and 4, rounded to 13 decimals.

    Such a number is an integer multiple m of 2^-51, so its thirteen decimals are m * 5^13 / 2^38, rounded. This is
    exact in integers; m is split in two so that the products fit in 64 bits.
    """
    value = 2.134453429141 + value * 1.72431234
    multiple = np.uint64((value - math.floor(value)) * TWO_51)
    product = (multiple >> S25) * FIVE_13 + (((multiple & LOW_25) * FIVE_13) >> S25)
    return np.float64((product + HALF) >> S13) / 1e13


@rule
def slot_of(state, stream):
    """The index at which a stream is stored; streams of an ante are stored for the last three antes."""
    if stream < FIRST_OF_ANTE:
        return np.int64(stream)
    return np.int64(stream) + np.int64(state.ante % ANTES_KEPT) * (len(LETTERS) - FIRST_OF_ANTE)


@rule
def pseudoseed(state, stream):
    """Advance a stream; returns a number between 0 and 1 that seeds the generator."""
    slot = slot_of(state, stream)
    value = state.streams[slot]
    if value == 0.0:
        value = hash_name(state, stream, state.ante, 0)
    value = stepped(value)
    state.streams[slot] = value
    return (value + state.seed_hash) / 2.0


@rule
def pseudoseed_again(state, stream, repeat):
    """Like `pseudoseed`, for the `repeat`-th draw (from 2) after draws that hit unavailable entries."""
    name = np.int32(slot_of(state, stream) * 256 + repeat)
    index = 0
    while index < state.resamples and state.resample_names[index] != name:
        index += 1
    if index == state.resamples:
        index = min(index, RESAMPLES - 1)
        state.resamples = index + 1
        state.resample_names[index] = name
        state.resample_values[index] = hash_name(state, stream, state.ante, repeat)
    value = stepped(state.resample_values[index])
    state.resample_values[index] = value
    return (value + state.seed_hash) / 2.0


@rule
def enter_ante(state, ante):
    """Go to an ante; a new ante overwrites the streams of the oldest stored one."""
    state.ante = ante
    if ante > state.furthest_ante:
        state.furthest_ante = ante
        kinds = len(LETTERS) - FIRST_OF_ANTE
        first = FIRST_OF_ANTE + (ante % ANTES_KEPT) * kinds
        for slot in range(first, first + kinds):
            state.streams[slot] = 0.0
        kept = 0
        for index in range(state.resamples):
            slot = state.resample_names[index] // 256
            if not first <= slot < first + kinds:
                state.resample_names[kept] = state.resample_names[index]
                state.resample_values[kept] = state.resample_values[index]
                kept += 1
        state.resamples = kept


@rule
def stepped_words(words):
    """The four words of the generator after one step."""
    one, two, three, four = words
    return (
        (((one << LEFT[0]) ^ one) >> RIGHT[0]) ^ ((one & MASKS[0]) << BACK[0]),
        (((two << LEFT[1]) ^ two) >> RIGHT[1]) ^ ((two & MASKS[1]) << BACK[1]),
        (((three << LEFT[2]) ^ three) >> RIGHT[2]) ^ ((three & MASKS[2]) << BACK[2]),
        (((four << LEFT[3]) ^ four) >> RIGHT[3]) ^ ((four & MASKS[3]) << BACK[3]),
    )


@rule
def first_word(seed, word):
    bits = np.float64(seed).view(np.uint64)
    return bits + LEAST_WORDS[word] if bits < LEAST_WORDS[word] else bits


@rule
def seeded_words(seed):
    """The words of LuaJIT's generator after seeding with a float."""
    one = seed * math.pi + math.e
    two = one * math.pi + math.e
    three = two * math.pi + math.e
    four = three * math.pi + math.e
    words = (first_word(one, 0), first_word(two, 1), first_word(three, 2), first_word(four, 3))
    for _ in range(10):
        words = stepped_words(words)
    return words


@rule
def as_float(words):
    """The words as a float in [0, 1)."""
    return np.uint64(((words[0] ^ words[1] ^ words[2] ^ words[3]) & MANTISSA) | ONE).view(np.float64) - 1.0


@rule
def keep_words(state, words):
    state.generator[0], state.generator[1], state.generator[2], state.generator[3] = words


@rule
def words_of(state):
    return state.generator[0], state.generator[1], state.generator[2], state.generator[3]


@rule
def seed_generator(state, seed):
    """Seed the generator in the state."""
    keep_words(state, seeded_words(seed))


@rule
def draw_float(state):
    """A float in [0, 1)."""
    words = stepped_words(words_of(state))
    keep_words(state, words)
    return as_float(words)


@rule
def draw_below(state, count):
    """A whole number from 0 to count - 1."""
    return np.int64(math.floor(draw_float(state) * count))


@rule
def uniform(state, stream):
    """A float in [0, 1) from a stream."""
    seed_generator(state, pseudoseed(state, stream))
    return draw_float(state)


@rule
def below(state, stream, count):
    """A whole number from 0 to count - 1 from a stream."""
    seed_generator(state, pseudoseed(state, stream))
    return draw_below(state, count)


@rule
def below_again(state, stream, repeat, count):
    """Like `below`, for the `repeat`-th draw in a row, from 2."""
    seed_generator(state, pseudoseed_again(state, stream, repeat))
    return draw_below(state, count)
