"""Exported agents: error, size and speed of every kind of agent in every format, beside JAX in the same run."""

from __future__ import annotations

import functools
import pathlib
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ludus.bench import Result, Tell, median_rate
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
    names = [name for name in (*SHIPPED, *(f"rnn-{memory}" for memory in MEMORIES)) if name.startswith(only or ("",))]
    if not names:
        raise LudusError(f"--only must name agents of this suite: {', '.join(SHIPPED)}, rnn-{', rnn-'.join(MEMORIES)}")
    for number, name in enumerate(names):
        tell(name, number, len(names))
        agent = _agent(name)
        yield from _speeds(f"{name}/jax", agent, agent.params, rounds)
        for form, quantize in WAYS:
            yield from _measured(name, agent, form, quantize, rounds)


def _speeds(where: str, agent: Any, params: Any, rounds: int, sizes: tuple[int, ...] = ROWS) -> Iterator[Result]:
    for rows in sizes:
        measure = functools.partial(_rate, agent, params, _step(agent, rows))
        yield Result(f"{where}/rows_{rows}", median_rate(measure, rounds), "steps/s")


def _measured(name: str, agent: Any, kind: str, quantize: Any, rounds: int) -> Iterator[Result]:
    """Error, size and speed of one file; for a format with fixed rows, one file for each number of them."""
    from ludus.agents import export, exported
    from ludus.agents.export import formats

    form, where = formats.find(kind), f"{name}/{kind}" + (f"-{quantize}" if quantize else "")
    with tempfile.TemporaryDirectory() as folder:
        for sizes in [ROWS] if form.DYNAMIC else [(rows,) for rows in ROWS]:
            path = pathlib.Path(folder, f"{sizes[0]}{form.SUFFIX}")
            written = export.write(form, agent, path, None if form.DYNAMIC else sizes[0], quantize)
            check = written.metadata.check
            if check is not None and sizes[0] == ROWS[0]:
                yield Result(f"{where}/error", check.max_error, "largest difference")
                yield Result(f"{where}/agreement", check.agreement, "share of moves")
                yield Result(f"{where}/size", float(written.size), "bytes")
            yield from _speeds(where, exported.load(path), (), rounds, sizes)


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

    pool = open_pool(agent.manifest.game if hasattr(agent, "manifest") else agent.metadata.game, rows, 7, threads=1)
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
