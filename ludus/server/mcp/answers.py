"""How results and errors are written: text for a model to read, and the same facts as structured content."""

from __future__ import annotations

import base64
import functools
import io
import math
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec

from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent

from ludus.rendering import images
from ludus.server.mcp.schemas import GameView
from ludus.server.messages import State
from ludus.types import Array, LudusError

Arguments = ParamSpec("Arguments")
Tool = Callable[Arguments, Awaitable[CallToolResult]]
SHOWN = 60
"""legal moves that are listed in a state"""


def answered(text: str, facts: Any, *more: ContentBlock) -> CallToolResult:
    """A result of a tool."""
    return CallToolResult(content=[TextContent(type="text", text=text), *more], structured_content=facts)


def telling(tool: Tool[Arguments]) -> Tool[Arguments]:
    """The tool with every LudusError as a result that tells the sentence."""

    @functools.wraps(tool)
    async def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> CallToolResult:
        try:
            return await tool(*arguments, **named)
        except LudusError as error:
            return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)

    return call


def view_of(state: State, game_id: str, observation: bool = False) -> GameView:
    """A state for a client; the observation and all legal moves only on request, because they are long."""
    shown = len(state.legal) if observation else SHOWN
    view: GameView = {
        "game_id": game_id, "game": state.game, "seats": state.seats, "seat": state.seat, "move": state.move,
        "turn": state.turn, "over": state.over, "result": state.result,
        "scores": [finite(score) for score in state.scores], "text": state.text, "legal_count": len(state.legal),
        "legal": [{"action": one.action, "name": one.name} for one in state.legal[:shown]],
        "low": state.low, "high": state.high,
        "last": [{"move": one.move, "seat": one.seat, "name": one.name} for one in state.last],
    }  # fmt: skip
    if observation and state.observation is not None:
        view["observation"] = plain(state.observation)
    return view


def state_text(state: State) -> str:
    """A state in words."""
    lines = [state.game + (f", seen by seat {state.seat}" if state.seat is not None else "")]
    lines += [f"{one.seat} played {one.name}" for one in state.last[-6:] if one.name]
    lines += [state.text] if state.text else []
    scores = ", ".join(f"{score:g}" for score in state.scores)
    if state.over:
        return "\n".join([*lines, f"The game is over after {state.move} moves. Scores by seat: {scores}."])
    turn = " and ".join(map(str, state.turn))
    lines.append(f"{state.move} moves have been played; seat {turn} is to move. Scores by seat: {scores}.")
    if state.low:
        ranges = ", ".join(f"{low:g} to {high:g}" for low, high in zip(state.low, state.high, strict=True))
        lines.append(f"A move is a list of {len(state.low)} numbers: {ranges}.")
    return "\n".join([*lines, legal_text(state)] if state.legal else lines)


def legal_text(state: State) -> str:
    names = ", ".join(one.name for one in state.legal[:SHOWN])
    hidden = len(state.legal) - SHOWN
    return f"Legal moves: {names}" + (f", and {hidden} more (see legal_moves)" if hidden > 0 else "")


def picture_of(shapes: Array, frame: images.Frame, kind: str) -> ImageContent:
    """A picture as PNG or SVG."""
    if kind == "svg":
        data, media = images.svg(shapes, frame).encode(), "image/svg+xml"
    else:
        buffer = io.BytesIO()
        images.image(shapes, frame).save(buffer, "PNG")
        data, media = buffer.getvalue(), "image/png"
    return ImageContent(type="image", data=base64.b64encode(data).decode(), mime_type=media)


def plain(value: Any) -> Any:
    """The same value with null for numbers that JSON cannot express."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return finite(value) if isinstance(value, float) else value


def finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None
