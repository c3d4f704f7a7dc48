"""A worker that plays parts of evaluations and battles: `python -m ludus.runtimes.transport.games_child`.

It reads parts from standard input and writes their results to standard output, one JSON object per line. When standard
input closes, the parent has exited or does not need it any more, and it exits at once.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from typing import TextIO

from ludus import games
from ludus.evaluation.parts import Host, Part
from ludus.types import JsonObject, LudusError


def receive_lines(lines: queue.SimpleQueue[str]) -> None:
    """Read lines; exit this process as soon as there cannot be more."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def own_output() -> TextIO:
    """Standard output for the results only; what games and agents print goes to standard error."""
    ours = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return ours


def answer(host: Host, text: str) -> JsonObject:
    """The result of a part, or the error of the user that prevents it."""
    try:
        return {"result": host.play(Part.from_json(text)).to_json()}
    except Exception as error:
        known = error if isinstance(error, LudusError) else games.mistake(error)
        if known is None:
            raise
        return {"error": str(known)}


def main() -> None:
    """Serve the parent; the number of threads for games is the argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output, lines = own_output(), queue.SimpleQueue[str]()
    threading.Thread(target=receive_lines, args=(lines,), daemon=True).start()
    with Host(threads=int(sys.argv[1])) as host:
        while True:
            print(json.dumps(answer(host, lines.get())), file=output, flush=True)


if __name__ == "__main__":
    main()
