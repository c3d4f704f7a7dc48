"""Rows dealt to several devices are learned from as on one: the same gradients, parameters and metrics."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

SCRIPT = pathlib.Path(__file__).with_name("ppo_on_devices.py")
PER_DEVICE = {"told/explained_variance", "told/play_seconds"}
"""the variance explained is a mean of what each device finds in its own rows; seconds differ"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    path = tmp_path_factory.mktemp("devices") / "found.npz"
    done = subprocess.run([sys.executable, str(SCRIPT), str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(np.load(path))


def part_of(found, prefix):
    return {name.removeprefix(prefix): array for name, array in found.items() if name.startswith(prefix)}


@pytest.mark.parametrize("devices", [2, 4])
@pytest.mark.parametrize("whose", ["own", "all"])
def test_more_devices_learn_the_same(found, devices, whose):
    one, several = (part_of(found, f"{count}/{whose}/") for count in (1, devices))
    assert one.keys() == several.keys() and any(name.startswith("gradient/agent") for name in one)
    for name in one.keys() - PER_DEVICE:
        np.testing.assert_allclose(several[name], one[name], rtol=1e-4, atol=1e-5, err_msg=name)


def test_there_was_something_to_learn(found):
    """And devices had unequal shares of what counts, so that a mean of their means would have been another number."""
    before, after = part_of(found, "before/"), part_of(found, "1/own/agent/")
    assert max(np.abs(after[name] - before[name]).max() for name in before) > 0.005
    counts = [part.sum() for part in np.split(found["own"], 4, axis=1)]
    assert len(set(counts)) > 1 and sum(counts) < found["own"].size
    own, everyone = (part_of(found, f"1/{whose}/gradient/") for whose in ("own", "all"))
    assert max(np.abs(own[name] - everyone[name]).max() for name in own) > 1e-3
