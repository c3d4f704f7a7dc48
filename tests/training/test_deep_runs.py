"""Runs of PPO as a user meets them: resumed to the bit, ended by a sentence, played by the commands."""

import json
import shutil
import threading

import numpy as np
import pytest

from ludus import cli
from ludus.agents import checkpoint, trained
from ludus.agents.neural.networks.settings import MLPArgs, ModelArgs
from ludus.algorithms.ppo import PPO
from ludus.algorithms.rollout_worker import RolloutWorker
from ludus.training import config, loggers
from ludus.types import LudusError

SMALL = {
    "algorithm": "ppo", "runtime": "threads", "num_envs": 8, "rollout_length": 6, "steps": 200, "chunk": 0,
    "update_epochs": 1, "num_minibatches": 1, "devices": 1, "mlp": {"width": 8, "depth": 1}, "learning_rate": "0.01",
    "eval_games": 4, "evaluations": 1,
}  # fmt: skip
MIXED = {"opponents": ["self:0.5", "past:0.25", "random:0.25"], "snapshot_interval": 2, "max_snapshots": 2}
FLAGS = (
    "--algorithm", "ppo", "--steps", "600", "--num-envs", "16", "--rollout-length", "16", "--mlp.width", "8",
    "--mlp.depth", "1", "--update-epochs", "1", "--num-minibatches", "2", "--devices", "1", "--eval-games", "4",
    "--evaluations", "1", "--json",
)  # fmt: skip
CLOCK = {"play_seconds", "wait_seconds", "overlap"}


def newest(folder):
    return checkpoint.newest(folder / "checkpoints")


def metrics(told, folder):
    return [{name: value for name, value in line.items() if name not in CLOCK} for line in told(folder)]


@pytest.mark.parametrize("settings", [{"runtime": "local"}, {}, MIXED], ids=["local", "threads", "opponents"])
def test_a_run_goes_on_exactly(trainer, same_arrays, told, settings):
    """Every array of the checkpoint, every metric of every update."""
    whole = trainer.whole(**SMALL | settings)
    folder, run = trainer.make(**SMALL | settings)
    assert not trainer.go(folder, run, chunks=2)[-1].finished
    assert trainer.go(folder, config.read(folder / "run.toml"), resume=True)[-1].finished
    same_arrays(whole, folder)
    assert metrics(told, whole) == metrics(told, folder) and len(metrics(told, whole)) >= 4
    stored = checkpoint.load(newest(whole))
    assert {"params", "optimiser", "learner", "worker_0"} <= set(stored.arrays)
    assert stored.manifest.agent["kind"] == "mlp" and stored.manifest.steps >= 200


def test_a_run_with_switch_is_the_same_run(trainer, same_arrays):
    """Trained, stopped and resumed with the setting, it ends in the same bits as a run without it."""
    small = {"num_layers": 1, "num_channels": 16, "rnn_channels": 16, "critic_width": 16, "critic_depth": 1}
    settings = SMALL | {"runtime": "local", "agent": "rnn", "model": {**small, "embedding_shape": [9, 4]}}
    whole = trainer.whole(**settings)
    folder, run = trainer.make(**settings | {"model": {**settings["model"], "switch": True}})
    trainer.go(folder, run, chunks=2)
    assert trainer.go(folder, config.read(folder / "run.toml"), resume=True)[-1].finished
    same_arrays(whole, folder)
    assert checkpoint.load(newest(folder)).manifest.agent["args"]["switch"]


def spoilt(harm, version=2):
    """`RolloutWorker.work`, with harm done to the rollouts of one version."""
    whole = RolloutWorker.work

    def work(self):
        rollout = whole(self)
        return harm(rollout) if self.version == version else rollout

    return work


def not_a_number(rollout):
    reward = rollout.steps.reward.copy()
    reward[1:] = np.where(rollout.steps.first[1:, :, None], reward[1:], np.nan)
    return rollout._replace(steps=rollout.steps._replace(reward=reward))


def falls_over(rollout):
    raise RuntimeError("the dice fell off the table")


def params_in(path):
    return {name: array.tobytes() for name, array in checkpoint.load(path).arrays["params"].items()}


