"""Parts of an evaluation or a match as plain data, so that some of its games can be played in another process.

Agents are given by name, and every game depends only on its number and the seed, so it does not matter where and in
which part a game is played.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from ludus import agents
from ludus.agents import transfer
from ludus.agents.player import Contestant
from ludus.agents.protocol import Agent, Params
from ludus.bridges import AnyPool, open_pool
from ludus.evaluation import scores
from ludus.evaluation.play import Played, Tell, new_openings, opened, play
from ludus.types import Array, LudusError, Spec

ROWS = 256
"""games that are played at once"""
BATCH = 64
"""games of the smallest parts, if there are so many for every worker"""


@dataclass(frozen=True)
class Part:
    """Games `first` to `first + count - 1` of a match of several agents, or of an evaluation of one."""

    game: str
    agents: tuple[str, ...]
    games: int
    """of the whole match"""
    seed: int
    first: int
    count: int
    each: int = 1
    """consecutive games that share an opening"""
    keep: int = 0
    """the actions of so many games of the whole match are recorded, from its first on"""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Part:
        fields = json.loads(text)
        return cls(**{**fields, "agents": tuple(fields["agents"])})


class Result(NamedTuple):
    """The games of a part."""

    played: Played
    recorded: list[list[Array]]
    """the actions of the recorded games"""
    seconds: float
    """without loading the agents"""

    def to_json(self) -> str:
        played = [part.tolist() for part in self.played[:3]]
        measures = {name: values.tolist() for name, values in self.played.measures.items()}
        recorded = [[action.tolist() for action in actions] for actions in self.recorded]
        return json.dumps({"played": played, "measures": measures, "recorded": recorded, "seconds": self.seconds})

    @classmethod
    def from_json(cls, text: str) -> Result:
        found = json.loads(text)
        returns, lengths, cut = found["played"]
        measures = {name: np.array(values) for name, values in found["measures"].items()}
        played = Played(np.array(returns), np.array(lengths, np.int64), np.array(cut, bool), measures)
        recorded = [[np.array(action) for action in actions] for actions in found["recorded"]]
        return cls(played, recorded, found["seconds"])


Spread = Callable[[Sequence[Part], Tell | None], list[Result]]
"""plays whole matches, in this process (`here`) or in several workers, and returns their results in the same order"""


def here(parts: Sequence[Part], tell: Tell | None = None) -> list[Result]:
    """Play in this process, one part after the other."""
    with Host() as host:
        return [host.play(part, tell) for part in parts]


class Entrant(NamedTuple):
    """An agent that is loaded already, and the name by which others load it."""

    kind: str
    agent: Agent
    params: Params


def evaluated(entrant: Entrant, game: str, games: int, seed: int, spread: Spread = here) -> scores.SoloScore:
    """The score of an agent in all seats."""
    return scores.score_of(_played([entrant], game, games, seed, spread))


def matched(
    one: Entrant, other: Entrant, spec: Spec, game: str, games: int, seed: int, spread: Spread = here
) -> scores.Match:
    """The match of two agents in a game with this spec."""
    scores.check_players(game, spec, 2, games)
    seating = scores.seating_of(spec, 2)
    return scores.match_of(_played([one, other], game, games, seed, spread), seating[np.arange(games) % 2], 2)


def _played(entrants: Sequence[Entrant], game: str, games: int, seed: int, spread: Spread) -> Played:
    """In this process the agents are used as they are; in workers they are loaded by their names."""
    match = whole(game, [one.kind for one in entrants], games, seed)
    if spread is not here:
        return spread([match], None)[0].played
    openings = new_openings(games, seed)
    with opened(game, ROWS, games, seed, openings) as pool:
        check(pool, match)
        players = [(one.agent, one.params) for one in entrants]
        return play(pool, players, scores.seating_of(pool.spec, len(players)), games, seed, openings=openings)


def divided(part: Part, workers: int) -> list[Part]:
    """A part as parts for so many workers: large enough for batches, small enough to share the work evenly."""
    size = max(-(-part.count // (4 * workers)), min(BATCH, -(-part.count // workers)))
    starts = range(0, part.count, size)
    return [replace(part, first=part.first + start, count=min(size, part.count - start)) for start in starts]


def joined(results: Sequence[Result]) -> Result:
    """The result of a part from those of its parts, in order."""
    played = [one.played for one in results]
    returns, lengths, cut = (np.concatenate([one[column] for one in played]) for column in range(3))
    measures = {name: np.concatenate([one.measures[name] for one in played]) for name in played[0].measures}
    recorded = [actions for one in results for actions in one.recorded]
    return Result(Played(returns, lengths, cut, measures), recorded, sum(one.seconds for one in results))


class Host:
    """Plays parts; the pool and the agents stay open for the next part."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads
        self.paths: Mapping[str, str] = {}
        """where the files of agents are on this machine, by the path in the name of the agent"""
        self.pool: AnyPool | None = None
        self.game = ""
        self.agents = dict[tuple[str, int], Contestant]()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load(self, part: Part) -> tuple[AnyPool, list[Contestant]]:
        """The pool and the agents of a part; later their files are not needed any more."""
        pool = self._pool(part)
        check(pool, part)
        return pool, [self._agent(pool, kind, part.seed) for kind in part.agents]

    def play(self, part: Part, tell: Tell | None = None) -> Result:
        (pool, players), recorded = self.load(part), Recorded(part)
        seating, openings = scores.seating_of(pool.spec, len(players)), new_openings(part.games, part.seed, part.each)
        start = time.perf_counter()
        played = play(
            pool, players, seating, part.count, part.seed, tell, openings[part.first : part.first + part.count],
            recorded.add if recorded.games else None, part.first,
        )  # fmt: skip
        return Result(played, recorded.games, time.perf_counter() - start)

    def _pool(self, part: Part) -> AnyPool:
        # JAX computes a single row by other operations, which round differently, so a part of a match has two or more.
        rows = max(1, min(ROWS, max(part.count, min(part.games, 2))))
        if self.game != part.game:
            self.agents.clear()
        if self.pool is None or self.game != part.game or self.pool.rows < rows:
            self.close()
            # With a seed for each row, environments of other libraries are opened in a form that accepts these later.
            self.pool, self.game = open_pool(part.game, rows, [0] * rows, self.threads), part.game
        return self.pool

    def _agent(self, pool: AnyPool, kind: str, seed: int) -> Contestant:
        if (kind, seed) not in self.agents:
            agent = agents.load(transfer.relocated(kind, self.paths), self.game)
            self.agents[kind, seed] = agent, agent.init(pool.spec, seed)
        return self.agents[kind, seed]

    def close(self) -> None:
        if self.pool is not None:
            self.pool.close()
        self.pool = None


