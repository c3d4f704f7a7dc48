"""RLlib's PPO: the networks and their twins, self-play, checkpoints that continue, and import of RLlib's own."""

import functools
import json
import pathlib
import shutil
import sys

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="pip install 'ludus[rllib]'")
pytest.importorskip("torch", reason="pip install 'ludus[rllib]'")

import torch
from gymnasium import spaces
from ray.rllib.algorithms.ppo import PPOConfig

import ludus
from ludus import algorithms, games
from ludus.agents import checkpoint
from ludus.agents.neural.agent import new_agent
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.algorithms.rllib_ppo import RLlibPPO, build, config, session
from ludus.algorithms.rllib_ppo.callbacks import BalatroCheckpointCallback
from ludus.algorithms.rllib_ppo.environments import GameVectorEnv, features_of, played, view_of
from ludus.algorithms.rllib_ppo.modules import BalatroNet, GeneralNet, flax_arrays, torch_tensors
from ludus.bridges import balatro_env
from ludus.cli import run as command
from ludus.pool import Pool
from ludus.training import config as runs_config
from ludus.training import runs
from ludus.training.import_rllib import import_rllib
from ludus.types import Continuous, LudusError

SMALL = {
    "num_env_runners": 0, "num_envs": 2, "rollout_length": 10, "train_batch_size": 40, "minibatch_size": 20,
    "update_epochs": 1, "eval_games": 4, "evaluations": 1,
}  # fmt: skip
BALATRO = MLPArgs(network="balatro_encoders")


@pytest.fixture(scope="module", autouse=True)
def ray():
    """One Ray for the file."""
    with session.started():
        yield


def module_for(pool: Pool, args: MLPArgs, values: int):
    view = view_of(pool, args.network)
    spaces_of = {"observation_space": view.observation_space, "action_space": view.action_space}
    if args.network:
        return BalatroNet(**spaces_of, model_config={}), view
    sizes = {"width": args.width, "depth": args.depth, "activation": args.activation, "shared": args.shared}
    return GeneralNet(**spaces_of, model_config=sizes | {"tables": features_of(pool).tables, "values": values}), view


@pytest.mark.parametrize(
    ("game", "args"),
    [
        ("balatro", BALATRO),
        ("balatro", MLPArgs(width=8, own=False)),
        ("connect4", MLPArgs(width=8, shared=True)),
        ("goofspiel", MLPArgs(width=8, depth=3, activation="silu")),
        ("car", MLPArgs(width=8, activation="gelu")),
        ("lair", MLPArgs(width=8, activation="relu")),
    ],
    ids=str,
)
def test_a_module_and_its_twin_have_the_same_outputs(game, args):
    pool = Pool(game, 8, seed=1)
    for seed in range(20):
        step = pool.advance(pool.random_actions(seed))
    agent, dice = new_agent(pool, args), np.random.default_rng(0)
    module, view = module_for(pool, args, agent.network.outputs)
    shapes = checkpoint.flatten(agent.init(pool.spec, 3))
    arrays = {name: dice.normal(0.0, 0.1, array.shape).astype(np.float32) for name, array in shapes.items()}
    module.load_state_dict(torch_tensors(module, arrays))
    back = flax_arrays(module, dict(module.named_parameters()))
    assert list(back) == list(arrays) and all(np.array_equal(back[name], arrays[name]) for name in arrays)
    batch = {"obs": {name: torch.as_tensor(part) for name, part in view.encode(step.observation, step.mask).items()}}
    with torch.no_grad():
        out = module.forward_inference(batch)
        logits, value = out["action_dist_inputs"].numpy(), module.compute_values(batch).numpy()
        assert np.allclose(value, module.compute_values(batch, out.get("embeddings")).numpy(), atol=1e-6)
    params = checkpoint.unflatten(agent.init(pool.spec, 3), arrays)
    (_, policy, values, _), _ = agent.network.apply(
        params, step.observation, (), step.first, step.seat, train=False, legal=step.mask, mutable=[]
    )
    assert np.abs(np.asarray(values)[:, 0] - value).max() <= 1e-5 * max(1.0, np.abs(value).max())
    if isinstance(policy, tuple):
        assert np.abs(np.concatenate(policy, axis=1) - logits).max() <= 1e-5
    else:
        twin = np.asarray(policy)
        assert np.abs(twin - logits)[step.mask].max() <= 1e-5 * max(1.0, np.abs(twin[step.mask]).max())
        assert (logits[~step.mask] < -1e8).all()


