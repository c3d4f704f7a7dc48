"""An MCP server that misbehaves: the opponent in `new_game` says how. It claims to play Tic-tac-toe."""

import asyncio
import os
from typing import Any

from mcp.server.mcpserver import MCPServer

server = MCPServer("liar", log_level="CRITICAL")
FINE = {
    "game": "tictactoe", "move": 0, "turn": [0], "over": False, "scores": [0.0, 0.0], "seat": 0, "text": "a board",
    "legal": [{"action": 4, "name": "b2"}], "legal_count": 1, "observation": {"board": [0] * 9},
}  # fmt: skip
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
}


@server.tool()
def new_game(game: str, opponent: str, observation: bool = False, seed: int = 0) -> dict[str, Any]:
    """Open a game."""
    return {} if opponent == "no id" else {"game_id": opponent, "state": FINE}


@server.tool()
async def play(game_id: str, move: int, at_move: int, observation: bool = False) -> dict[str, Any]:
    """Play a move."""
    if game_id == "dies":
        os._exit(1)
    if game_id == "slow":
        await asyncio.sleep(3600)
    if game_id == "refuses":
        raise ValueError("a secret")
    return {**FINE, "move": 0 if game_id == "no progress" else 2, **LIES.get(game_id, {})}


if __name__ == "__main__":
    server.run()
