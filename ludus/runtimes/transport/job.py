"""What the workers of a run have to do: plain data, so that it can be sent to another process or machine."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from ludus import algorithms
from ludus.algorithms.protocol import Algorithm, Desk, Worker
from ludus.bridges import open_pool


@dataclass(frozen=True)
class Job:
    """Rows of a game for each of several workers, and how they learn."""

    game: str
    rows: int
    seed: int
    steps: int
    """time steps of every row in one unit of work"""
    workers: int
    algorithm: Algorithm[Any, Any, Any]
    first: int = 0
    """number of the first worker; that of other processes of the same run begin elsewhere"""

    def worker(self, number: int, restarts: int = 0) -> Worker[Any]:
        """Worker `number`, with games and randomness of its own; one that replaces another plays other games."""
        desk = Desk(self.seed, number, self.workers, self.steps, restarts)
        pool = open_pool(self.game, self.rows, desk.pool_seed, threads=1)
        try:
            return self.algorithm.new_worker(self.algorithm.new_agent(pool), pool, desk)
        except BaseException:
            pool.close()
            raise

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "algorithm": asdict(self.algorithm)})  # type: ignore[call-overload]

    @classmethod
    def from_json(cls, text: str) -> Job:
        fields = json.loads(text)
        return cls(**{**fields, "algorithm": algorithms.from_dict(fields["algorithm"], "this job")})
