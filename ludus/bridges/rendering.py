"""Render modes of Gymnasium and PettingZoo: a picture as an array of pixels, or text."""

from __future__ import annotations

from ludus.games import Game
from ludus.pool import Pool
from ludus.rendering import images
from ludus.types import Array, LudusError

FRAMES_PER_SECOND = 30


def render_modes(game: Game) -> list[str]:
    """The render modes of a game: "rgb_array" if it has a `scene`, "ansi" if it has a `text`."""
    offers = {"rgb_array": "scene", "ansi": "text"}
    return [mode for mode, part in offers.items() if hasattr(game.rules, part)]


def check_render_mode(game: Game, mode: str | None) -> None:
    """Raise LudusError if the game does not have this mode."""
    modes = render_modes(game)
    if mode is not None and mode not in modes:
        raise LudusError(f'{game.name} has no render mode "{mode}"; it has: {", ".join(modes) or "none"}')


def render(pool: Pool, mode: str | None, row: int = 0, seat: int = -1) -> Array | str | None:
    """One game, as a seat sees it, as [H, W, 3] bytes ("rgb_array") or as text ("ansi"); None without a mode."""
    if mode == "ansi":
        return pool.describe(row, seat)
    return images.raster(pool.scene(row, seat), pool.spec.frame) if mode == "rgb_array" else None
