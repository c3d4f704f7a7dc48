"""The game behind the interface of BalatroBot, played by our engine: requests in, answers out, without a network."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable

from ludus import __version__
from ludus.bridges.balatrobot import debugging, files, protocol
from ludus.bridges.balatrobot.moves import checked_order, moves_of, perform
from ludus.bridges.balatrobot.protocol import BAD_REQUEST, INTERNAL_ERROR, INVALID_STATE, MENU, Refusal, Value
from ludus.bridges.balatrobot.run import Run
from ludus.bridges.balatrobot.state import gamestate
from ludus.games.balatro.seeds import parse
from ludus.types import JsonObject, LudusError

SEED = re.compile(r"[1-9A-Za-z0]{1,8}")


class Emulator:
    """The main menu, or one run."""

    def __init__(self, folder: files.Folder | None = None, key: int | None = None) -> None:
        self.run: Run | None = None
        self.folder = folder
        self._key = secrets.randbits(48) if key is None else key
        """the seed of the next run that is started without a seed"""

    @property
    def state(self) -> str:
        return self.run.state if self.run else MENU

    def answer(self, body: bytes) -> bytes:
        """The answer to a request; one that is refused changes nothing."""
        request: Value = None
        try:
            given, request = protocol.parse(body)
            method, params = protocol.check(given)
            return protocol.encoded(protocol.result(self.call(method, params), request))
        except Refusal as refusal:
            return protocol.encoded(protocol.error(refusal.code, refusal.message, request))
        except LudusError as error:
            return protocol.encoded(protocol.error(INTERNAL_ERROR, str(error), request))

    def call(self, method: str, params: JsonObject) -> JsonObject:
        """The result of a method with checked parameters; raises Refusal."""
        if method != "start":
            protocol.check_state(method, self.state)
        if method in _OWN:
            return _OWN[method](self, params)
        if self.run is None:
            raise Refusal(INVALID_STATE, f"{method} needs a run; start one")
        if method == "rearrange" and "consumables" in params:
            debugging.reorder_consumables(self.run, checked_order(self.run, "consumables", params["consumables"]))
        else:
            perform(self.run, moves_of(self.run, method, params))
        return gamestate(self.run)

    def health(self, params: JsonObject) -> JsonObject:
        return {"status": "ok"}

    def gamestate(self, params: JsonObject) -> JsonObject:
        return gamestate(self.run)

    def discover(self, params: JsonObject) -> JsonObject:
        return protocol.openrpc(__version__)

    def start(self, params: JsonObject) -> JsonObject:
        seed = params.get("seed", "random")
        if "seed" in params and not SEED.fullmatch(seed):
            raise Refusal(BAD_REQUEST, '"seed" must be 1 to 8 digits and letters, like 7LB2WVPK')
        protocol.check_state("start", self.state)
        if "seed" in params:
            seed = bytes(parse(seed.upper())).rstrip(b"\0").decode()
        self.run = Run(params["deck"], params["stake"], seed, key=self._key)
        self._key += 1
        return gamestate(self.run)

    def menu(self, params: JsonObject) -> JsonObject:
        self.run = None
        return gamestate(None)

    def save(self, params: JsonObject) -> JsonObject:
        path = self._files.save(params["path"], self._running)
        return {"success": True, "path": path}

    def load(self, params: JsonObject) -> JsonObject:
        self.run = self._files.load(params["path"])
        return {"success": True, "path": params["path"]}

    def screenshot(self, params: JsonObject) -> JsonObject:
        return {"success": True, "path": self._files.draw(params["path"], self._running)}

    def add(self, params: JsonObject) -> JsonObject:
        debugging.add(self._running, params)
        return gamestate(self.run)

    def set(self, params: JsonObject) -> JsonObject:
        debugging.change(self._running, params)
        return gamestate(self.run)

    @property
    def _running(self) -> Run:
        if self.run is None:
            raise Refusal(INVALID_STATE, "there is no run; start one")
        return self.run

    @property
    def _files(self) -> files.Folder:
        if self.folder is None:
            raise Refusal(INTERNAL_ERROR, "files are switched off; start the emulator with --folder")
        return self.folder


_OWN: dict[str, Callable[[Emulator, JsonObject], JsonObject]] = {
    "health": Emulator.health, "gamestate": Emulator.gamestate, "rpc.discover": Emulator.discover,
    "start": Emulator.start, "menu": Emulator.menu, "save": Emulator.save, "load": Emulator.load,
    "screenshot": Emulator.screenshot, "add": Emulator.add, "set": Emulator.set,
}  # fmt: skip
"""methods that are not moves of the game"""
