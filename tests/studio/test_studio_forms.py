"""Forms: every setting has a field, typed values are parsed, and errors are reported at their fields."""

import dataclasses

import pytest

from ludus.studio import forms
from ludus.studio.refusal import Refusal
from ludus.training import config


def fields(game, algorithm=None):
    return {field["name"]: field for group in forms.form(game, algorithm)["groups"] for field in group["fields"]}


@pytest.mark.parametrize(("game", "algorithm"), [("tictactoe", "q_learning"), ("cartpole", "ppo"), ("car", "ppo")])
def test_a_form_has_every_setting_once_with_its_help(game, algorithm):
    found = fields(game, algorithm)
    run = config.resolve(game, algorithm)
    flat = {f"{name}.{inner}": value for name, part in config.to_dict(run).items() if isinstance(part, dict)
            for inner, value in part.items()}  # fmt: skip
    flat |= {name: value for name, value in config.to_dict(run).items() if not isinstance(value, dict)}
    assert set(found) == set(flat) - {"game", "algorithm"}
    for name, field in found.items():
        assert field["help"], f"{name} has no docstring"
        expected = forms.CHECKPOINT_SECONDS if name == "checkpoint_seconds" else flat[name]
        assert field["value"] == (list(expected) if isinstance(expected, tuple) else expected)


def test_kinds_and_choices_are_those_of_the_types():
    found = fields("cartpole", "ppo")
    kinds = {
        name: found[name]["kind"] for name in ("steps", "gamma", "learning_rate", "runtime", "refresh_rollouts", "log")
    }
    assert kinds == {"steps": "integer", "gamma": "number", "learning_rate": "text", "runtime": "choice",
                     "refresh_rollouts": "switch", "log": "list"}  # fmt: skip
    assert found["advantage_estimator"]["choices"] == ["gae", "vtrace"]
    assert {"local", "threads", "processes", "mpi"} <= set(found["runtime"]["choices"])
    assert fields("tictactoe")["policy"]["choices"] == ["boltzmann", "epsilon_greedy", "ucb"]
    assert not found["steps"]["advanced"] and found["rho_clip"]["advanced"]


@pytest.mark.parametrize(
    ("name", "typed", "expected"),
    [("steps", "1e6", 10**6), ("steps", "1 000 000", 10**6), ("steps", "1_000", 1000), ("steps", 12, 12),
     ("gamma", ".5", 0.5), ("gamma", 1, 1.0), ("learning_rate", 0.1, "0.1"), ("refresh_rollouts", "no", False),
     ("refresh_rollouts", True, True), ("mlp.width", "128", 128), ("log", "tensorboard", ("tensorboard",)),
     ("log", [], ()), ("opponents", "self:0.5, random:0.5", ("self:0.5", "random:0.5")),
     ("model.embedding_shape", "10, 4", (10, 4))],
)  # fmt: skip
def test_typed_values_are_parsed(name, typed, expected):
    run = forms.run_of("cartpole", "ppo", {name: typed})
    owner, _, inner = name.rpartition(".")
    part = getattr(run.settings, owner) if owner else run if hasattr(run, name) else run.settings
    assert getattr(part, inner) == expected


def test_every_error_is_reported_at_its_field():
    typed = {"steps": "-3", "num_envs": "many", "mlp.width": "1.5", "gamma": "2", "advantage_estimator": "magic",
             "log": "paper", "learning_rate": "linear(", "refresh_rollouts": "perhaps", "burn_in": 10**6, "nonsense": 1,
             "seed": None, "eval_games": "inf", "runtime": "magic", "opponents": "self, /etc/passwd"}  # fmt: skip
    found = forms.errors("cartpole", "ppo", typed)
    assert set(found) == set(typed)
    assert all(sentence and "Traceback" not in sentence for sentence in found.values())


def test_settings_that_depend_on_each_other_are_checked_together():
    assert forms.errors("cartpole", "ppo", {"burn_in": 200, "rollout_length": 300}) == {}
    assert set(forms.errors("cartpole", "ppo", {"burn_in": 200, "rollout_length": 100})) == {"burn_in"}
    assert "form" in forms.errors("tictactoe", "q_learning", {"form": "numpy", "policy": "ucb"})


def test_runs_of_the_studio_save_often_by_default():
    assert forms.run_of("tictactoe", None, {}).checkpoint_seconds == forms.CHECKPOINT_SECONDS
    assert forms.run_of("tictactoe", None, {"checkpoint_seconds": 60}).checkpoint_seconds == 60.0


def test_the_values_of_a_form_give_the_same_run():
    values = {name: field["value"] for name, field in fields("car", "ppo").items()}
    shown = dataclasses.replace(config.resolve("car(track=7)", "ppo"), checkpoint_seconds=forms.CHECKPOINT_SECONDS)
    assert forms.run_of("car(track=7)", "ppo", values) == shown


@pytest.mark.parametrize(
    ("game", "algorithm", "status"),
    [("chss", None, 404), ("car(track=)", None, 422), ("gymnasium:CartPole-v1", None, 404), ("car", "q_learning", 422),
     ("car", "magic", 404)],
)  # fmt: skip
def test_games_and_algorithms_that_do_not_fit_are_refused(game, algorithm, status):
    with pytest.raises(Refusal) as refused:
        forms.form(game, algorithm)
    assert refused.value.status == status


def test_only_fitting_algorithms_are_offered():
    assert set(forms.form("car", None)["algorithms"]) == {"ppo", "rllib_ppo", "world_model"}
    assert "value_iteration" in forms.form("tictactoe", None)["algorithms"]
    assert "value_iteration" not in forms.form("connect4", None)["algorithms"]
    assert set(forms.form("balatro", None)["algorithms"]) == {"ppo", "rllib_ppo"}
