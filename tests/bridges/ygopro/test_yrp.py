"""Replays of the YGOPro client: exact round trips, and a LudusError for damaged files."""

import lzma
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.bridges.ygopro.yrp import COMPRESSED, HEADER, MAX_BYTES, TAG, Yrp, from_bytes, read_yrp, to_bytes, write_yrp
from ludus.games.duel.ydk import Deck
from ludus.types import LudusError

U32 = st.integers(0, 2**32 - 1)
CODES = st.lists(U32, max_size=60).map(tuple)
DECKS = st.tuples(CODES, CODES).map(lambda parts: Deck(*parts))
LETTERS = st.characters(blacklist_categories=("Cs",), blacklist_characters="\0")
NAMES = st.text(LETTERS, max_size=19).filter(lambda name: len(name.encode("utf-16-le")) <= 38)
COUNT = st.integers(0, 2**31 - 1)
REPLAYS = st.builds(
    Yrp, st.tuples(DECKS, DECKS), st.lists(st.binary(min_size=1, max_size=255), max_size=20).map(tuple),
    st.tuples(NAMES, NAMES), st.integers(1, 2**31 - 1), COUNT, COUNT, U32, U32, U32, U32, st.sampled_from([0, 16, 20]),
)  # fmt: skip
SMALL = Yrp((Deck((1, 2), (3, 4)), Deck((5,))), (b"\1\0\0\0", b"\2"), ("Yugi", "海馬"), seed=7, start_time=9)


def packed(data: bytes) -> bytes:
    """A replay as the client compresses it: LZMA properties in the header, the stream without its own header."""
    stream = lzma.compress(data[32:], lzma.FORMAT_ALONE)
    head = list(HEADER.unpack(data[:32]))
    head[2] |= COMPRESSED
    head[4], head[6] = len(data) - 32, stream[:5] + bytes(3)
    return HEADER.pack(*head) + stream[13:]


def error_of(data: bytes) -> str:
    with pytest.raises(LudusError) as caught:
        from_bytes(data, "a.yrp")
    return str(caught.value)


@given(REPLAYS)
def test_replays_round_trip(replay):
    data = to_bytes(replay)
    assert from_bytes(data) == from_bytes(packed(data)) == replay
    assert to_bytes(from_bytes(data)) == data


def test_the_layout_equals_that_of_the_client():
    numbers = (0x31707279, 0x1360, 0x10, 7, 0, 9, 0, 0)
    names = "Yugi".ljust(20, "\0") + "海馬".ljust(20, "\0")
    duel = struct.pack("<4i", 8000, 5, 1, 5 << 16)
    cards = struct.pack("<9i", 2, 1, 2, 2, 4, 3, 1, 5, 0)
    answers = b"\4\1\0\0\0" + b"\1\2"
    assert to_bytes(SMALL) == struct.pack("<8I", *numbers) + names.encode("utf-16-le") + duel + cards + answers


def test_reading_and_writing_files(tmp_path):
    write_yrp(SMALL, tmp_path / "a.yrp")
    assert read_yrp(tmp_path / "a.yrp") == SMALL
    (tmp_path / "large.yrp").write_bytes(to_bytes(SMALL).ljust(MAX_BYTES + 1, b"\1"))
    with pytest.raises(LudusError, match="more than 512 KiB"):
        read_yrp(tmp_path / "large.yrp")
    for path in (tmp_path, tmp_path / "none.yrp", "a\0.yrp"):
        with pytest.raises(LudusError, match="cannot be read"):
            read_yrp(path)
    with pytest.raises(LudusError, match="cannot be written"):
        write_yrp(SMALL, tmp_path / "none" / "a.yrp")


def test_a_truncated_replay_raises_or_has_fewer_answers():
    data = to_bytes(SMALL)
    whole = {len(data), len(data) - 2, len(data) - 7}
    for size in range(len(data)):
        if size in whole:
            cut = from_bytes(data[:size])
            assert cut.responses == SMALL.responses[: len(cut.responses)] and cut.decks == SMALL.decks
        else:
            assert "ends in" in error_of(data[:size])


@given(st.binary(max_size=400), st.booleans())
def test_arbitrary_bytes_are_a_replay_or_raise(data, begun):
    try:
        replay = from_bytes((b"yrp1" if begun else b"") + data)
    except LudusError:
        return
    assert from_bytes(to_bytes(replay)) == replay


@given(REPLAYS, st.booleans(), st.data())
def test_damaged_bytes_are_a_replay_or_raise(replay, pack, data):
    damaged = bytearray(packed(to_bytes(replay)) if pack else to_bytes(replay))
    for place in data.draw(st.lists(st.integers(0, min(len(damaged), 300) - 1), min_size=1, max_size=4)):
        damaged[place] = data.draw(st.integers(0, 255))
    try:
        found = from_bytes(bytes(damaged))
    except LudusError:
        return
    assert from_bytes(to_bytes(found)) == found


def changed(place: int, number: int) -> bytes:
    data = bytearray(to_bytes(SMALL))
    data[place : place + 4] = struct.pack("<I", number)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends in its header"),
        (b"#main\n89631139\n" * 9, 'does not begin with "yrp1"'),
        (changed(0, 0x58707279), "is a yrpX replay"),
        (changed(0, 0x32707279), "is a yrp2 replay"),
        (changed(8, TAG), "tag duel"),
        (changed(8, COMPRESSED), "ends in its names"),
        (packed(to_bytes(SMALL))[:-9], "decompress"),
        (packed(changed(112, 0)), "cannot start with 0 life points"),
        (changed(116, 2**32 - 1), "-1 cards"),
        (changed(128, 2**31), "the first main deck has 2147483648 cards"),
        (changed(128, 100), "ends in the first main deck"),
        (to_bytes(SMALL) + b"\0", "answer 3 at byte 171 is empty"),
        (to_bytes(SMALL) + b"\5abc", "ends in answer 3"),
        (HEADER.pack(0x31707279, 0, COMPRESSED, 0, 2**31, 0, b"\x5d\0\0\1\0\0\0\0"), "more than 524288"),
        (HEADER.pack(0x31707279, 0, COMPRESSED, 0, 999, 0, b"\x5d\xff\xff\xff\xff\0\0\0") + bytes(99), "decompress"),
    ],
)
def test_invalid_replays_raise(data, message):
    error = error_of(data)
    assert message in error and error.startswith("a.yrp")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"names": ("a" * 20, "b")}, "is not a valid name in a replay"),
        ({"names": ("a", "b\0c")}, "is not a valid name in a replay"),
        ({"names": ("\ud800", "b")}, "is not a valid name in a replay"),
        ({"responses": (b"",)}, "1 to 255 bytes, not 0"),
        ({"responses": (bytes(256),)}, "1 to 255 bytes, not 256"),
        ({"responses": (bytes(255),) * 3000}, "more than 512 KiB"),
        ({"seed": 2**32}, "does not fit"),
        ({"lp": 0}, "cannot start with 0 life points"),
        ({"flag": COMPRESSED}, "only uncompressed replays"),
        ({"decks": (Deck((-1,)), Deck(()))}, "does not fit"),
        ({"decks": (Deck((1,) * 251), Deck(()))}, "has 251 cards"),
    ],
)
def test_replays_that_cannot_be_written_raise(fields, message):
    with pytest.raises(LudusError, match=message):
        to_bytes(SMALL._replace(**fields))
