"""Exported agents: error, size and speed of every kind of agent in every format, beside JAX in the same run."""

from __future__ import annotations

import pathlib
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ludus.bench import Result, Tell
from ludus.types import LudusError, Step

SHIPPED = ("tictactoe", "cartpole", "car", "car.dreamer", "recall", "connect4", "balatro", "duel")
"""trained agents that come with ludus: a table, MLPs, a world model, an RNNAgent with LSTM, BalatroNet, DuelNet"""
MEMORIES = ("lstm", "gru", "rwkv", "transformer", "none")
"""untrained RNNAgents of the default size for connect4, one for each memory"""
ROWS = (1, 8)
SECONDS = 0.5
"""duration of one measurement"""
WAYS: tuple[tuple[str, str | None], ...] = (
    ("onnx", None), ("onnx", "int8"), ("tflite", None), ("tflite", "int8"), ("stablehlo", None), ("flax", None),
)  # fmt: skip


def suite(only: tuple[str, ...], rounds: int, tell: Tell) -> Iterator[Result]:
    """Results of all agents, or of those whose names start with one of `only`."""
    from ludus.bench import median_rate

    names = [name for name in (*SHIPPED, *(f"rnn-{memory}" for memory in MEMORIES)) if name.startswith(only or ("",))]
    if not names:
        raise LudusError(f"--only must name agents of this suite: {', '.join(SHIPPED)}, rnn-{', rnn-'.join(MEMORIES)}")
    for number, name in enumerate(names):
        tell(name, number, len(names))
        agent = _agent(name)
        for rows in ROWS:
            step = _step(agent, rows)
            yield Result(
                f"{name}/jax/rows_{rows}", median_rate(lambda: _rate(agent, agent.params, step), rounds), "steps/s"
            )  # noqa: B023
        for format, quantize in WAYS:
            yield from _measured(name, agent, format, quantize, rounds)


def _measured(name: str, agent: Any, format: str, quantize: Any, rounds: int) -> Iterator[Result]:
    """Error, size and speed of one file; for a format with fixed rows, one file for each number of them."""
    from ludus.agents import export, exported
    from ludus.agents.export import formats
    from ludus.bench import median_rate

    form, where = formats.find(format), f"{name}/{format}" + (f"-{quantize}" if quantize else "")
    with tempfile.TemporaryDirectory() as folder:
        written = None
        for rows in ROWS:
            path = pathlib.Path(folder, f"{rows}{form.SUFFIX}")
            if written is None or not form.DYNAMIC:
                written = export.write(form, agent, path, None if form.DYNAMIC else rows, quantize)
                assert written.metadata.check is not None
            if rows == ROWS[0]:
                yield Result(f"{where}/error", written.metadata.check.max_error, "largest difference")
                yield Result(f"{where}/agreement", written.metadata.check.agreement, "share of moves")
                yield Result(f"{where}/size", float(written.size), "bytes")
            file, step = exported.load(written.path), _step(agent, rows)
            yield Result(f"{where}/rows_{rows}", median_rate(lambda: _rate(file, (), step), rounds), "steps/s")  # noqa: B023


def _agent(name: str) -> Any:
    from ludus.agents import PRETRAINED, checkpoint, trained

    if not name.startswith("rnn-"):
        return trained.load(PRETRAINED / name)
    from ludus.agents.neural import agent as deep
    from ludus.agents.neural.networks.settings import ModelArgs
    from ludus.bridges import identity_of, open_pool

    pool = open_pool("connect4", 1, 0, threads=1)
    args = ModelArgs(rnn_type=name.removeprefix("rnn-"))  # type: ignore[arg-type]
    agent = replace(deep.new_agent(pool, args), greedy=True)
    description = deep.describe(args, bfloat16=False, curious=False)
    manifest = checkpoint.describe(identity_of(pool), description, {"kind": "none"})
    return trained.Trained(agent, agent.init(pool.spec, 0), pathlib.Path(name), manifest)


def _step(agent: Any, rows: int) -> Step:
    """A step a few moves into the game."""
    from ludus.bridges import open_pool

    pool = open_pool(agent.manifest.game, rows, 7, threads=1)
    for number in range(3):
        pool.advance(pool.random_actions(number))
    step = pool.step
    pool.close()
    return step


def _rate(agent: Any, params: Any, step: Step) -> float:
    """Decisions per second, with the memory carried along and all conversions of arrays."""
    import numpy as np

    memory = agent.memory(len(step.seat))
    act: Callable[..., Any] = agent.act
    for _ in range(3):
        decision, memory = act(params, memory, step, 0)
    start, done = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        decision, memory = act(params, memory, step, 0)
        np.asarray(decision.action)
        done += len(step.seat)
    return done / (time.perf_counter() - start)
