"""A client of BalatroBot's interface: the mod in the real game, or our emulator."""

from __future__ import annotations

import http.client
import time

import msgspec

from ludus.bridges.balatrobot.protocol import METHODS, PORT, STABLE, Refusal, Value
from ludus.types import JsonObject, LudusError

TIMEOUT, PAUSE = 60.0, 0.05
"""seconds to wait for an answer, and between two looks at a game that is still moving"""
LARGEST_ANSWER = 16 * 2**20


class Client:
    """Sends requests and checks that what comes back is an answer to them.

    With `keep` it uses one connection for all requests, which the emulator allows and the mod does not.
    """

    def __init__(self, port: int = PORT, host: str = "127.0.0.1", timeout: float = TIMEOUT, keep: bool = False) -> None:
        self.place, self.timeout, self.keep = f"{host}:{port}", timeout, keep
        self._connection = http.client.HTTPConnection(host, port, timeout=timeout)
        self._id = 0

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def call(self, method: str, **params: Value) -> JsonObject:
        """The result of a method; raises Refusal if the game refuses it, LudusError if there is no proper answer."""
        self._id += 1
        request = {"jsonrpc": "2.0", "method": method, "params": params, "id": self._id}
        answer = self._decoded(self._sent(msgspec.json.encode(request), method), method)
        if isinstance(found := answer.get("error"), dict):
            code, message = found.get("code"), found.get("message")
            if not isinstance(code, int) or not isinstance(message, str):
                raise LudusError(f"the game at {self.place} answered {method} with a malformed error")
            raise Refusal(code, f"the game refuses {method}: {message}")
        if answer.get("id") != self._id or not isinstance(answer.get("result"), dict):
            raise LudusError(f"the game at {self.place} answered {method} with neither its result nor an error")
        result: JsonObject = answer["result"]
        return result

    def _sent(self, body: bytes, method: str) -> bytes:
        """The body of the answer."""
        try:
            self._connection.request("POST", "/", body, {"Content-Type": "application/json"})
            answer = self._connection.getresponse().read(LARGEST_ANSWER)
        except ConnectionRefusedError:
            raise LudusError(
                f"nothing listens at {self.place}; start Balatro with the mod BalatroBot, or ludus balatro emulate"
            ) from None
        except TimeoutError:
            self.close()
            raise LudusError(
                f"the game at {self.place} has not answered {method} within {self.timeout:g} s; is it paused or stuck?"
            ) from None
        except (http.client.HTTPException, OSError) as error:
            self.close()
            reason = str(error) or type(error).__name__
            raise LudusError(
                f"the connection to the game at {self.place} broke during {method} ({reason}); was it closed?"
            ) from None
        if not self.keep:
            self.close()
        return answer

    def _decoded(self, answer: bytes, method: str) -> JsonObject:
        try:
            found = msgspec.json.decode(answer)
        except (msgspec.DecodeError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise LudusError(f"what listens at {self.place} did not answer {method} in JSON-RPC; is it BalatroBot?")
        return found

    def methods(self) -> tuple[str, ...]:
        """The methods that the game offers and we know; without rpc.discover, those of the release 1.5.2."""
        try:
            listed = self.call("rpc.discover").get("methods", [])
        except Refusal:
            listed = []
        names = {one.get("name") for one in listed if isinstance(one, dict)} if isinstance(listed, list) else set()
        return tuple(name for name in METHODS if name in names) or released()

    def act(self, method: str, **params: Value) -> JsonObject:
        """The state of the game after a method, when nothing moves any more."""
        state, deadline = self.call(method, **params), time.monotonic() + self.timeout
        while state.get("state") not in STABLE:
            if time.monotonic() > deadline:
                raise LudusError(
                    f"the game at {self.place} is still in the state {state.get('state')} {self.timeout:g} s after "
                    f"{method}; is it paused or stuck?"
                )
            time.sleep(PAUSE)
            state = self.call("gamestate")
        return state


def released() -> tuple[str, ...]:
    """The methods of the release 1.5.2 of the mod."""
    return tuple(name for name, method in METHODS.items() if not method.newer)
