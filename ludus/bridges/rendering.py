"""What Gymnasium and PettingZoo call rendering: a picture as an array of pixels, or a text."""

from __future__ import annotations

from typing import Any

from ludus import pictures
from ludus.games import Game
from ludus.pool import Pool
from ludus.types import LudusError

FRAMES_PER_SECOND = 30


def render_modes(game: Game) -> list[str]:
    """The modes a game offers: it is drawn if it has a `scene`, and written if it has a `text`."""
    offers = {"rgb_array": "scene", "ansi": "text"}
    return [mode for mode, part in offers.items() if hasattr(game.rules, part)]


def check_render_mode(game: Game, mode: str | None) -> None:
    """Refuse a mode the game does not offer."""
    modes = render_modes(game)
    if mode is not None and mode not in modes:
        raise LudusError(f'{game.name} has no render mode "{mode}"; it has: {", ".join(modes) or "none"}')


def render(pool: Pool, mode: str | None, row: int = 0) -> Any:
    """One game as [H, W, 3] bytes ("rgb_array"), as a text ("ansi"), or as None."""
    if mode == "ansi":
        return pool.game.rules.text(pool.states[row])
    return pictures.raster(pool.scene(row), pool.spec.frame) if mode == "rgb_array" else None
