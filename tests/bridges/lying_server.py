"""An MCP server that misbehaves: the opponent in `new_game` says how. It claims to play Tic-tac-toe or Balatro."""

import asyncio
import functools
import os
from typing import Any

from mcp.server.mcpserver import MCPServer

server = MCPServer("liar", log_level="CRITICAL")


@functools.cache
def fine(game: str) -> dict[str, Any]:
    """An honest state."""
    opening = {"game": game, "move": 0, "turn": [0], "over": False, "seat": 0, "legal_count": 1, "text": "a board"}
    if game == "tictactoe":
        legal = [{"action": 4, "name": "b2"}]
        return opening | {"scores": [0.0, 0.0], "legal": legal, "observation": {"board": [0] * 9}}
    # Imported here so that a process of its own starts quickly.
    import numpy as np

    from ludus.dsl import bounds
    from ludus.games import balatro
    from ludus.games.balatro.actions import SELECT_BLIND

    form, legal = balatro.OBSERVATION, [{"action": SELECT_BLIND, "name": "select blind"}]
    seen = {name: np.clip(np.zeros(form[name].shape), *bounds(form, name)).tolist() for name in form.names}
    return opening | {"scores": [0.0], "legal": legal, "observation": seen}


LIES: dict[str, dict[str, Any]] = {
    "other game": {"game": "chess"},
    "no progress": {},
    "back": {"move": -1},
    "no scores": {"scores": []},
    "infinite": {"scores": [1e999, 0.0]},
    "nobody's turn": {"turn": []},
    "other's turn": {"turn": [1]},
    "unknown action": {"legal": [{"action": 9, "name": "d4"}]},
    "no moves": {"legal": [], "legal_count": 0},
    "hidden moves": {"legal_count": 5},
    "moves at the end": {"turn": [], "over": True},
    "no field": {"observation": {}},
    "more fields": {"observation": {"board": [0] * 9, "future": [1]}},
    "shape": {"observation": {"board": [0] * 8}},
    "range": {"observation": {"board": [7] * 9}},
    "words": {"observation": {"board": ["x"] * 9}},
    "nested": {"observation": {"board": [[0], [0, 1]]}},
    "types": {"legal": "all"},
    "cut too early": {"result": "cut"},
}


@server.tool()
def new_game(game: str, opponent: str, observation: bool = False, seed: int = 0) -> dict[str, Any]:
    """Open a game."""
    return {} if opponent == "no id" else {"game_id": f"{game} {opponent}", "state": fine(game)}


@server.tool()
async def play(game_id: str, move: int, at_move: int, observation: bool = False) -> dict[str, Any]:
    """Play a move."""
    game, _, behaviour = game_id.partition(" ")
    if behaviour == "dies":
        os._exit(1)
    if behaviour == "slow":
        await asyncio.sleep(3600)
    if behaviour == "refuses":
        raise ValueError("a secret")
    return {**fine(game), "move": 0 if behaviour == "no progress" else 2, **LIES.get(behaviour, {})}


if __name__ == "__main__":
    server.run()
