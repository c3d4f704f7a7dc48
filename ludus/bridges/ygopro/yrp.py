"""`.yrp` replays of the YGOPro client: names, decks, and all answers.

    u32 id, version, flag, seed, size, start time; 8 bytes of packing   twice a name of 20 UTF-16 units
    i32 life points, first hand, cards a draw; u32 options              twice u32 n, n main codes, u32 m, m extra codes
    answers to the end: u8 length, bytes

A replay does not store the result; a core of the same version reproduces it. All numbers are little-endian.
"""

from __future__ import annotations

import lzma
import pathlib
import struct
from typing import NamedTuple

from ludus.games.duel.ydk import Deck
from ludus.types import LudusError

ID, VERSION = 0x31707279, 0x1360
COMPRESSED, TAG, SINGLE, UNIFORM = 0x1, 0x2, 0x8, 0x10
"""bits of the flag: LZMA compression; four players; a puzzle; unbiased shuffling"""
OTHER_IDS = {0x32707279: "yrp2", 0x58707279: "yrpX"}
MASTER_RULE_5 = 5 << 16
HEADER, NAMES, PARAMETERS = struct.Struct("<6I8s"), struct.Struct("<40s40s"), struct.Struct("<3iI")
MAX_BYTES = 0x80000
"""maximum size that the client reads, compressed or not"""
MAX_CARDS, MAX_ANSWER, MAX_NAME = 250, 255, 19
MAX_MEMORY = 2**26


class Yrp(NamedTuple):
    """One recorded duel.

    A file stores neither the name nor the side of a deck; extra decks are in reverse order in the file, but not here.
    """

    decks: tuple[Deck, Deck]
    responses: tuple[bytes, ...] = ()
    names: tuple[str, str] = ("", "")
    lp: int = 8000
    hand: int = 5
    draw: int = 1
    options: int = MASTER_RULE_5
    seed: int = 0
    start_time: int = 0
    """seconds since 1970"""
    version: int = VERSION
    flag: int = UNIFORM


def write_yrp(replay: Yrp, path: str | pathlib.Path) -> None:
    """Write a replay to a file."""
    data = to_bytes(replay)
    try:
        pathlib.Path(path).write_bytes(data)
    except (OSError, ValueError) as error:
        raise LudusError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from None


def read_yrp(path: str | pathlib.Path) -> Yrp:
    """The replay in a file."""
    try:
        with pathlib.Path(path).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise LudusError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return from_bytes(data, str(path))


def to_bytes(replay: Yrp) -> bytes:
    """A replay as the bytes of an uncompressed file; the inverse of `from_bytes`."""
    if replay.flag & (COMPRESSED | TAG | SINGLE):
        raise LudusError(f"only uncompressed replays of two players can be written, not flag {replay.flag:#x}")
    try:
        head = HEADER.pack(ID, replay.version, replay.flag, replay.seed, 0, replay.start_time, bytes(8))
        parameters = PARAMETERS.pack(replay.lp, replay.hand, replay.draw, replay.options)
        cards = b"".join(_packed(codes) for deck in replay.decks for codes in (deck.main, deck.extra[::-1]))
    except struct.error as error:
        raise LudusError(f"a number in this replay does not fit into a .yrp file: {error}") from None
    names = b"".join(_packed_name(name) for name in replay.names)
    data = b"".join([head, names, parameters, cards, *map(_packed_response, replay.responses)])
    from_bytes(data, "this replay")
    return data


def from_bytes(data: bytes, name: str = "replay") -> Yrp:
    """The replay in the bytes of a file; `name` is used in error messages."""
    if len(data) > MAX_BYTES:
        raise LudusError(f"{name} has more than {MAX_BYTES // 2**10} KiB, the maximum of a .yrp file")
    reader = _Reader(data, name)
    head = reader.header()
    names = reader.names()
    lp, hand, draw, options = reader.parameters()
    decks = reader.deck("first"), reader.deck("second")
    return Yrp(
        decks, reader.responses(), names, lp, hand, draw, options,
        seed=head[3], start_time=head[5], version=head[1], flag=head[2] & ~COMPRESSED,
    )  # fmt: skip


def _packed(codes: tuple[int, ...]) -> bytes:
    return struct.pack(f"<{len(codes) + 1}I", len(codes), *codes)