def test_balatro_net_has_the_layers_of_the_document():
    module = BalatroNet(
        observation_space=balatro_env.new_observation_space(), action_space=spaces.Discrete(1000), model_config={}
    )
    shapes = {name: tuple(part.shape) for name, part in module.named_parameters() if name.endswith("weight")}
    assert shapes == {
        "card_encoder.0.weight": (256, 208), "card_encoder.2.weight": (128, 256),
        "joker_encoder.0.weight": (512, 1200), "joker_encoder.2.weight": (256, 512),
        "shared_layers.0.weight": (512, 512), "shared_layers.2.weight": (512, 512),
        "policy_head.weight": (1000, 512), "value_head.weight": (1, 512),
    }  # fmt: skip


def test_continuous_actions_are_squashed_to_their_bounds():
    spec = Pool("car", 1).spec
    assert isinstance(spec.actions, Continuous)
    actions = played(
        spec, [[-50.0] * len(spec.actions.low), [0.0] * len(spec.actions.low), [50.0] * len(spec.actions.low)]
    )
    low, high = np.array(spec.actions.low), np.array(spec.actions.high)
    assert np.allclose(actions, [low, (low + high) / 2, high], atol=1e-4)
    Pool("car", 3).check(actions)


def test_games_continue_after_a_reset_and_in_another_environment():
    one, other = (GameVectorEnv({"game": "cartpole", "network": "", "num_envs": 3}) for _ in range(2))
    one.reset(seed=5)
    for _ in range(30):
        seen = one.step(np.ones(3, np.int64))[0]
    again, _ = one.reset(seed=6)
    running = one.pool.status == 0
    assert np.array_equal(again["features"][running], seen["features"][running])
    assert (one.pool.status == 0).all()
    other.record.restore(one.record.state())
    assert np.array_equal(other.reset(seed=7)[0]["features"], one.reset()[0]["features"])
    tally = one.record.take()
    assert tally[0] == one.record.tally[0] + tally[0] > 0 and tally[2] <= 90
    assert tally[1] + one.record.lengths.sum() == tally[2]


@pytest.mark.parametrize("game", ["tictactoe", "goofspiel", "cartpole", "car"])
def test_it_trains_games_of_every_kind(game, tmp_path):
    """Two seats in turn and at once by self-play, one seat, and continuous actions."""
    run = ludus.train(game, "rllib_ppo", steps=80, out=tmp_path, mlp={"width": 8}, **SMALL)
    lines = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
    assert {"policy_loss", "value_loss", "entropy", "approx_kl", "games_per_hour"} <= set(lines[-1])
    assert lines[-1]["step"] >= 80 and lines[-1]["finite"] == 1.0
    assert any((tmp_path).glob("*/checkpoints/*/manifest.json"))


def test_a_run_continues_exactly_from_its_checkpoint(tmp_path):
    """Two env runners play; the games in progress, the random numbers and the optimiser are those of the checkpoint."""
    many = {"num_env_runners": 2, "steps": 120, "checkpoint_seconds": 0.0, "keep_checkpoints": 9}
    run = runs_config.resolve("cartpole", "rllib_ppo").replace(**SMALL | many)
    folder, opened = runs.start(run, tmp_path)
    *_, whole = runs.carry_out(folder, opened)
    early, *later, _ = checkpoint.list_checkpoints(folder / "checkpoints")
    assert later
    for path in checkpoint.list_checkpoints(folder / "checkpoints"):
        if path != early:
            path.rename(tmp_path / path.name)
    *_, resumed = runs.carry_out(folder, run, resume=True)
    assert resumed.saved.name == whole.saved.name
    ends = [checkpoint.load(path).arrays for path in (tmp_path / whole.saved.name, resumed.saved)]
    for group in ("params", "optimiser", "worker_0"):
        assert all(np.array_equal(ends[0][group][name], array) for name, array in ends[1][group].items())


