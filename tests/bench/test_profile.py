"""`ludus profile`: parts add up, operations are found, and the trace can be opened."""

import gzip
import json

import pytest

from ludus import cli
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


def test_tables_have_no_parts(tmp_path):
    with pytest.raises(LudusError, match="in one compiled loop"):
        cli.run(["profile", "tictactoe", "--algorithm", "q_learning", "--out", str(tmp_path)])
    with pytest.raises(LudusError, match="--steps must be at least 1"):
        cli.run(["profile", "cartpole", "--steps", "0", "--out", str(tmp_path)])
