"""The words for a room: who plays, who is to act, what may be played, how it ended; as the page reads them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.bridges import seen
from ludus.pool import Pool
from ludus.studio.rooms.imagining import can_imagine
from ludus.studio.rooms.players import PERSON, best_adviser
from ludus.studio.rooms.stage import can_ghost, gauge_names, seen_by
from ludus.studio.rooms.table import Table
from ludus.words import CUT

if TYPE_CHECKING:
    from ludus.studio.rooms.room import Room

MOST_LEGAL, MOST_MOVES, MOST_NAMED, MOST_WORDS = 1000, 400, 20, 4000
"""of legal moves, past moves, names in thoughts and letters that are told"""


def state_of(room: Room) -> dict[str, Any]:
    """Everything about a room but its picture."""
    table = room.table
    told: dict[str, Any] = _always(room)
    if not room.opened:
        return told
    waiting = table.waiting_for()
    acting = table.acting()
    told |= {"seat": waiting if waiting is not None else acting[0] if acting else 0, "move": table.moves}
    told |= {"waiting": waiting is not None, "thinking": room.thinking, "over": table.over, "result": room.result}
    told |= {"returns": [_plain(value) for value in table.returns], "last": table.last, "hint": room.hint}
    told |= {"legal": [] if waiting is None else legal(table, waiting), "words": words(table)}
    told |= {"thoughts": _thoughts(room)}
    told |= {"history": table.history[-MOST_MOVES:], "moves": table.names[-MOST_MOVES:]}
    return told | {"can": can(table)}


def _thoughts(room: Room) -> dict[str, Any] | None:
    """What is thought of the position, with names for the moves that stand out."""
    if room.thoughts is None:
        return None
    told = room.thoughts.told()
    if _secret(room.table):
        return told | {"moves": None, "names": {}}
    moves = room.thoughts.moves or {}
    foremost = sorted(moves, key=lambda action: -moves[action])[:MOST_NAMED]
    return told | {"names": {str(action): room.table.pool.action_name(action) for action in foremost}}


def _secret(table: Table) -> bool:
    """Whether an agent thinks of cards that the person at the table does not see."""
    return table.hearer() >= 0 and table.waiting_for() is None and hasattr(table.game.rules, "text_for")


def _always(room: Room) -> dict[str, Any]:
    """What is known of a room before its game is open."""
    table, spec = room.table, room.table.spec
    told: dict[str, Any] = {"kind": "room", "room": room.id, "number": room.number, "game": room.table.asked}
    told |= {"title": table.game.title, "frame": list(spec.frame), "seats": list(table.seats), "seat": 0}
    told |= {"you": persons(table), "move": 0, "waiting": False, "thinking": room.failed is None}
    told |= {"over": room.failed is not None, "result": room.failed, "returns": [0.0] * spec.seats}
    told |= {"continuous": table.continuous, "legal": [], "last": None, "thoughts": None, "hint": None}
    told |= {"history": [], "moves": [], "words": room.failed or f"{table.game.title} is being made ready …"}
    told |= {"speed": room.speed, "paused": room.paused, "cars": table.cars, "ghost": room.ghost}
    told |= {"imagine": room.imagine, "wheel": room.wheel, "gauges": gauge_names(table)}
    told |= {"can": dict.fromkeys(("undo", "hint", "swarm", "ghost", "imagine", "wheel"), False)}
    scores = {"games": room.games, "returns": [_plain(value) for value in room.scores]}
    return told | {"score": scores, "seed": table.seed}


def can(table: Table) -> dict[str, bool]:
    """What makes sense here."""
    asked = bool(persons(table)) and not table.continuous
    return {
        "undo": asked and bool(table.persons) and isinstance(table.pool, Pool),
        "hint": table.waiting_for() is not None and best_adviser(table.pool) is not None,
        "swarm": hasattr(table.game.rules, "token"),
        "ghost": can_ghost(table),
        "imagine": can_imagine(table.players.get(0), table.game.rules),
        "wheel": table.continuous and table.spec.seats == 1,
    }


def persons(table: Table) -> list[int]:
    """The seats of persons."""
    return [seat for seat, name in enumerate(table.seats) if name == PERSON]


def legal(table: Table, seat: int) -> list[dict[str, Any]]:
    """What a person may play, by number and name; of very many the first."""
    choices = np.flatnonzero(table.pool.step.mask[table.row_of(seat)])[:MOST_LEGAL]
    return [{"action": int(action), "name": table.pool.action_name(int(action))} for action in choices]


def words(table: Table) -> str:
    """The position for who does not see the picture."""
    return seen(table.pool, seen_by(table))[:MOST_WORDS]


def result(table: Table) -> str:
    """How the game ended, in a sentence."""
    returns, you = table.returns, persons(table)
    ended = "Time is up" if table.pool.status[0] == CUT else "The game is over"
    if not table.spec.zero_sum or table.spec.seats != 2:
        scores = ", ".join(f"{value:.4g}" for value in returns)
        return f"{ended}: {scores} points." if len(returns) == 1 else f"{ended}: {scores}."
    if returns[0] == returns[1]:
        return "A draw."
    winner = int(np.argmax(returns))
    if len(you) == 1:
        return "You win!" if winner == you[0] else "You lose."
    name = table.seats[winner]
    return f"Seat {winner + 1} wins." if len(set(table.seats)) == 1 else f"{name} wins."


def _plain(value: float) -> float | None:
    return round(float(value), 4) if math.isfinite(value) else None