def plain_config(folder: pathlib.Path):
    """RLlib's own configuration for Balatro, as in docs/rllib.md, with tiny numbers."""
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec

    tiny = {"num_workers": 0, "num_envs_per_worker": 2, "rollout_fragment_length": 20, "train_batch_size": 40,
            "sgd_minibatch_size": 20, "num_sgd_iter": 1}  # fmt: skip
    made = config.translated(config.PPO_CONFIG, tiny)
    made.environment(balatro_env.BalatroVectorEnv, env_config={"stake": "white"}, disable_env_checking=True)
    made.env_runners(gym_env_vectorize_mode="vector_entry_point")
    made.rl_module(rl_module_spec=RLModuleSpec(module_class=BalatroNet))
    made.callbacks(functools.partial(BalatroCheckpointCallback, folder))
    return made.reporting(min_time_s_per_iteration=0)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder of checkpoints of RLlib, and the path of one that was saved after training."""
    folder = tmp_path_factory.mktemp("rllib")
    algorithm = build.built(plain_config(folder))
    for _ in range(4):
        algorithm.train()
        if list(folder.glob("*.meta")):
            break
    stop(algorithm)
    return folder


def stop(algorithm):
    """Stop RLlib and remove the folder that it has made for its logs."""
    algorithm.stop()
    shutil.rmtree(algorithm.logdir)


def test_a_better_mean_return_saves_a_checkpoint_with_metadata(saved):
    (meta, *_) = sorted(saved.glob("*.meta"))
    facts = json.loads(meta.read_text())
    assert set(facts) == {"reward", "timesteps", "games_played", "timestamp"}
    assert facts["timesteps"] >= 40 and facts["games_played"] >= 1
    assert meta.with_suffix("").is_dir() and BalatroCheckpointCallback(saved).best_reward == facts["reward"]


def test_rllib_continues_from_a_checkpoint(saved):
    path = next(iter(sorted(saved.glob("checkpoint-*[0-9]"))))
    algorithm = build.built(plain_config(saved))
    algorithm.restore_from_path(str(path))
    assert algorithm.iteration == int(path.name.partition("-")[2])
    result = algorithm.train()
    stop(algorithm)
    assert result["training_iteration"] == int(path.name.partition("-")[2]) + 1


def test_a_checkpoint_of_rllib_becomes_a_run(saved, tmp_path, capsys):
    path = next(iter(sorted(saved.glob("checkpoint-*[0-9]"))))
    command(["import", str(path), "--out", str(tmp_path), "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["parameters"] == 1_871_465
    score = ludus.evaluate(facts["folder"], games=4)
    assert score.games == 4
    run = runs_config.read(pathlib.Path(facts["folder"]) / "run.toml")
    resumed = run.replace(**SMALL | {"steps": facts["timesteps"] + 40})
    *_, last = runs.carry_out(pathlib.Path(facts["folder"]), resumed, resume=True)
    assert last.steps >= facts["timesteps"] + 40


def test_folders_that_are_no_such_checkpoints_are_refused(saved, tmp_path):
    path = next(iter(sorted(saved.glob("checkpoint-*[0-9]"))))
    with pytest.raises(LudusError, match=r"is missing or not JSON"):
        import_rllib(tmp_path, tmp_path / "runs")
    there = tmp_path / "checkpoint-000001"
    there.mkdir()
    (tmp_path / "checkpoint-000001.meta").write_text((saved / f"{path.name}.meta").read_text())
    with pytest.raises(LudusError, match=r"has no weights.safetensors; train with"):
        import_rllib(there, tmp_path / "runs")
    (there / "weights.safetensors").write_bytes((path / "weights.safetensors").read_bytes()[:-8])
    with pytest.raises(LudusError, match=r"weights.safetensors"):
        import_rllib(there, tmp_path / "runs")
    (tmp_path / "checkpoint-000001.meta").write_text('{"reward": 0.5, "timesteps": -1, "games_played": 3}')
    with pytest.raises(LudusError, match=r"has no timesteps and games_played"):
        import_rllib(there, tmp_path / "runs")


def test_the_configs_are_translated():
    made = config.translated(config.PPO_CONFIG, config.GPU_CONFIG)
    assert (made.num_env_runners, made.num_envs_per_env_runner, made.rollout_fragment_length) == (2, 4, 200)
    assert (made.train_batch_size_per_learner, made.minibatch_size, made.num_epochs) == (4000, 128, 30)
    assert (made.lr, made.lambda_, made.gamma, made.entropy_coeff) == (5e-5, 0.95, 0.99, 0.01)
    assert (made.clip_param, made.vf_clip_param, made.grad_clip, made.kl_target) == (0.2, 10.0, 0.5, 0.02)
    assert (made.num_gpus_per_learner, made.num_gpus_per_env_runner) == (1, 0)
    assert made.custom_resources_per_env_runner == {"gpu_memory": 0.1}


def test_the_batch_may_be_larger_than_wanted():
    """4,000 is no multiple of the 1,600 decisions of two env runners with four games and rollouts of 200."""
    config.translated(config.PPO_CONFIG).environment(GameVectorEnv).validate()
    with pytest.raises(ValueError, match="train_batch_size"):
        PPOConfig().environment(GameVectorEnv).env_runners(
            num_env_runners=2, num_envs_per_env_runner=4, rollout_fragment_length=200
        ).training(train_batch_size_per_learner=4000).validate()


def test_the_defaults_are_those_of_the_config():
    """Under the names that RENAMED gives them."""
    renamed, settings = RLlibPPO.RENAMED, RLlibPPO()
    own = {renamed.get(name, name): value for name, value in config.PPO_CONFIG.items()}
    run = runs_config.resolve("balatro", "rllib_ppo")
    assert run.num_envs == own.pop("num_envs") and own.pop("framework") == "torch"
    assert {name: getattr(settings, name) for name in own} == own
    assert run.settings.mlp.network == "balatro_encoders"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"kl_coeff": 0.1}, 'unknown setting "kl_coeff"; it is now called "kl_coef": rename it'),
        ({"num_sgd_iter": 3}, 'unknown setting "num_sgd_iter"; it is now called "update_epochs": rename it'),
        ({"minibatch_size": 5000}, "minibatch_size must be at most train_batch_size, 4000"),
        ({"num_env_runners": -1}, "num_env_runners must be 0 or more, not -1"),
        ({"kl_target": 0.0}, "kl_target must be above 0, not 0"),
        ({"mlp": {"network": "mine"}}, 'no PyTorch module for mlp.network "mine"'),
    ],
)
def test_wrong_settings_are_refused(settings, sentence):
    with pytest.raises(LudusError, match=sentence):
        runs_config.from_dict({"game": "tictactoe", "algorithm": "rllib_ppo"} | settings, "this run")


def test_wrong_configs_are_refused():
    with pytest.raises(LudusError, match=r'unknown setting "num_worker" .*did you mean "num_workers"\?'):
        config.translated({"num_worker": 2})
    with pytest.raises(LudusError, match=r"cannot pretend to have GPUs; leave out _fake_gpus"):
        config.translated({"_fake_gpus": True})


def test_what_it_cannot_train_is_refused():
    kind = algorithms.settings_kind("rllib_ppo")
    fitting = {name for name in games.bundled() if kind.fits("rllib_ppo", games.load(name))}
    assert fitting == set(games.bundled()) - {"duel"}
    with pytest.raises(
        LudusError, match="rllib_ppo uses one worker, not 2; its processes are set by --num-env-runners"
    ):
        RLlibPPO().count_workers(2, 2)


@pytest.mark.parametrize("module", ["ray", "torch"])
def test_without_the_extra_one_sentence_names_it(module, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(LudusError, match=r"rllib_ppo needs RLlib and PyTorch .*pip install 'ludus\[rllib\]'"):
        ludus.train("tictactoe", "rllib_ppo", steps=10, out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_benchmark_of_no_games_is_refused():
    with pytest.raises(LudusError, match="--games must be at least 1, not 0"):
        command(["bench", "balatro", "--games", "0"])
