"""The core in another process: npm's ocgcore-wasm, run by Node through `core.mjs`."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
from collections.abc import Iterator, Sequence

import numpy as np

from ludus.bridges.ygopro import stale_zones
from ludus.bridges.ygopro.core import MAJOR, QUERIES, CardData, Library, Output, Setup
from ludus.bridges.ygopro.duel_record import MAX_ANSWER
from ludus.bridges.ygopro.observations import Observer
from ludus.bridges.ygopro.steps import write_answers
from ludus.types import Array, LudusError

PACKAGE, VERSION = "ocgcore-wasm", "0.1.2"
FOLDER = "LUDUS_OCGCORE_WASM"
"""environment variable for the folder in which the package is installed"""
DRIVER = pathlib.Path(__file__).with_name("core.mjs")
HELLO, OPEN, RUN, CLOSE = range(4)
DONE, FAILED, WANT_CARD, WANT_SCRIPT, LOG, PART = range(6)
VISIBLE, SHOW_HIDDEN, ALL_RESULTS = range(3)
"""modes of RUN: query only what the player may see, also hidden cards, or everything in `QUERIES`"""
QUERY_ONLY = 0xFFFF
"""length that marks a request to query without sending an answer"""
FIRST_SCRIPTS = 2
"""type of the parts of OPEN with scripts; 0 and 1 are the decks of the players"""
NUMBERS = struct.Struct("<IIIIIQiiIII")
LOG_LENGTH = 50
ALL_QUERIES = bytes([len(QUERIES)]) + b"".join(struct.pack("<BBI", *query) for query in QUERIES)
HEAD, ANSWER = struct.Struct("<IB"), struct.Struct("<IH")
"""header of a frame, and header of each answer in it"""
PIPE_SIZE = 1 << 18
"""buffer size in bytes, for the output of all duels in one step"""


class NodeCore:
    """A Node process that plays any number of duels."""

    def __init__(self, library: Library, folder: str | os.PathLike[str] | None = None) -> None:
        where = find_package(folder)
        self.library, self.log = library, list[str]()
        command = [_node(), "--no-warnings", str(DRIVER), str(where)]
        self.process = subprocess.Popen(command, PIPE_SIZE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._frame = np.zeros(0, np.uint8)
        """buffer for the answers of all duels"""
        major, minor = struct.unpack("<ii", self.request(HELLO, stale_zones.as_bytes(), ALL_QUERIES))
        self.version = (major, minor)
        if major != MAJOR:
            self.close()
            raise LudusError(f"{PACKAGE} in {where} has version {major}.{minor} of the OCG interface, not {MAJOR}; "
                             f"npm install {PACKAGE}@{VERSION}")  # fmt: skip

    def open(self, setup: Setup) -> NodeDuel:
        """Open a new duel; the core requests cards and scripts when it needs them."""
        parts = [struct.pack("<4QQ3I", *setup.seed, setup.flags, setup.points, setup.opening, setup.draws)]
        for name, text in self.library.first_scripts():
            parts.append(_part(FIRST_SCRIPTS, name.encode() + b"\0" + text))
        for player, (main, extra) in enumerate(setup.decks):
            parts.append(_part(player, _codes(main) + _codes(extra)))
        return NodeDuel(self, int.from_bytes(self.request(OPEN, *parts), "little"))

    def request(self, kind: int, *parts: bytes) -> bytes:
        """Send a frame and return the complete reply."""
        self._send(bytes([kind]), *parts)
        return b"".join(self._reply_parts())

    def play(self, tables: Array, which: Array, observer: Observer) -> int:
        """Send the answers of these duels and read their output; returns the number of non-simple questions."""
        most = HEAD.size + 1 + len(which) * (ANSWER.size + MAX_ANSWER)
        if len(self._frame) < most:
            self._frame = np.zeros(most, np.uint8)
        end = write_answers(tables, which, self._frame, HEAD.size + 1)
        HEAD.pack_into(self._frame.data, 0, end - 4, RUN)
        self._frame[HEAD.size] = SHOW_HIDDEN if observer.show_hidden else VISIBLE
        self._write(self._frame.data[:end])
        done = complex_questions = 0
        for output in self._reply_parts():
            count, more = observer.read_outputs(tables, which, done, output)
            done, complex_questions = done + count, complex_questions + more
        return complex_questions

    def _reply_parts(self) -> Iterator[bytes]:
        """Yield the parts of the reply, and answer the core's requests for cards and scripts."""
        kind = PART
        while kind != DONE:
            kind, answer = self._receive()
            if kind in (DONE, PART):
                yield answer
            elif kind == FAILED:
                raise LudusError(f"the core in Node failed: {answer.decode()}; {'; '.join(self.log[-3:]) or 'no log'}")
            elif kind == LOG:
                self.log = [*self.log[1 - LOG_LENGTH :], answer.decode(errors="replace")]
            elif kind == WANT_CARD:
                self._send(pack_card(self.library.card(int.from_bytes(answer, "little"))))
            elif kind == WANT_SCRIPT:
                self._send(self.library.script(answer.decode()) or b"")

    def close(self) -> None:
        """End the process."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        self.process.wait()

    def _send(self, *parts: bytes) -> None:
        content = b"".join(parts)
        self._write(len(content).to_bytes(4, "little") + content)

    def _write(self, frame: bytes | memoryview) -> None:
        pipe = self.process.stdin
        assert pipe
        try:
            pipe.write(frame)
            pipe.flush()
        except (OSError, ValueError) as error:
            raise self._gone() from error

    def _receive(self) -> tuple[int, bytes]:
        pipe = self.process.stdout
        assert pipe
        length = pipe.read(4)
        frame = pipe.read(int.from_bytes(length, "little")) if len(length) == 4 else b""
        if not frame:
            raise self._gone()
        return frame[0], frame[1:]

    def _gone(self) -> LudusError:
        code = self.process.poll()
        return LudusError(f"the Node process of the core has ended (exit code {code}); open the pool again")


class NodeDuel:
    """One duel inside the Node process."""

    def __init__(self, core: NodeCore, number: int) -> None:
        self._core, self.number = core, number

    def run(self, response: bytes = b"") -> Output:
        return self._run(ANSWER.pack(self.number, len(response)) + response)

    def query_all(self) -> Output:
        return self._run(ANSWER.pack(self.number, QUERY_ONLY))

    def close(self) -> None:
        self._core.request(CLOSE, struct.pack("<I", self.number))

    def _run(self, answer: bytes) -> Output:
        reply = self._core.request(RUN, bytes([ALL_RESULTS]), answer)
        end = 5 + int.from_bytes(reply[1:5], "little")
        messages, query_results, at = reply[5:end], list[bytes](), end + 1
        for _ in QUERIES:
            end = at + 6 + int.from_bytes(reply[at + 2 : at + 6], "little")
            query_results.append(reply[at + 6 : end])
            at = end
        return Output(reply[0] == 1, messages, query_results)


def find_package(folder: str | os.PathLike[str] | None = None) -> pathlib.Path:
    """The folder that contains node_modules/ocgcore-wasm; raises LudusError if it is missing."""
    if not shutil.which("node"):
        raise LudusError("the core in WebAssembly needs Node 20 or newer; install node and npm")
    where = pathlib.Path(folder or os.environ.get(FOLDER) or ".npm")
    manifest = where / "node_modules" / PACKAGE / "package.json"
    install = f"npm install --prefix {where} {PACKAGE}@{VERSION}"
    if not manifest.is_file():
        raise LudusError(f"npm's {PACKAGE} is not in {where} (set {FOLDER} for another folder): {install}")
    found = json.loads(manifest.read_text())["version"]
    if found != VERSION:
        raise LudusError(f"{where} has {PACKAGE} {found}, but the bridge needs {VERSION}: {install}")
    return where.resolve()


def _node() -> str:
    node = shutil.which("node")
    assert node
    return node


def pack_card(card: CardData | None) -> bytes:
    """A card in the format of core.mjs: numbers, then its sets and a zero; empty for an unknown card."""
    if card is None:
        return b""
    return NUMBERS.pack(*card[:11]) + struct.pack(f"<{len(card.sets) + 1}H", *card.sets, 0)


def _codes(codes: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(codes) + 1}I", len(codes), *codes)


def _part(kind: int, content: bytes) -> bytes:
    return struct.pack("<BI", kind, len(content)) + content
