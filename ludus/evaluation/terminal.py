"""Playing in the terminal: type the name of a move, or `hint`, `undo` or `quit`."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ludus import agents
from ludus.agents.player import Player
from ludus.agents.protocol import Memory
from ludus.bridges import AnyPool, open_pool
from ludus.dsl import PLAYING
from ludus.evaluation.preparation import interpreted_until_compiled
from ludus.pool import Snapshot
from ludus.types import Array, Continuous, LudusError, Spec

Ask = Callable[[str], str]
Tell = Callable[[str], None]
COMMANDS = ("hint", "undo", "quit")
SHOWN_MOVES = 40
"""maximum number of legal moves that are listed"""


class _Earlier(NamedTuple):
    """The state before a move of the person, for `undo`."""

    snapshot: Snapshot
    total: float
    memory: Memory
    unseen: Array


def play(name: str, against: str, seat: int, seed: int, ask: Ask, tell: Tell) -> float | None:
    """One game between a person and an agent; returns the person's return, or None if the person quits."""
    with interpreted_until_compiled(name) as wait:
        pool = open_pool(name, 1, [seed], threads=1)
        _check(name, pool.spec, seat)
        opponent = agents.load(against, name)
        wait(opponent, tell)
        tell(f"You have seat {seat}. Type a move, or {', '.join(COMMANDS)}.")
        return _game(pool, opponent, seat, seed, ask, tell)


def _check(name: str, spec: Spec, seat: int) -> None:
    """Raise LudusError if the game cannot be played in the terminal, or has no such seat."""
    if isinstance(spec.actions, Continuous) or spec.turns == "simultaneous":
        raise LudusError(
            f"{name} cannot be played in the terminal, which needs discrete moves and alternating turns; try --window"
        )
    if not 0 <= seat < spec.seats:
        raise LudusError(f"{name} has the seats 0 to {spec.seats - 1}; there is no seat {seat}")


def _game(pool: AnyPool, opponent: agents.Agent, seat: int, seed: int, ask: Ask, tell: Tell) -> float | None:
    player = Player("opponent", opponent, opponent.init(pool.spec, seed), pool, (seed % 2**64, 0))
    earlier, total = list[_Earlier](), 0.0
    while pool.status[0] == PLAYING:
        if int(pool.step.seat[0]) == seat:
            tell(pool.describe())
            choice = choose(pool, ask, tell)
            if choice == "quit":
                return None
            if choice == "undo":
                total = _undo(pool, player, earlier, total, tell)
                continue
            if pool.can_save:
                earlier.append(_Earlier(pool.save(), total, player.memory, player.unseen.copy()))
            action = int(choice)
        else:
            action = int(player.act(pool.step, np.ones(1, bool)).action[0])
            tell(f"seat {int(pool.step.seat[0])} plays {pool.action_name(action, seat=seat)}")
        total += float(pool.advance(np.array([action])).reward[0, seat])
    tell(pool.describe(seat=seat))
    tell(_verdict(pool, total))
    return total


def _undo(pool: AnyPool, player: Player, earlier: list[_Earlier], total: float, tell: Tell) -> float:
    """Restore the game and the opponent's memory before the person's last move; returns the total reward then."""
    if not pool.can_save:
        tell("undo is not available in games of other libraries")
        return total
    if not earlier:
        tell("there is no move to undo yet")
        return total
    snapshot, before, player.memory, player.unseen = earlier.pop()
    pool.restore(snapshot)
    return before


def choose(pool: AnyPool, ask: Ask, tell: Tell) -> int | str:
    """Ask until the answer is a legal action, "undo" or "quit"."""
    choices = [int(action) for action in np.flatnonzero(pool.step.mask[0])]
    legal = {pool.action_name(action): action for action in choices}
    numbered = {str(action + 1): action for action in choices} if pool.names_moves else {}
    while True:
        try:
            words = ask("your move: ").strip()
        except (EOFError, KeyboardInterrupt):
            return "quit"
        if words in legal:
            return legal[words]
        if words in numbered:
            return numbered[words]
        if words in ("undo", "quit"):
            return words
        if words == "hint":
            tell("thinking …")
            tell(_hint(pool))
            continue
        close = difflib.get_close_matches(words, legal, 1)
        meant = f" (did you mean {close[0]}?)" if close else ""
        tell(f'"{words}" is not a legal move here{meant}; legal moves are {listed(list(legal))}')


def listed(moves: list[str]) -> str:
    """All moves, or the first SHOWN_MOVES of them."""
    return ", ".join(moves[:SHOWN_MOVES]) + (f" … {len(moves)} in all" if len(moves) > SHOWN_MOVES else "")


def _hint(pool: AnyPool) -> str:
    name = pool.name.partition("(")[0]
    kind = agents.kinds_for(name)[0]
    adviser = agents.load(kind, name)
    decision, _ = agents.seated(adviser, pool).act(adviser.init(pool.spec, 0), (), pool.step, 0)
    return f"the {kind} player would play {pool.action_name(int(decision.action[0]))}"


def _verdict(pool: AnyPool, total: float) -> str:
    if not pool.spec.zero_sum:
        return f"The game is over; you got {total:g}."
    return "You win!" if total > 0 else "You lose." if total < 0 else "A draw."
