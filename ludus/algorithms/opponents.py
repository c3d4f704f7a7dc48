"""Who sits in the other seats: the agent itself, its past selves, or players that do not learn, each in some rows.

A row always has the same opponent. In self-play all decisions are learned from; against others the agent has one seat
of a row, and another seat in the next row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np

from ludus import agents
from ludus.agents import checkpoint
from ludus.bridges import AnyPool
from ludus.evaluation.scores import seated
from ludus.types import Array, LudusError, Step, some_rows

SELF, PAST = "self", "past"


class Share(NamedTuple):
    """`random:0.2`"""

    name: str
    part: float


def parse(words: Sequence[str]) -> list[Share]:
    """The shares that a setting names; they are taken relative to their sum."""
    shares = []
    for word in words:
        name, colon, number = word.rpartition(":")
        name, text = (name, number) if colon else (word, "1")
        try:
            part = float(text)
        except ValueError:
            part = math.nan
        if not name or not 0.0 < part < math.inf:
            raise LudusError(f'"{word}" is no opponent with a share; write it like random:0.2 or past:0.5')
        shares.append(Share(name, part))
    if not shares or len({share.name for share in shares}) < len(shares):
        raise LudusError("name every opponent once, and at least one of them; self alone is plain self-play")
    return shares


def has_past(words: Sequence[str]) -> bool:
    """Whether past selves are among the opponents."""
    return any(share.name == PAST for share in parse(words))


def with_snapshot(snapshots: Mapping[str, Any], params: Any, number: int, most: int) -> dict[str, Any]:
    """The newest `most` snapshots and one of these parameters.

    There is one more than `most` because a worker may use parameters that are one version old.
    """
    kept = sorted(snapshots)[-most:]
    return {name: snapshots[name] for name in kept} | {f"{number:09d}": params}


def choose(snapshots: Mapping[str, Any], number: int, most: int, bits: int) -> Any:
    """One of the newest `most` snapshots up to update `number`, by random bits."""
    known = sorted(snapshots)
    eligible = [name for name in known if int(name) <= number][-most:] or known[:1]
    return snapshots[eligible[bits % len(eligible)]]


class Opponent:
    """One that sits in some rows, against the agent."""

    def __init__(self, name: str, low: int, high: int, pool: AnyPool, agent: Any, params: Any) -> None:
        views, seats = pool.spec.views, pool.spec.seats
        self.name, self.rows, self.games = name, slice(low * views, high * views), slice(low, high)
        self.agent, self.params = seated(agent, pool), params
        self.whole = hasattr(agent, "at")  # it looks at the games of the whole pool
        self.memory = self.agent.memory((pool.rows if self.whole else high - low) * views)
        self.seats = np.arange(low, high) % seats
        """[games] where the agent sits"""
        self.own = np.repeat(self.seats, views)
        self.won = np.zeros(2)
        """games won, with half of those drawn, and games played"""

    def play(self, step: Step, actions: Array, own: Array, key: Any) -> None:
        """Write its actions over those of the agent, where it is its turn."""
        turn = step.seat[self.rows] != self.own
        own[self.rows] = ~turn
        if not (turn | step.first[self.rows]).any():
            return  # but where a game opens it must look, or it would remember the one before
        if self.whole:
            discount = np.zeros_like(step.discount)
            discount[self.rows] = step.discount[self.rows] * turn
            decision, self.memory = self.agent.act(self.params, self.memory, step._replace(discount=discount), key)
            chosen = np.asarray(decision.action)[self.rows]
        else:
            decision, self.memory = self.agent.act(self.params, self.memory, some_rows(step, self.rows), key)
            chosen = np.asarray(decision.action)
        actions[self.rows][turn] = chosen[turn]

    def count(self, returns: Array, ended: Array) -> None:
        """Games that ended, with what each seat got in them."""
        here = ended[self.games]
        got, seats = returns[self.games][here], self.seats[here]
        mine = np.take_along_axis(got, seats[:, None], axis=1)[:, 0]
        others = np.where(np.arange(got.shape[1]) == seats[:, None], -np.inf, got).max(axis=1, initial=-np.inf)
        self.won += (mine > others).sum() + 0.5 * (mine == others).sum(), here.sum()


class Opponents:
    """All opponents of a worker."""

    def __init__(self, words: Sequence[str], pool: AnyPool, agent: Any, seed: int, most: int = 1) -> None:
        shares = parse(words)
        self.seed, self.most, self.others = seed, most, list[Opponent]()
        if pool.spec.seats == 1 and shares != [Share(SELF, shares[0].part)]:
            raise LudusError(f"{pool.name} has one seat, so there is nobody to play against; leave out --opponents")
        bounds = _bounds([share.part for share in shares], pool.rows)
        for share, (low, high) in zip(shares, bounds, strict=True):
            if share.name != SELF:
                self.others.append(Opponent(share.name, low, high, pool, *self._player(share.name, pool, agent)))

    def _player(self, name: str, pool: AnyPool, agent: Any) -> tuple[Any, Any]:
        if name == PAST:
            return replace(agent, greedy=False), None
        player = agents.load(name, pool.name)
        return player, player.init(pool.spec, self.seed)

    def prepare(self, published: Mapping[str, Any], time: int, device: Any = None) -> None:
        """Choose which past self plays the next rollout, on the device of the worker if it has one."""
        for opponent in self.others:
            if opponent.name == PAST:
                number, bits = int(published["number"]), (time * 2654435761 + self.seed) >> 7
                chosen = choose(published["snapshots"], number, self.most, bits)
                opponent.params = jax.device_put(chosen, device)

    def play(self, step: Step, actions: Array, key: Any) -> tuple[Array, Array]:
        """The actions that are played, and [N] which of them are the agent's own."""
        own = np.ones(len(step.seat), bool)
        if self.others:
            actions = actions.copy()
        for number, opponent in enumerate(self.others):
            opponent.play(step, actions, own, np.uint32((int(key) + 7919 * (number + 1)) % 2**31))
        return actions, own

    def count(self, returns: Array, ended: Array) -> None:
        for opponent in self.others:
            opponent.count(returns, ended)

    def notes(self) -> dict[str, float]:
        """Win rates since they were last asked for."""
        told = {f"won/{other.name}": float(other.won[0] / other.won[1]) for other in self.others if other.won[1]}
        for other in self.others:
            other.won[:] = 0.0
        return told

    def state(self) -> dict[str, Array]:
        kept = {}
        for opponent in self.others:
            for name, array in checkpoint.flatten(opponent.memory).items():
                kept[f"opponent.{opponent.name}.{name}"] = array
        return kept

    def restore(self, state: Mapping[str, Array]) -> None:
        for opponent in self.others:
            prefix = f"opponent.{opponent.name}."
            known = {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
            opponent.memory = checkpoint.unflatten(opponent.memory, known)


def _bounds(parts: Sequence[float], rows: int) -> list[tuple[int, int]]:
    """Where the rows of each share begin and end; none is left without a row."""
    if rows < len(parts):
        raise LudusError(f"{rows} rows cannot be shared by {len(parts)} opponents; take more rows")
    ends = np.rint(np.cumsum(parts) / sum(parts) * rows).astype(int)
    places = np.arange(len(parts))
    ends = np.maximum.accumulate(np.maximum(ends - places, 1)) + places
    ends = np.minimum(ends, rows - places[::-1])
    return list(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True))
