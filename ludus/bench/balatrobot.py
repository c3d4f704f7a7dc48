"""The emulator of BalatroBot: requests per second, and random runs over the socket compared with the engine in process.

A client plays random legal moves over the socket; the same moves are played in this process as actions of our engine,
and after every move both states must be identical. Half of the runs are given chips, so that they get far.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

from ludus.bench import Result, Tell, median_rate
from ludus.bridges.balatrobot import debugging
from ludus.bridges.balatrobot.client import Client
from ludus.bridges.balatrobot.moves import expressible, request_of
from ludus.bridges.balatrobot.protocol import METHODS, SELECTING_HAND
from ludus.bridges.balatrobot.run import Run
from ludus.bridges.balatrobot.state import gamestate
from ludus.games.balatro import actions
from ludus.games.balatro.seeds import LETTERS
from ludus.games.balatro.tables import decks
from ludus.types import JsonObject, LudusError

REQUESTS, RUNS = 2000, 1000
LONGEST = 150
"""moves after which a run is left, since random play may go on forever"""
CHIPS, WITH_CHIPS = 10**12, 0.3
"""score that is given, and the chance of it at each move of the runs that get it"""
KINDS = [actions.block_of(action)[0] for action in range(actions.END)]


class Count(NamedTuple):
    """What was played."""

    runs: int
    moves: int
    requests: int


@contextlib.contextmanager
def emulator(*words: str) -> Iterator[int]:
    """`ludus balatro emulate` in a process of its own; yields its port."""
    command = [sys.executable, "-m", "ludus.cli", "balatro", "emulate", "--port", "0", "--json", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise LudusError("the emulator has not started; its error is above")
            yield int(json.loads(line)["server"].rstrip("/").rpartition(":")[2])
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def suite(rounds: int, tell: Tell, runs: int = RUNS) -> Iterator[Result]:
    """Speed with one connection for all requests and with one for each, and the comparison of random runs."""
    with emulator() as port:
        for number, (name, keep) in enumerate((("one connection", True), ("a connection each", False))):
            tell(f"balatrobot/{name}", number, 3)
            rate = median_rate(lambda keep=keep: _rate(port, keep), rounds)  # type: ignore[misc]
            yield Result(f"balatrobot/gamestate/{name}", rate, "requests/s")
        tell("balatrobot/random runs", 2, 3)
        begin = time.perf_counter()
        with Client(port, keep=True) as client:
            count = compare(client, runs, seed=0)
        seconds = time.perf_counter() - begin
    yield Result("balatrobot/random runs/identical", count.runs, "runs")
    yield Result("balatrobot/random runs/moves", count.moves, "moves")
    yield Result("balatrobot/random runs/played and compared", count.requests / seconds, "requests/s")


def _rate(port: int, keep: bool) -> float:
    with Client(port, keep=keep) as client:
        client.call("menu")
        client.call("start", deck="RED", stake="WHITE", seed="7LB2WVPK")
        client.call("select")
        begin = time.perf_counter()
        for _ in range(REQUESTS):
            client.call("gamestate")
        return REQUESTS / (time.perf_counter() - begin)


def compare(client: Client, runs: int, seed: int, longest: int = LONGEST) -> Count:
    """Play random runs at both ends; raises LudusError at the first state that differs."""
    dice, moves, requests = random.Random(seed), 0, 0
    for number in range(runs):
        deck, stake = dice.choice(decks.NAMES), dice.choice(decks.STAKES)
        text = "".join(dice.choice(LETTERS) for _ in range(8))
        client.call("menu")
        state = client.call("start", deck=deck.upper(), stake=stake.upper(), seed=text)
        run = Run(deck, stake, text, key=0)
        requests += 2
        _same(state, run, text, 0, "start")
        for move in range(1, longest + 1):
            if run.over:
                break
            if number % 2 and run.state == SELECTING_HAND and dice.random() < WITH_CHIPS:
                client.call("set", chips=CHIPS)
                debugging.change(run, {"chips": CHIPS})
                requests += 1
            action = choose(run, dice)
            request = request_of(run, action)
            state = client.call(request.method, **request.params)
            run.take(action)
            _same(state, run, text, move, str(request))
            moves, requests = moves + 1, requests + 1
    return Count(runs, moves, requests)


def choose(run: Run, dice: random.Random) -> int:
    """A random legal action that the interface can express, of a random kind, because most actions are plays."""
    found: dict[str, list[int]] = {}
    for action in run.mask.nonzero()[0].tolist():
        found.setdefault(KINDS[action], []).append(action)
    while True:
        kind = dice.choice(sorted(found))
        action = dice.choice(found[kind])
        if expressible(run, action, METHODS):
            return action
        found[kind].remove(action)
        if not found[kind]:
            del found[kind]


def _same(state: JsonObject, run: Run, seed: str, move: int, request: str) -> None:
    ours = gamestate(run)
    if state != ours:
        field = next(key for key in {**state, **ours} if state.get(key) != ours.get(key))
        raise LudusError(f'run {seed} differs in "{field}" after move {move} ({request})')
