"""The core in this process: the user's libocgcore, called through its C interface."""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Callable
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_int,
    c_int32,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)

import numpy as np

from ludus.bridges.ygopro.compiled_driver import CALLED, SCRATCH, Scratch, drive
from ludus.bridges.ygopro.compiled_driver import PASS as PASS_INDEX
from ludus.bridges.ygopro.core import (
    DECK,
    EXTRA,
    MAJOR,
    PASS,
    QUERIES,
    WIN,
    Library,
    Output,
    Setup,
    last_message,
    offers_nothing,
)
from ludus.bridges.ygopro.observations import Observer
from ludus.types import Array, LudusError

ENDED, AWAITING = 0, 1
FACE_DOWN_DEFENSE = 8
LOG_LENGTH = 50


class OCGCardData(Structure):
    _fields_ = [
        ("code", c_uint32), ("alias", c_uint32), ("setcodes", POINTER(c_uint16)), ("type", c_uint32),
        ("level", c_uint32), ("attribute", c_uint32), ("race", c_uint64), ("attack", c_int32), ("defense", c_int32),
        ("lscale", c_uint32), ("rscale", c_uint32), ("link_marker", c_uint32),
    ]  # fmt: skip


class OCGPlayer(Structure):
    _fields_ = [("starting_points", c_uint32), ("starting_draws", c_uint32), ("draws_a_turn", c_uint32)]


CardReader = CFUNCTYPE(None, c_void_p, c_uint32, POINTER(OCGCardData))
CardReaderDone = CFUNCTYPE(None, c_void_p, POINTER(OCGCardData))
ScriptReader = CFUNCTYPE(c_int, c_void_p, c_void_p, c_char_p)
LogHandler = CFUNCTYPE(None, c_void_p, c_char_p, c_int)


class OCGDuelOptions(Structure):
    _fields_ = [
        ("seed", c_uint64 * 4), ("flags", c_uint64), ("team1", OCGPlayer), ("team2", OCGPlayer),
        ("card_reader", CardReader), ("payload1", c_void_p), ("script_reader", ScriptReader), ("payload2", c_void_p),
        ("log_handler", LogHandler), ("payload3", c_void_p), ("card_reader_done", CardReaderDone),
        ("payload4", c_void_p), ("enable_unsafe_libraries", c_uint8),
    ]  # fmt: skip


class OCGNewCardInfo(Structure):
    _fields_ = [
        ("team", c_uint8), ("duelist", c_uint8), ("code", c_uint32), ("con", c_uint8), ("loc", c_uint32),
        ("seq", c_uint32), ("pos", c_uint32),
    ]  # fmt: skip


class OCGQueryInfo(Structure):
    _fields_ = [("flags", c_uint32), ("con", c_uint8), ("loc", c_uint32), ("seq", c_uint32), ("overlay_seq", c_uint32)]


FUNCTIONS: dict[str, tuple[type | None, list[type]]] = {
    "OCG_GetVersion": (None, [POINTER(c_int), POINTER(c_int)]),
    "OCG_CreateDuel": (c_int, [POINTER(c_void_p), POINTER(OCGDuelOptions)]),
    "OCG_DestroyDuel": (None, [c_void_p]),
    "OCG_DuelNewCard": (None, [c_void_p, POINTER(OCGNewCardInfo)]),
    "OCG_StartDuel": (None, [c_void_p]),
    "OCG_DuelProcess": (c_int, [c_void_p]),
    "OCG_DuelGetMessage": (c_void_p, [c_void_p, POINTER(c_uint32)]),
    "OCG_DuelSetResponse": (None, [c_void_p, c_char_p, c_uint32]),
    "OCG_LoadScript": (c_int, [c_void_p, c_char_p, c_uint32, c_char_p]),
    "OCG_DuelQueryLocation": (c_void_p, [c_void_p, POINTER(c_uint32), POINTER(OCGQueryInfo)]),
    "OCG_DuelQueryField": (c_void_p, [c_void_p, POINTER(c_uint32)]),
}
"""result and argument types in version 11 (earlier versions passed structures by value)"""
QUERY_STRUCTS = [
    None if query.location == 0 else OCGQueryInfo(query.flags, query.player, query.location) for query in QUERIES
]


