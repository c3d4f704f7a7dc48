"""The task of the workers of a run as plain data, which can be sent to another process or machine."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from ludus import algorithms
from ludus.algorithms.protocol import Algorithm, Desk, Experience, Worker
from ludus.bridges import open_pool

AnyAlgorithm = Algorithm[Any, Any, Any]
"""for code that moves agents, learners and experience without looking inside"""


@dataclass(frozen=True)
class Job:
    """Workers that each play some rows of a game, and the algorithm that they work for."""

    game: str
    rows: int
    seed: int
    steps: int
    """time steps of every row in one unit of work"""
    workers: int
    algorithm: AnyAlgorithm
    first: int = 0
    """number of the first worker in this process; other processes of the run have workers with other numbers"""

    def worker(self, number: int, restarts: int = 0) -> Worker[Experience]:
        """Create worker `number`, with its own games and random numbers; a replacement plays other games."""
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