def _packed_name(name: str) -> bytes:
    units = name.encode("utf-16-le", "surrogatepass")
    if "\0" in name or len(units) > 2 * MAX_NAME or any(0xD800 <= ord(letter) < 0xE000 for letter in name):
        raise LudusError(f"{name!r} is not a valid name in a replay; use at most {MAX_NAME} letters")
    return units.ljust(40, b"\0")


def _packed_response(response: bytes) -> bytes:
    if not 1 <= len(response) <= MAX_ANSWER:
        raise LudusError(f"an answer of a replay has 1 to {MAX_ANSWER} bytes, not {len(response)}")
    return bytes([len(response)]) + response


class _Reader:
    """Reads one part after the other from bytes that may be truncated."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name, self.place = data, name, 0

    def take(self, size: int, what: str) -> bytes:
        if self.place + size > len(self.data):
            raise self.broken(f"it ends in {what}, {len(self.data) - self.place} of {size} bytes at {self.place}")
        self.place += size
        return self.data[self.place - size : self.place]

    def broken(self, why: str) -> LudusError:
        return LudusError(f"{self.name} is not a complete .yrp replay: {why}")

    def header(self) -> tuple[int, ...]:
        """The numbers of the header; the rest is decompressed."""
        *numbers, packing = HEADER.unpack(self.take(HEADER.size, "its header"))
        if numbers[0] in OTHER_IDS:
            raise LudusError(f"{self.name} is a {OTHER_IDS[numbers[0]]} replay; save it as .yrp (yrp1)")
        if numbers[0] != ID:
            raise self.broken('it does not begin with "yrp1"')
        if numbers[2] & (TAG | SINGLE):
            raise LudusError(f"{self.name} is a replay of a tag duel or a puzzle; only duels of two are supported")
        if numbers[2] & COMPRESSED:
            self.data = self.data[: self.place] + self.unpacked(self.data[self.place :], packing, numbers[4])
        return tuple(numbers)

    def unpacked(self, data: bytes, packing: bytes, size: int) -> bytes:
        if size > MAX_BYTES:
            raise self.broken(f"its header gives {size} decompressed bytes, more than {MAX_BYTES}")
        try:
            # With a size in its header, an LZMA stream needs no end marker.
            unpacker = lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=MAX_MEMORY)
            found = unpacker.decompress(packing[:5] + struct.pack("<Q", size) + data, max_length=size)
        except (lzma.LZMAError, EOFError, MemoryError) as error:
            raise self.broken(f"it cannot be decompressed: {error}") from None
        if len(found) != size:
            raise self.broken(f"it decompresses to {len(found)} bytes, not {size} as in its header")
        return found

    def names(self) -> tuple[str, str]:
        first, second = NAMES.unpack(self.take(NAMES.size, "its names"))
        return _name(first), _name(second)

    def parameters(self) -> tuple[int, int, int, int]:
        lp, hand, draw, options = PARAMETERS.unpack(self.take(PARAMETERS.size, "its parameters"))
        if lp < 1 or hand < 0 or draw < 0:
            raise self.broken(f"a duel cannot start with {lp} life points, {hand} cards and {draw} cards per draw")
        return lp, hand, draw, options

    def deck(self, whose: str) -> Deck:
        main = self.codes(f"the {whose} main deck")
        return Deck(main, self.codes(f"the {whose} extra deck")[::-1])

    def codes(self, what: str) -> tuple[int, ...]:
        (count,) = struct.unpack("<I", self.take(4, what))
        if count > MAX_CARDS:
            raise self.broken(f"{what} has {count} cards, more than {MAX_CARDS}")
        return struct.unpack(f"<{count}I", self.take(4 * count, what))

    def responses(self) -> tuple[bytes, ...]:
        found: list[bytes] = []
        while self.place < len(self.data):
            what = f"answer {len(found) + 1}"
            (size,) = self.take(1, what)
            if not size:
                raise self.broken(f"{what} at byte {self.place - 1} is empty")
            found.append(self.take(size, what))
        return tuple(found)


def _name(units: bytes) -> str:
    return units[: 2 * MAX_NAME].decode("utf-16-le", "replace").partition("\0")[0]
