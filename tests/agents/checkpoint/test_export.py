"""An exported checkpoint contains only what is needed to play, and is written atomically."""

import numpy as np
import pytest

from ludus import games
from ludus.agents import checkpoint
from ludus.types import LudusError


@pytest.fixture
def saved(tmp_path):
    manifest = checkpoint.describe(
        games.load("tictactoe"), {"kind": "tabular"}, {"kind": "q_learning"}, steps=7, score=0.5
    )
    arrays = {"params": {"values": np.arange(6.0)}, "learner": {"huge": np.zeros(1000)}, "pool": {"x": np.ones(3)}}
    return checkpoint.save(tmp_path / "checkpoints", 7, checkpoint.Checkpoint(manifest, arrays))


def test_only_manifest_and_parameters_are_exported(saved, tmp_path):
    out = checkpoint.export(saved, tmp_path / "agents" / "tictactoe")
    assert sorted(path.name for path in out.iterdir()) == ["manifest.json", "params.safetensors"]
    before, after = checkpoint.load(saved), checkpoint.load(out)
    np.testing.assert_array_equal(after.arrays["params"]["values"], np.arange(6.0))
    assert after.manifest._replace(files={}) == before.manifest._replace(files={})
    assert checkpoint.load(saved).arrays.keys() == {"params", "learner", "pool"}


def test_only_ema_parameters_are_exported_if_there_are_any(saved, tmp_path):
    stored = checkpoint.load(saved)
    params = {"actor/kernel": np.zeros(3), "ema/actor/kernel": np.ones(3)}
    averaged = checkpoint.save(tmp_path / "other", 1, stored._replace(arrays={"params": params}))
    assert checkpoint.load(checkpoint.export(averaged, tmp_path / "slim")).arrays["params"].keys() == {
        "ema/actor/kernel"
    }


def test_existing_export_is_not_overwritten(saved, tmp_path):
    out = checkpoint.export(saved, tmp_path / "slim")
    before = (out / "manifest.json").read_bytes()
    with pytest.raises(LudusError, match="already"):
        checkpoint.export(saved, out)
    assert (out / "manifest.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_leftovers_of_an_interrupted_export_are_replaced(saved, tmp_path):
    (tmp_path / ".slim.part").mkdir()
    (tmp_path / ".slim.part" / "manifest.json").write_text("half")
    assert checkpoint.load(checkpoint.export(saved, tmp_path / "slim")).manifest.steps == 7


def test_checkpoint_without_parameters_raises(saved, tmp_path):
    stored = checkpoint.load(saved)
    bare = checkpoint.save(tmp_path / "other", 1, stored._replace(arrays={"pool": stored.arrays["pool"]}))
    with pytest.raises(LudusError, match="contains no parameters"):
        checkpoint.export(bare, tmp_path / "slim")
    assert not (tmp_path / "slim").exists()


def test_unwritable_folder_raises(saved, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LudusError, match="cannot export"):
        checkpoint.export(saved, tmp_path / "file" / "slim")
