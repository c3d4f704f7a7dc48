"""Small runs to start, stop and go on with, and what makes two of them the same."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from ludus.agents import checkpoint
from ludus.training import config, loggers, runs

TOLD_BY_THE_CLOCK = {
    "time", "seconds", "steps_per_second", "wait_seconds", "games_per_hour", "memory_used", "gpu_utilization",
}  # fmt: skip


class Trainer:
    """Makes runs in a folder and takes them a few chunks further."""

    def __init__(self, out):
        self.out = out

    def make(self, **settings):
        """The folder and the settings of a new run; some thousand steps of tic-tac-toe unless told otherwise."""
        small = {"game": "tictactoe", "algorithm": "q_learning", "steps": 12_000, "chunk": 2_000, "num_envs": 16,
                 "evaluations": 3, "eval_games": 20, "keep_checkpoints": 2}  # fmt: skip
        folder, opened = runs.start(config.from_dict(small | settings, "the test"), self.out)
        opened.close()
        return folder, opened.run

    def go(self, folder, run, chunks=None, resume=False, steps=None):
        """Train for so many chunks or to the end; returns every report."""
        counter = itertools.count(1)
        stop = (lambda: False) if chunks is None else (lambda: next(counter) >= chunks)
        return list(runs.carry_out(folder, run if steps is None else replace(run, steps=steps), stop, resume))

    def whole(self, **settings):
        """The folder of a run that was never interrupted."""
        folder, run = self.make(**settings)
        assert self.go(folder, run)[-1].finished
        return folder


@pytest.fixture
def trainer(tmp_path):
    return Trainer(tmp_path / "runs")


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The folder of a finished run of tic-tac-toe that nobody may change."""
    return Trainer(tmp_path_factory.mktemp("finished") / "runs").whole()


@pytest.fixture(scope="session")
def learned():
    """Everything in the newest checkpoint of a run: {group/name: array}."""

    def read(folder):
        groups = checkpoint.load(checkpoint.newest(folder / "checkpoints")).arrays
        return {f"{group}/{name}": array for group, arrays in groups.items() for name, array in arrays.items()}

    return read


@pytest.fixture(scope="session")
def same_arrays(learned):
    """Two runs ended in the same bits; a sentence about the first difference otherwise."""

    def compare(one, other):
        a, b = learned(one), learned(other)
        assert a.keys() == b.keys()
        for name in a:
            assert (a[name].dtype, a[name].shape) == (b[name].dtype, b[name].shape), name
            assert a[name].tobytes() == b[name].tobytes(), f"{name} differs"

    return compare


@pytest.fixture(scope="session")
def told():
    """The metrics of a run without what the clock says."""

    def read(folder):
        lines = loggers.read(folder / "metrics.jsonl")
        return [{name: value for name, value in line.items() if name not in TOLD_BY_THE_CLOCK} for line in lines]

    return read


@pytest.fixture(scope="session")
def contents():
    """Every file below a folder, byte for byte."""

    def read(folder):
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
        }

    return read


@pytest.fixture
def set_array():
    """Write a checkpoint anew with one array changed, as somebody might who means harm."""

    def change(path, group, name, array):
        stored = checkpoint.load(path)
        arrays = {**stored.arrays, group: {**stored.arrays[group], name: np.asarray(array)}}
        number = int(path.name)
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
        return checkpoint.save(path.parent, number, checkpoint.Checkpoint(stored.manifest, arrays))

    return change
