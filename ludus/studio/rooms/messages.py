"""The state of a room as a message: players, whose turn it is, legal moves, and the result."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ludus.studio.rooms import controls, ghost
from ludus.studio.rooms.gauges import gauges_of
from ludus.studio.rooms.imagination import can_imagine
from ludus.studio.rooms.stage import seen_by
from ludus.studio.rooms.table import Table, can_swarm
from ludus.types import JsonObject

if TYPE_CHECKING:
    from ludus.studio.rooms.runner import Runner

MOST_LEGAL, MOST_MOVES, MOST_NAMED, MOST_LETTERS = 1000, 400, 20, 4000
"""maximum numbers of legal moves, past moves, named moves in thoughts, and characters of the text that are sent"""
FEATURES = ("undo", "hint", "swarm", "ghost", "imagine", "control")


def state_of(runner: Runner) -> JsonObject:
    """The whole state of a room, without its picture."""
    state = {"kind": "room", "room": runner.id, "number": runner.number} | _fixed(runner.table) | _settings(runner)
    return state | (_position(runner) if runner.opened else _no_position(runner))


def _fixed(table: Table) -> JsonObject:
    """The facts that stay the same while a game is played."""
    return {
        "game": table.full_name, "title": table.game.title, "frame": list(table.spec.frame), "seed": table.seed,
        "seats": list(table.seats), "you": table.person_seats(), "continuous": table.continuous,
        "controls": controls.describe(table.game), "gauges": [gauge._asdict() for gauge in gauges_of(table)],
        "layout": table.layout, "ghost_part": ghost.part_of(table.game),
    }  # fmt: skip


def _settings(runner: Runner) -> JsonObject:
    """The settings of the room, and the scores so far."""
    settings, scores = runner.settings, runner.scores
    return {
        "speed": settings.speed, "paused": settings.paused, "ghost": settings.ghost, "imagine": settings.imagine,
        "swarm": runner.table.swarm, "control": runner.takeover.owner,
        "score": {"games": scores.games, "returns": [_plain(value) for value in scores.returns]},
    }  # fmt: skip


def _no_position(runner: Runner) -> JsonObject:
    """The position of a room whose game is not open yet, or failed to open."""
    failed, table = runner.failed, runner.table
    return {
        "seat": 0, "move": 0, "waiting": False, "thinking": failed is None, "over": failed is not None,
        "result": failed, "returns": [0.0] * table.spec.seats, "last": None, "hint": None, "legal": [],
        "words": failed or f"{table.game.title} is loading …", "thoughts": None, "history": [], "moves": [],
        "can": dict.fromkeys(FEATURES, False), "preparing": None,
    }  # fmt: skip


def _position(runner: Runner) -> JsonObject:
    table, waiting, acting = runner.table, runner.table.waiting_for(), runner.table.acting()
    return {
        "seat": waiting if waiting is not None else acting[0] if acting else 0, "move": table.moves,
        "waiting": waiting is not None, "thinking": runner.deliberation.busy, "over": table.over,
        "result": runner.scores.result, "returns": [_plain(value) for value in table.returns], "last": table.last,
        "hint": runner.deliberation.hint, "legal": [] if waiting is None else legal(table, waiting),
        "words": words(table), "thoughts": _thoughts(runner), "history": table.history[-MOST_MOVES:],
        "moves": table.names[-MOST_MOVES:], "can": can(table), "preparing": preparing(table),
    }  # fmt: skip


def preparing(table: Table) -> JsonObject | None:
    """How far the compiler is, and the agents that wait for it; None once the game is compiled."""
    if table.preparation is None:
        return None
    _, done, left = table.preparation.progress
    waiting = sorted({table.agent_name(seat) for seat in table.unprepared()})
    return {"done": round(done, 3), "seconds_left": round(left, 1), "agents": waiting}


def _thoughts(runner: Runner) -> JsonObject | None:
    """The thoughts on the position, with names for the foremost moves."""
    thoughts, table = runner.deliberation.thoughts, runner.table
    if thoughts is None:
        return None
    if _secret(table):
        return thoughts.as_json() | {"moves": None, "names": {}}
    moves = thoughts.moves or {}
    foremost = sorted(moves, key=lambda action: -moves[action])[:MOST_NAMED]
    return thoughts.as_json() | {"names": {str(action): table.pool.action_name(action) for action in foremost}}


def _secret(table: Table) -> bool:
    """Whether the thoughts of an agent would reveal hidden information to the only person at the table."""
    return table.only_person() >= 0 and table.waiting_for() is None and hasattr(table.game.rules, "text_for")


def can(table: Table) -> dict[str, bool]:
    """Which features this game and these players have now."""
    choosing = bool(table.person_seats()) and not table.continuous
    available = (
        choosing and bool(table.persons) and table.pool.compiled is not None,
        table.waiting_for() is not None and table.adviser_name() is not None,
        can_swarm(table.game),
        bool(ghost.part_of(table.game)),
        can_imagine(table.players.get(0), table.game.rules),
        table.continuous and table.spec.seats == 1,
    )
    return dict(zip(FEATURES, available, strict=True))


def legal(table: Table, seat: int) -> list[JsonObject]:
    """The legal moves of a person by number and name; only the first of very many."""
    choices = np.flatnonzero(table.pool.step.mask[table.row_of(seat)])[:MOST_LEGAL]
    return [{"action": int(action), "name": table.pool.action_name(int(action))} for action in choices]


def words(table: Table) -> str:
    """The position as text."""
    return table.pool.describe(seat=seen_by(table))[:MOST_LETTERS]


def _plain(value: float) -> float | None:
    return round(float(value), 4) if math.isfinite(value) else None