class NativeCore:
    """libocgcore, loaded once for any number of duels."""

    def __init__(self, library: Library, path: str | pathlib.Path) -> None:
        self.library, self.log = library, list[str]()
        self.functions = load(pathlib.Path(path))
        self.version = _version(self.functions, path)
        self._card_data: dict[int, OCGCardData] = {}
        self.called = np.array(
            [ctypes.cast(getattr(self.functions, name), c_void_p).value for name in CALLED], np.int64
        )
        words = np.zeros(SCRATCH, np.int64)
        words[PASS_INDEX] = -1
        self.scratch = Scratch(words.ctypes.data, words)
        self.has_effects = False
        """whether any script was loaded"""
        self._callbacks = (CardReader(self._read_card), ScriptReader(self._load_script), LogHandler(self._log_message))

    def open(self, setup: Setup) -> NativeDuel:
        """Open a new duel; the core requests cards and scripts through callbacks."""
        card_reader, script_reader, log_handler = self._callbacks
        player = OCGPlayer(setup.points, setup.opening, setup.draws)
        options = OCGDuelOptions(
            seed=(c_uint64 * 4)(*setup.seed), flags=setup.flags, team1=player, team2=player, card_reader=card_reader,
            script_reader=script_reader, log_handler=log_handler,
        )  # fmt: skip
        duel = c_void_p()
        status = self.functions.OCG_CreateDuel(byref(duel), byref(options))
        if status != 0 or not duel.value:
            raise LudusError(f"the core cannot open a duel: OCG_CreateDuel returned {status}")
        self._add_cards(duel, setup)
        return NativeDuel(self, duel)

    def play(self, tables: Array, which: Array, observer: Observer) -> int:
        """Send the answers of these duels and read their output; returns the number of non-simple questions."""
        return drive(tables, which, self.called, observer.show_hidden, self.has_effects, self.scratch, observer.printed)

    def close(self) -> None:
        """Do nothing; the library stays loaded."""

    def _add_cards(self, duel: c_void_p, setup: Setup) -> None:
        for name, text in self.library.first_scripts():
            self.has_effects = True
            if not self.functions.OCG_LoadScript(duel, text, len(text), name.encode()):
                raise LudusError(
                    f"the core cannot load {name}: {'; '.join(self.log[-3:])}; the script may be of another version"
                )
        for player, (main, extra) in enumerate(setup.decks):
            for where, codes in ((DECK, main), (EXTRA, extra)):
                for code in codes:
                    card = OCGNewCardInfo(player, 0, code, player, where, 0, FACE_DOWN_DEFENSE)
                    self.functions.OCG_DuelNewCard(duel, byref(card))
        self.functions.OCG_StartDuel(duel)

    def _read_card(self, _payload: int | None, code: int, data: ctypes._Pointer[OCGCardData]) -> None:
        """Callback for card data. The core copies the data later, so the array of sets is kept alive."""
        if code not in self._card_data:
            card = self.library.card(code)
            if card is None:
                return
            sets = (c_uint16 * (len(card.sets) + 1))(*card.sets, 0)
            pointer = ctypes.cast(sets, POINTER(c_uint16))
            self._card_data[code] = OCGCardData(card.code, card.alias, pointer, *card[2:11])
        data[0] = self._card_data[code]

    def _load_script(self, _payload: int | None, duel: int, name: bytes) -> int:
        text = self.library.script(name.decode())
        self.has_effects = self.has_effects or bool(text)
        return int(self.functions.OCG_LoadScript(duel, text, len(text), name)) if text else 0

    def _log_message(self, _payload: int | None, text: bytes, kind: int) -> None:
        self.log = [*self.log[1 - LOG_LENGTH :], text.decode(errors="replace")]


class NativeDuel:
    """One duel inside the library."""

    def __init__(self, core: NativeCore, duel: c_void_p) -> None:
        self._functions, self._duel, self._length = core.functions, duel, c_uint32()
        self.number = duel.value or 0
        self._core = core
        """keeps the callbacks alive as long as the duel"""

    def run(self, response: bytes = b"") -> Output:
        over, messages = self._run_to_choice(response)
        return Output(over, messages, self._query_all())

    def query_all(self) -> Output:
        return Output(False, b"", self._query_all())

    def _run_to_choice(self, response: bytes) -> tuple[bool, bytes]:
        """Run until a player has a choice; returns whether the duel is over, and all messages."""
        functions, duel, messages = self._functions, self._duel, list[bytes]()
        if response:
            functions.OCG_DuelSetResponse(duel, response, len(response))
        while True:
            status = functions.OCG_DuelProcess(duel)
            messages.append(self._copy(functions.OCG_DuelGetMessage))
            newest = last_message(messages[-1])
            if status == ENDED or newest[:1] == WIN:
                return True, b"".join(messages)
            if status == AWAITING:
                if not offers_nothing(newest):
                    return False, b"".join(messages)
                functions.OCG_DuelSetResponse(duel, PASS, len(PASS))

    def close(self) -> None:
        self._functions.OCG_DestroyDuel(self._duel)

    def _query_all(self) -> list[bytes]:
        location, field = self._functions.OCG_DuelQueryLocation, self._functions.OCG_DuelQueryField
        return [self._copy(location, byref(query)) if query else self._copy(field) for query in QUERY_STRUCTS]

    def _copy(self, function: Callable[..., int | None], *arguments: object) -> bytes:
        start = function(self._duel, byref(self._length), *arguments)
        return ctypes.string_at(start, self._length.value) if start else b""


def load(path: pathlib.Path) -> ctypes.CDLL:
    """Load the functions of the library; raises LudusError if it is not a usable core."""
    if not path.is_file():
        raise LudusError(f"there is no core at {path}; set core=… to your libocgcore.so (.dll, .dylib)")
    try:
        functions = ctypes.CDLL(str(path.resolve()))
    except OSError as error:
        raise LudusError(f"{path} cannot be loaded as a library: {error}") from None
    missing = [name for name in FUNCTIONS if not hasattr(functions, name)]
    if missing:
        old = " (it is an older core, with create_duel)" if hasattr(functions, "create_duel") else ""
        raise LudusError(f"{path} is not a core with the OCG interface{old}: it lacks {', '.join(missing)}")
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(functions, name)
        function.restype, function.argtypes = result, arguments
    return functions


def _version(functions: ctypes.CDLL, path: str | pathlib.Path) -> tuple[int, int]:
    major, minor = c_int(), c_int()
    functions.OCG_GetVersion(byref(major), byref(minor))
    if major.value != MAJOR:
        found = f"{major.value}.{minor.value}"
        raise LudusError(f"{path} has version {found} of the OCG interface, but Ludus supports {MAJOR}; "
                         f"build or download edo9300's ygopro-core of version {MAJOR}")  # fmt: skip
    return major.value, minor.value
