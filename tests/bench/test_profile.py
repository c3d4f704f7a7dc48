"""`ludus profile`: parts add up, operations are found, and the trace can be opened."""

import gzip
import json
import sys

import pytest

from ludus import cli
from ludus.bench import profile
from ludus.bench.profilers import PROFILERS
from ludus.training import config
from ludus.types import LudusError


@pytest.mark.parametrize("algorithm", ["ppo", "world_model"])
def test_parts_and_operations_of_a_run_are_measured(tmp_path, capsys, algorithm):
    game = "cartpole" if algorithm == "ppo" else "car"
    cli.run(
        [
            "profile",
            game,
            "--algorithm",
            algorithm,
            "--steps",
            "100",
            "--num-envs",
            "32",
            "--out",
            str(tmp_path),
            "--json",
        ]
    )
    found = json.loads(capsys.readouterr().out)
    assert found["decisions"] >= 100 and found["updates"] >= 1
    assert set(found["parts"]) == {"act", "step", "transfer", "update", "other"}
    assert all(seconds > 0 for name, seconds in found["parts"].items() if name not in ("other", "transfer"))
    assert sum(found["parts"].values()) == pytest.approx(found["seconds"], rel=0.2)
    assert found["operations"] and all(one["calls"] > 0 for one in found["operations"])
    with gzip.open(found["trace"]) as trace:
        assert json.load(trace)["traceEvents"]


ON_TORCH = """
import dataclasses
from typing import ClassVar

import torch

from ludus.algorithms.ppo import PPO


@dataclasses.dataclass(frozen=True)
class ALGORITHM(PPO):
    method: str = "on_torch"
    profiler: ClassVar[str] = "torch"

    def update(self, agent, learner, experience):
        with torch.profiler.record_function("ludus:update"):
            torch.mm(torch.ones(300, 300), torch.ones(300, 300))
        return super().update(agent, learner, experience)
"""
"""PPO whose updates also multiply matrices in PyTorch, and which says so"""


def test_an_algorithm_of_torch_is_profiled_by_torch(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="pip install 'ludus[rllib]'")
    (tmp_path / "on_torch.py").write_text(ON_TORCH)
    monkeypatch.setenv("LUDUS_ALGORITHMS", str(tmp_path))
    few = {"num_envs": 8, "rollout_length": 8, "num_minibatches": 1, "update_epochs": 1, "devices": 1}
    run = config.resolve("cartpole", "on_torch").replace(**few, mlp={"width": 8, "depth": 1})
    found = profile.profile(run, 100, tmp_path / "new")
    products = next(one for one in found.operations if one.name == "aten::mm")
    assert (products.program, products.calls) == ("cpu", found.updates) and products.seconds > 0
    assert found.parts["update"] >= products.seconds and set(found.parts) == {"update", "other"}
    assert not any(one.name.startswith("ludus:") for one in found.operations)
    with gzip.open(found.trace) as trace:
        assert any(one.get("name") == "aten::mm" for one in json.load(trace)["traceEvents"])
    assert f"{found.updates:,} calls" in "\n".join(profile.lines(found, 50))


def test_torch_must_be_installed(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    with (
        pytest.raises(LudusError, match=r"profiled by PyTorch: pip install 'ludus\[rllib\]'"),
        PROFILERS["torch"]().recording(tmp_path),
    ):
        pass


def test_tables_have_no_parts(tmp_path):
    with pytest.raises(LudusError, match="in one compiled loop"):
        cli.run(["profile", "tictactoe", "--algorithm", "q_learning", "--out", str(tmp_path)])
    with pytest.raises(LudusError, match="--steps must be at least 1"):
        cli.run(["profile", "cartpole", "--steps", "0", "--out", str(tmp_path)])