@pytest.mark.parametrize("runtime", ["local", "threads"])
def test_numbers_that_are_none_end_a_run_with_the_parameters_before_them(trainer, monkeypatch, told, runtime):
    settings = SMALL | {"runtime": runtime, "evaluations": 0, "checkpoint_seconds": 0.0, "keep_checkpoints": 9}
    folder, run = trainer.make(**settings)
    with monkeypatch.context() as harmed:
        harmed.setattr(RolloutWorker, "work", spoilt(not_a_number))
        with pytest.raises(LudusError, match="an update produced NaN or infinity and was discarded"):
            trainer.go(folder, run)
    before, last = sorted((folder / "checkpoints").iterdir())[-2:]
    assert params_in(last) == params_in(before) and newest(folder) == last
    assert all(line["finite"] == 1.0 for line in told(folder))
    assert trained.load(folder).manifest.steps == int(last.name)
    assert trainer.go(folder, run, resume=True)[-1].finished
    assert params_in(newest(folder)) != params_in(last)


def test_an_actor_that_fails_ends_the_run_with_a_checkpoint(trainer, monkeypatch):
    folder, run = trainer.make(**SMALL | MIXED | {"evaluations": 0})
    with monkeypatch.context() as harmed:
        harmed.setattr(RolloutWorker, "work", spoilt(falls_over))
        with pytest.raises(LudusError, match="worker 0 failed: RuntimeError: the dice fell off the table"):
            trainer.go(folder, run)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ludus-worker")]
    steps = trained.load(folder).manifest.steps
    assert 0 < steps < 200 and checkpoint.load(newest(folder)).arrays["worker_0"].keys() == {"time"}
    assert trainer.go(folder, run, resume=True)[-1].finished


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"devices": 99}, "99 devices were requested, but this process has"),
        ({"num_envs": 7, "num_minibatches": 2}, "7 rows cannot be split evenly into 2 minibatches"),
        ({"game": "goofspiel", "num_envs": 3, "num_minibatches": 4}, "use --num-envs 4"),
        ({"chunk": 17}, "an update uses num_envs x rollout_length = 48 decisions"),
        ({"runtime": "single"}, 'the runtime "single" is now called "local"'),
        ({"game": "cartpole", "opponents": ["random"]}, "cartpole has one seat and no opponents"),
        ({"opponents": ["random:0"]}, '"random:0" is not an opponent with a weight'),
        ({"opponents": ["nobody"]}, 'unknown agent "nobody"'),
        ({"game": "chess"}, 'unknown game "chess"'),
    ],
)
def test_what_cannot_be_trained_is_refused_before_there_is_a_folder(trainer, settings, sentence):
    with pytest.raises(LudusError) as refused:
        trainer.make(**SMALL | settings)
    assert sentence in str(refused.value)
    assert not trainer.out.exists()


@pytest.mark.parametrize(
    ("preset", "sentence"),
    [
        ("[ppo.mlp]\nwidht = 3", 'mlp has an unknown setting "widht"; did you mean "width"?'),
        ("[ppo.model]\nrnn_typ = 3", 'model has an unknown setting "rnn_typ"; did you mean "rnn_type"?'),
        ("[ppo.mlp]\nwidth = 'broad'", "mlp: width is 'broad'; expected a value such as 64"),
        ("[ppo]\nmlp = 3", "mlp is 3; it must be a table of settings"),
        ("[pppo]\nclip = 0.1", 'a section [pppo], which is not an algorithm; did you mean "ppo"?'),
        ("[ppo]\nclip_coeff = 0.1", 'unknown setting "clip_coeff"; did you mean "clip_coef"?'),
        ("[ppo]\nagent = 'tree'", "agent is 'tree'; it must be one of mlp, rnn"),
        ("[ppo.mlp]\ndepth = 0", "depth is 0; it must be at least 1"),
    ],
)
def test_a_preset_with_a_slip_of_the_pen_is_a_sentence(tmp_path, monkeypatch, preset, sentence):
    (tmp_path / "cartpole.toml").write_text(preset)
    monkeypatch.setattr(config, "PRESETS", tmp_path)
    with pytest.raises(LudusError) as refused:
        config.resolve("cartpole", "ppo")
    assert sentence in str(refused.value)


