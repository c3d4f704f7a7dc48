"""Whatever a user gets wrong is a sentence, and the run that was there before is there afterwards, byte for byte."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from ludus.agents import checkpoint, trained
from ludus.agents import table as tables
from ludus.evaluation import inspection
from ludus.training import config, runs
from ludus.types import LudusError

OTHER_GAME = '''
"""Steer: hold a number up by pushing it with a force between -1 and 1."""
from ludus.dsl import HEAD, OVER, Continuous, Spec, i8, record, rule, within

SPEC = Spec(seats=1, actions=Continuous((-1.0,), (1.0,)), horizon=5)
STATE = record(**HEAD, place=i8)
OBSERVATION = record(place=within(0, 5, i8))

@rule
def init(state):
    state.place = 0

@rule
def step(state, action, reward):
    state.place += 1
    reward[0] = action[0]
    if state.place == 5:
        state.status = OVER

@rule
def observe(state, seat, out):
    out.place = state.place

def action_name(action):
    return str(action)
'''


@pytest.fixture
def copy(finished, tmp_path):
    """A finished run to do harm to."""
    return shutil.copytree(finished, tmp_path / "copies" / finished.name)


def newest(folder):
    return checkpoint.newest(folder / "checkpoints")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"game": "cartpole"}, "train on discretize:cartpole"),
        ({"game": "car"}, "continuous"),
        ({"game": "chess"}, 'unknown game "chess"'),
        ({"game": "nobody:chess"}, 'unknown prefix "nobody:"'),
        ({"runtime": "pigeons"}, 'unknown runtime "pigeons"'),
        (
            {"algorithm": "dyna_q", "runtime": "threads", "workers": 2},
            "cannot be merged: run it with --runtime local",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused_before_there_is_a_folder(trainer, settings, sentence):
    with pytest.raises(LudusError) as refused:
        trainer.make(**settings)
    assert sentence in str(refused.value)
    assert not trainer.out.exists()


def test_continuous_actions_are_refused_before_there_is_a_folder(trainer, tmp_path, monkeypatch):
    (tmp_path / "steer.py").write_text(OTHER_GAME)
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    with pytest.raises(LudusError, match="steer has continuous actions, but a table needs discrete actions"):
        trainer.make(game="steer")
    assert not trainer.out.exists()


def test_a_table_that_does_not_fit_is_refused_before_there_is_a_folder(trainer, monkeypatch):
    monkeypatch.setattr(tables, "available_memory", lambda: 2**20)
    with pytest.raises(LudusError, match="a table of 19,683 positions needs"):
        trainer.make()
    assert not trainer.out.exists()


def test_a_hashed_table_that_outgrows_the_memory_ends_with_a_sentence_and_a_checkpoint(trainer, monkeypatch, told):
    """What was learned until then is saved, and the run can go on where there is more memory."""
    folder, run = trainer.make(game="connect4", steps=60_000, chunk=4_000, num_envs=64)
    room = 2**20
    monkeypatch.setattr(tables, "available_memory", lambda: room)
    with pytest.raises(LudusError, match=r"a table of \d+,\d{3} positions needs .* GiB, but 0\.0 GiB are free"):
        trainer.go(folder, run)
    assert newest(folder) is not None
    monkeypatch.undo()
    assert trainer.go(folder, run, resume=True)[-1].finished
    assert told(folder)[-1]["step"] >= 60_000
    stored = checkpoint.load(newest(folder))
    # Rates follow the time of the workers, which must not begin again.
    assert stored.arrays["worker_0"]["time"][0] == stored.manifest.version * (4_000 // 64)


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    run = config.from_dict({"game": "tictactoe", "algorithm": "q_learning"}, "the test")
    with pytest.raises(LudusError, match=r"cannot make a folder for the run in .* choose another with --out"):
        runs.start(run, tmp_path / "file" / "runs")


@pytest.mark.parametrize("game", ["connect4", "gymnasium:Taxi-v4"])
def test_a_checkpoint_of_another_game_is_refused(trainer, copy, contents, game):
    """Resumed or evaluated, whoever wrote the other game."""
    before = contents(copy)
    run = replace(config.read(copy / "run.toml"), game=game, steps=10**6)
    with pytest.raises(LudusError, match="this checkpoint is for tictactoe, not "):
        trainer.go(copy, run, resume=True)
    with pytest.raises(LudusError, match="this checkpoint is for tictactoe, not "):
        trained.load(copy, game)
    assert contents(copy) == before


@pytest.mark.parametrize("group", ["params", "worker_0", "learner"])
@pytest.mark.parametrize("harm", ["cut", "flip", "gone"])
def test_a_damaged_checkpoint_is_refused(trainer, copy, contents, group, harm):
    file = newest(copy) / f"{group}.safetensors"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    if harm == "gone":
        file.unlink()
    else:
        file.write_bytes(bytes(data) if harm == "flip" else bytes(data[:-100]))
    before = contents(copy)
    run = config.read(copy / "run.toml")
    with pytest.raises(LudusError, match=rf"{group}\.safetensors"):
        trainer.go(copy, run, resume=True, steps=10**6)
    with pytest.raises(LudusError, match=rf"{group}\.safetensors"):
        trained.load(copy)
    assert contents(copy) == before


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"workers": 3, "runtime": "threads"}, "a run with 1 workers, not 3"),
        ({"num_envs": 17}, "another method or number of rows"),
        ({"tables": "seat"}, "numbered positions"),
        ({"algorithm": "double_q"}, "it has no first, second"),
        ({"algorithm": "sarsa_lambda"}, "resume it with its own run.toml"),
    ],
)
def test_settings_that_do_not_fit_the_checkpoint_are_refused(trainer, copy, contents, setting, sentence):
    before = contents(copy)
    run = config.from_dict(config.to_dict(config.read(copy / "run.toml")) | setting | {"steps": 10**6}, "the test")
    with pytest.raises(LudusError) as refused:
        trainer.go(copy, run, resume=True)
    assert sentence in str(refused.value)
    assert contents(copy) == before


@pytest.mark.parametrize(
    ("group", "name", "array"),
    [
        ("learner", "counters", [5]),
        ("learner", "counters", [5, 5]),
        ("worker_0", "time", np.zeros(0, np.int64)),
        ("worker_0", "memory", np.zeros(3, np.uint8)),
        ("worker_0", "games", np.zeros(3, np.uint8)),
        ("worker_0", "desks", np.zeros(3, np.float64)),
        ("worker_0", "states", np.zeros(3, np.uint8)),
        ("worker_0", "played", np.zeros(0, np.int64)),
        ("params", "count", np.zeros(0, np.int64)),
        ("params", "count", [-1]),
        ("params", "count", [2**62]),
        ("params", "count", [np.nan]),
        ("params", "known", np.zeros((3, 3), np.uint64)),
        ("params", "visits", np.zeros(3, np.uint64)),
        ("params", "values", np.zeros((3, 9), np.float64)),
    ],
    ids=lambda value: "x".join(map(str, value.shape)) if isinstance(value, np.ndarray) else str(value),
)
def test_a_checkpoint_that_was_tampered_with_is_refused(trainer, copy, contents, set_array, group, name, array):
    """Its sums are right, its content is not."""
    set_array(newest(copy), group, name, array)
    before = contents(copy)
    with pytest.raises(LudusError):
        trainer.go(copy, config.read(copy / "run.toml"), resume=True, steps=10**6)
    assert contents(copy) == before


def test_a_checkpoint_that_lacks_a_group_is_refused(trainer, copy):
    path = newest(copy)
    stored = checkpoint.load(path)
    for group, sentence in (("learner", "it has no step counters"), ("params", "not a table")):
        shutil.rmtree(path)
        arrays = {name: arrays for name, arrays in stored.arrays.items() if name != group}
        checkpoint.save(path.parent, int(path.name), checkpoint.Checkpoint(stored.manifest, arrays))
        with pytest.raises(LudusError, match=sentence):
            trainer.go(copy, config.read(copy / "run.toml"), resume=True, steps=10**6)


def test_metrics_that_were_scribbled_in_are_refused(trainer, copy, contents):
    lines = (copy / "metrics.jsonl").read_text().splitlines()
    (copy / "metrics.jsonl").write_text("\n".join([lines[0], "scribble", *lines[1:]]) + "\n")
    before = contents(copy)
    with pytest.raises(LudusError, match=r"line 2 of .*metrics\.jsonl"):
        trainer.go(copy, config.read(copy / "run.toml"), resume=True, steps=10**6)
    assert contents(copy) == before


def test_moves_that_cannot_be_made_are_refused(finished):
    with pytest.raises(LudusError, match='"z9" is not a legal move here; legal moves are a1, b1'):
        inspection.inspect(finished, ("b2", "z9"))
    with pytest.raises(LudusError, match='"b2" is not a legal move here'):
        inspection.inspect(finished, ("b2", "b2"))
    won = ("a1", "a2", "b1", "b2", "c1")
    assert inspection.inspect(finished, won)["position"]["text"]
    with pytest.raises(LudusError, match='the game is over before "c2"; give fewer moves'):
        inspection.inspect(finished, (*won, "c2"))


def test_a_path_that_is_no_run_is_refused(finished, tmp_path):
    with pytest.raises(LudusError, match="there is no run"):
        trained.load(tmp_path / "nothing")
    with pytest.raises(LudusError, match="has no checkpoint yet"):
        trained.load(tmp_path)
    with pytest.raises(LudusError, match="is not the folder of a run"):
        config.read(newest(finished) / "run.toml")
