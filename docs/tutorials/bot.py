"""A bot of twenty lines: it plays tic-tac-toe against an agent that a server serves.

The server usually runs in a terminal of its own: `ludus serve tictactoe:perfect`. This script starts one by itself.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator

import ludus


@contextlib.contextmanager
def server(*agents: str) -> Iterator[str]:
    """The address of a new server, which ends with the block."""
    command = [sys.executable, "-m", "ludus.cli", "serve", *agents, "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        try:
            yield json.loads(process.stdout.readline())["server"]
        finally:
            process.terminate()


# The bot. It knows no rules: the server names the moves and says whose turn it is.
def play(address: str, opponent: str) -> float:
    with ludus.Client(address) as client:
        game = client.game("tictactoe", seats=["person", opponent])
        while not game.state.over:
            best = next((move for move in game.moves if move.name == "b2"), game.moves[0])  # the centre is a good start
            game.play(best.name)
            print(f"I play {best.name}\n{game.state.text}\n")
        return game.state.scores[0]


with server("tictactoe:perfect") as address:
    score = play(address, "tictactoe:perfect")
    print({1: "I win", 0: "a draw", -1: "I lose"}[int(score)])