def check(pool: AnyPool, part: Part) -> None:
    """Raise LudusError unless these games can be played and recorded."""
    if part.games < 1:
        raise LudusError(f"cannot play {part.games} games; play at least one")
    if part.keep and pool.compiled is None:
        raise LudusError(f"{pool.name} is from another library, so its games cannot be recorded; leave out --keep")
    if len(part.agents) > 1:
        scores.check_players(pool.name, pool.spec, len(part.agents), part.games)


class Recorded:
    """The actions of the games of a part that are recorded."""

    def __init__(self, part: Part) -> None:
        self.first = part.first
        self.games: list[list[Array]] = [[] for _ in range(max(0, min(part.keep - part.first, part.count)))]

    def add(self, numbers: Array, actions: Array) -> None:
        for place in np.flatnonzero(numbers - self.first < len(self.games)).tolist():
            self.games[numbers[place] - self.first].append(actions[place].copy())


def whole(game: str, kinds: Sequence[str], games: int, seed: int, each: int = 1, keep: int = 0) -> Part:
    """A match or an evaluation as one part."""
    return Part(game, tuple(kinds), games, seed, 0, games, each, keep)


__all__ = [
    "Entrant", "Host", "Part", "Result", "Spread", "check", "divided", "evaluated", "here", "joined", "matched",
    "whole",
]  # fmt: skip
