"""What a worker is told: plain data, so that it can be sent to another process or machine."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ludus.algorithms.tabular import Tabular
from ludus.algorithms.tabular.forms.worker import FormWorker
from ludus.algorithms.tabular.worker import Worker
from ludus.bridges import open_pool
from ludus.words import random


@dataclass(frozen=True)
class Job:
    """Rows of a game for each of several workers, and how they learn."""

    game: str
    rows: int
    seed: int
    steps: int
    """time steps of all rows between two times that the workers meet"""
    workers: int
    algorithm: Any
    """the settings of the algorithm"""
    mode: Literal["reduce", "server"] = "reduce"
    """of the mpi runtime: merge tables now and then, or send all that happens to one learner"""

    def worker(self, number: int, restarts: int = 0) -> Any:
        """Worker `number`, with games and dice of its own; one that replaces another plays other games."""
        place = self.workers * restarts + number
        seed = int(random.keys(self.seed, place + 1)[place] >> 33)
        pool = open_pool(self.game, self.rows, seed, threads=1)
        kind = Worker if self.algorithm.form == "compiled" else FormWorker
        return kind(pool, self.algorithm, self.seed, number, self.workers)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        fields = json.loads(text)
        return cls(**{**fields, "algorithm": Tabular(**fields["algorithm"])})
