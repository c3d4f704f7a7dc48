"""The players in the other seats: the agent itself, snapshots of it, or players that do not learn.

Each row keeps its opponent. In self-play the agent learns from all decisions of a row. Against other players it has
one seat, and the seats alternate between rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import numpy as np

from ludus import agents
from ludus.agents import Agent, PoolAgent, checkpoint
from ludus.agents.protocol import Key
from ludus.bridges import AnyPool
from ludus.evaluation.scores import seated
from ludus.types import Array, LudusError, PyTree, Step, some_rows

SELF, PAST = "self", "past"


class Share(NamedTuple):
    """An opponent and its weight, such as `random:0.2`."""

    name: str
    part: float


def parse(words: Sequence[str]) -> list[Share]:
    """The opponents of a setting; their weights are relative to their sum."""
    shares = []
    for word in words:
        name, colon, number = word.rpartition(":")
        name, text = (name, number) if colon else (word, "1")
        try:
            part = float(text)
        except ValueError:
            part = math.nan
        if not name or not 0.0 < part < math.inf:
            raise LudusError(f'"{word}" is not an opponent with a weight; write it like random:0.2 or past:0.5')
        shares.append(Share(name, part))
    if not shares or len({share.name for share in shares}) < len(shares):
        raise LudusError("opponents must name at least one opponent, each once; use self for self-play")
    return shares


def has_past(words: Sequence[str]) -> bool:
    """Whether snapshots of the agent are among the opponents."""
    return any(share.name == PAST for share in parse(words))


def with_snapshot(snapshots: Mapping[str, PyTree], params: PyTree, number: int, most: int) -> dict[str, PyTree]:
    """The newest `most` snapshots and one of these parameters.

    There is one more than `most` because a worker may use parameters that are one version old.
    """
    kept = sorted(snapshots)[-most:]
    return {name: snapshots[name] for name in kept} | {f"{number:09d}": params}


def choose(snapshots: Mapping[str, PyTree], number: int, most: int, bits: int) -> PyTree:
    """One of the newest `most` snapshots up to update `number`, chosen by random bits."""
    known = sorted(snapshots)
    eligible = [name for name in known if int(name) <= number][-most:] or known[:1]
    return snapshots[eligible[bits % len(eligible)]]


class Opponent:
    """A player that sits against the agent in some rows."""

    def __init__(self, name: str, low: int, high: int, pool: AnyPool, agent: Agent, params: PyTree) -> None:
        views, seats = pool.spec.views, pool.spec.seats
        self.name, self.rows, self.games = name, slice(low * views, high * views), slice(low, high)
        self.agent, self.params = seated(agent, pool), params
        self.whole = isinstance(agent, PoolAgent)  # it acts on the games of the whole pool
        self.memory = self.agent.memory((pool.rows if self.whole else high - low) * views)
        self.seats = np.arange(low, high) % seats
        """[games] the seat of the agent"""
        self.own = np.repeat(self.seats, views)
        self.won = np.zeros(2)
        """games won by the agent, counting draws as half, and games played"""

    def play(self, step: Step, actions: Array, own: Array, key: Key) -> None:
        """Replace the actions of the agent where it is this player's turn."""
        turn = step.seat[self.rows] != self.own
        own[self.rows] = ~turn
        if not (turn | step.first[self.rows]).any():
            return  # at the first step of a game it must act too, because that resets its memory
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
        """Count games that ended, from the returns of each seat."""
        here = ended[self.games]
        ended_returns, seats = returns[self.games][here], self.seats[here]
        mine = np.take_along_axis(ended_returns, seats[:, None], axis=1)[:, 0]
        is_agent = np.arange(ended_returns.shape[1]) == seats[:, None]
        others = np.where(is_agent, -np.inf, ended_returns).max(axis=1, initial=-np.inf)
        self.won += (mine > others).sum() + 0.5 * (mine == others).sum(), here.sum()


class Opponents:
    """All opponents of a worker."""

    def __init__(self, words: Sequence[str], pool: AnyPool, agent: Agent, seed: int, most: int = 1) -> None:
        shares = parse(words)
        self.seed, self.most, self.others = seed, most, list[Opponent]()
        if pool.spec.seats == 1 and shares != [Share(SELF, shares[0].part)]:
            raise LudusError(f"{pool.name} has one seat and no opponents; leave out --opponents")
        bounds = _bounds([share.part for share in shares], pool.rows)
        for share, (low, high) in zip(shares, bounds, strict=True):
            if share.name != SELF:
                self.others.append(Opponent(share.name, low, high, pool, *self._player(share.name, pool, agent)))

    def _player(self, name: str, pool: AnyPool, agent: Agent) -> tuple[Agent, PyTree]:
        if name == PAST:
            return agent, None
        player = agents.load(name, pool.name)
        return player, player.init(pool.spec, self.seed)

    def prepare(self, published: Mapping[str, PyTree], time: int, device: jax.Device | None = None) -> None:
        """Choose the snapshot that plays the next rollout, on the device of the worker if it has one."""
        for opponent in self.others:
            if opponent.name == PAST:
                number, bits = int(published["number"]), (time * 2654435761 + self.seed) >> 7
                chosen = choose(published["snapshots"], number, self.most, bits)
                opponent.params = jax.device_put(chosen, device)

    def play(self, step: Step, actions: Array, key: np.uint32) -> tuple[Array, Array]:
        """The actions of all seats, and [N] which of them are the agent's own."""
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
        """Win rates against each opponent since the last call."""
        rates = {f"won/{other.name}": float(other.won[0] / other.won[1]) for other in self.others if other.won[1]}
        for other in self.others:
            other.won[:] = 0.0
        return rates

    def state(self) -> dict[str, Array]:
        arrays = {}
        for opponent in self.others:
            for name, array in checkpoint.flatten(opponent.memory).items():
                arrays[f"opponent.{opponent.name}.{name}"] = array
        return arrays

    def restore(self, state: Mapping[str, Array]) -> None:
        for opponent in self.others:
            prefix = f"opponent.{opponent.name}."
            known = {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
            opponent.memory = checkpoint.unflatten(opponent.memory, known)


def _bounds(parts: Sequence[float], rows: int) -> list[tuple[int, int]]:
    """The first and last row of each share; each has at least one row."""
    if rows < len(parts):
        raise LudusError(f"{rows} rows are too few for {len(parts)} opponents; increase --num-envs")
    ends = np.rint(np.cumsum(parts) / sum(parts) * rows).astype(int)
    places = np.arange(len(parts))
    ends = np.maximum.accumulate(np.maximum(ends - places, 1)) + places
    ends = np.minimum(ends, rows - places[::-1])
    return list(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True))