def test_settings_inside_of_settings_come_back_from_a_file(tmp_path, monkeypatch):
    settings = PPO(
        agent="rnn", mlp=MLPArgs(width=3, activation="silu"), opponents=("self:0.5", "past"), target_kl=0.25,
        model=ModelArgs(num_channels=16, rnn_type="rwkv", embedding_shape=(5, 8), noam=False),
    )  # fmt: skip
    run = config.Run("tictactoe", settings, runtime="local")
    (tmp_path / "run.toml").write_text(config.to_toml(run))
    assert config.read(tmp_path / "run.toml") == run
    (tmp_path / "cartpole.toml").write_text(
        "[ppo]\nnum_envs = 32\n[ppo.mlp]\nwidth = 24\n[ppo.model]\nembedding_shape = 7"
    )
    monkeypatch.setattr(config, "PRESETS", tmp_path)
    preset = config.resolve("cartpole", "ppo")
    assert (preset.num_envs, preset.settings.mlp, preset.settings.model) == (
        32,
        MLPArgs(24),
        ModelArgs(embedding_shape=7),
    )
    assert preset.runtime == "threads" and config.resolve("cartpole", "sarsa").num_envs != 32


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A run of cartpole and two of tic-tac-toe, made by the command."""
    out = tmp_path_factory.mktemp("deep")
    cli.run(["train", "cartpole", *FLAGS, "--out", str(out)])
    for seed in ("1", "2"):
        cli.run(["train", "tictactoe", *FLAGS, "--seed", seed, "--out", str(out)])
    return [out / name for name in ("cartpole-0001", "tictactoe-0001", "tictactoe-0002")]


def printed(capsys, *arguments):
    capsys.readouterr()
    cli.run([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def test_a_run_has_all_that_runs_have(folders):
    for folder in folders:
        assert {path.name for path in folder.iterdir()} == {"run.toml", "metrics.jsonl", "checkpoints", "score.png"}
        run = config.read(folder / "run.toml")
        assert (run.algorithm, run.num_envs, run.settings.rollout_length, run.settings.mlp.width) == ("ppo", 16, 16, 8)
        last = loggers.read(folder / "metrics.jsonl")[-1]
        assert last["step"] >= 600 and {
            "score",
            "policy_loss",
            "value_loss",
            "approx_kl",
            "learning_rate",
            "age",
        } <= set(last)


def test_a_trained_agent_is_evaluated(folders, capsys):
    facts = printed(capsys, "evaluate", str(folders[0]), "--games", "4")
    assert facts["game"] == "cartpole" and facts["games"] == 4 and facts["score"]["estimate"] >= 1
    facts = printed(capsys, "evaluate", str(folders[1]), "--games", "4", "--against", "perfect")
    assert facts["wins"] == 0 and facts["draws"] + facts["losses"] == 4


def test_two_trained_agents_battle(folders, capsys):
    one, other = map(str, folders[1:])
    facts = printed(capsys, "battle", one, other, "--games", "8")
    again = printed(capsys, "battle", one, other, "--games", "8")
    assert facts["game"] == "tictactoe" and facts == again | {name: facts[name] for name in facts if "second" in name}


def test_a_run_is_resumed_by_the_command(folders, tmp_path, capsys):
    copy = shutil.copytree(folders[1], tmp_path / "copy")
    before = trained.load(copy).manifest.steps
    facts = printed(capsys, "train", "--resume", str(copy), "--steps", str(before + 300))
    assert facts["finished"] and facts["steps"] >= before + 300
    assert loggers.read(copy / "metrics.jsonl")[-1]["step"] == facts["steps"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"mlp": {"width": 16, "depth": 1}}, "cannot continue from .* is stored as float32"),
        ({"mlp": {"width": 8, "depth": 2}}, "cannot continue from .* has no"),
        ({"workers": 2}, "a run with 1 workers, not 2"),
        ({"num_envs": 32, "chunk": 512}, "another agent, opponents or number of rows"),
        ({"game": "connect4"}, "this checkpoint is for tictactoe, not connect4"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_another_architecture_is_a_sentence(folders, trainer, tmp_path, contents, change, sentence):
    copy = shutil.copytree(folders[1], tmp_path / "copy")
    before = contents(copy)
    values = config.to_dict(config.read(copy / "run.toml")) | {"steps": 10**6} | change
    with pytest.raises(LudusError, match=sentence):
        trainer.go(copy, config.from_dict(values, "the test"), resume=True)
    assert contents(copy) == before


def test_a_checkpoint_that_tells_of_another_network_is_a_sentence(folders, tmp_path):
    """Its description was changed, its parameters were not."""
    path = newest(shutil.copytree(folders[1], tmp_path / "copy"))
    stored = checkpoint.load(path)
    agent = {**stored.manifest.agent, "args": {**stored.manifest.agent["args"], "width": 16}}
    manifest = stored.manifest._replace(agent=agent)
    shutil.rmtree(path)
    checkpoint.save(path.parent, int(path.name), checkpoint.Checkpoint(manifest, stored.arrays))
    with pytest.raises(LudusError, match="is stored as float32"):
        trained.load(path)
