"""Settings: defaults < preset < flags, written down and read back; what nobody can mean is refused with a sentence."""

import dataclasses
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus import algorithms, bridges, games
from ludus.algorithms import tabular
from ludus.runtimes.transport.ray_cluster import RaySettings
from ludus.training import config
from ludus.types import LudusError

TINY = {"game": "tictactoe", "algorithm": "q_learning"}
numbers = st.floats(0, 1e300, allow_nan=False)


def read_back(tmp_path, run):
    path = tmp_path / "run.toml"
    path.write_text(config.to_toml(run))
    return config.read(path)


@given(
    steps=st.integers(1, 2**62), num_envs=st.integers(1, 10**6), seed=st.integers(-(2**62), 2**62),
    runtime=st.sampled_from(["local", "threads", "processes"]), checkpoint_seconds=numbers,
    gamma=st.floats(0, 1), priority_threshold=st.floats(1e-300, 1), game=st.text(st.characters(codec="utf-8")),
    log=st.lists(st.sampled_from(["tensorboard", "wandb"])),
)  # fmt: skip
def test_every_run_reads_back_equal(tmp_path_factory, **values):
    run = config.from_dict(TINY | values, "the test")
    again = read_back(tmp_path_factory.getbasetemp(), run)
    assert again == run
    assert config.to_dict(again).keys() == config.to_dict(run).keys()


@pytest.mark.parametrize("name", algorithms.names())
def test_every_algorithm_has_settings_that_read_back(tmp_path, name):
    run = config.from_dict({"game": "tictactoe", "algorithm": name}, "the test")
    assert run.algorithm == name
    assert read_back(tmp_path, run) == run


def test_every_setting_is_written():
    run = config.from_dict(TINY, "the test")
    fields = {field.name for kind in (config.Run, tabular.Tabular) for field in dataclasses.fields(kind)}
    assert set(config.to_dict(run)) == fields - {"settings", "runtime_settings", "method"} | {"algorithm"}
    placed = config.to_dict(run.replace(runtime="ray", address="auto"))
    assert set(placed) - set(config.to_dict(run)) == config.field_names(RaySettings)


def test_a_preset_is_over_the_defaults_and_its_section_over_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "PRESETS", tmp_path)
    (tmp_path / "tictactoe.toml").write_text(
        'algorithm = "sarsa"\nsteps = 7\nnum_envs = 3\n'
        "[tabular]\nnum_envs = 4\ngamma = 0.5\nlearning_rate = 0.25\n"
        "[q_learning]\nnum_envs = 5\n[value_iteration]\nseed = 9\n"
    )
    run = config.resolve("tictactoe")
    assert (run.algorithm, run.steps, run.num_envs, run.seed) == ("sarsa", 7, 4, 0)
    assert (run.settings.gamma, run.settings.learning_rate) == (0.5, "0.25")
    assert config.resolve("tictactoe", "q_learning").num_envs == 5
    planned = config.resolve("tictactoe", "value_iteration")
    assert (planned.num_envs, planned.seed, planned.settings.gamma) == (3, 9, 1.0)


def test_a_short_run_plays_fewer_games_at_once(monkeypatch):
    """One rollout of the preset may be longer than the whole run."""
    monkeypatch.setattr(config, "available_cores", lambda: 2)
    usual = config.resolve("tictactoe", "ppo")
    short = config.resolve("tictactoe", "ppo", steps=3_000)
    assert (usual.num_envs, short.num_envs) == (512, 16)
    assert 3_000 // (short.num_envs * short.settings.rollout_length) >= config.FEWEST_UPDATES
    assert config.resolve("tictactoe", "ppo", steps=usual.steps).num_envs == usual.num_envs
    assert config.resolve("cartpole", "ppo", steps=600).num_envs == 2 * 4 * 4, "devices, minibatches and their parts"
    assert config.resolve("car", "world_model", steps=600).num_envs == 1
    assert config.resolve("tictactoe", "q_learning", steps=600) == config.resolve("tictactoe", "q_learning")


def test_a_game_without_a_preset_has_defaults():
    """An environment of another package may have no preset."""
    run = config.resolve("gymnasium:Blackjack-v1(sab=true)", "sarsa")
    assert run == config.from_dict({"game": "gymnasium:Blackjack-v1(sab=true)", "algorithm": "sarsa"}, "the test")


def test_an_unknown_game_is_rejected():
    with pytest.raises(LudusError, match='unknown game "tictactoo"; did you mean "tictactoe"'):
        config.resolve("tictactoo")
    with pytest.raises(LudusError, match='unknown game "chess"; ludus games lists all'):
        config.resolve("chess(board=8)", "sarsa")


@pytest.mark.parametrize("path", sorted(config.PRESETS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_preset_is_of_a_game_and_every_section_of_an_algorithm(path):
    """Each section is read with an algorithm that it is for, so that a slip of the pen in it is seen here."""
    stem, _, variant = path.stem.partition(".")
    prefix, _, rest = stem.rpartition("_")
    assert prefix in bridges.PREFIXES if prefix else rest in games.names()
    game = f"{prefix}:{rest}" if prefix else rest
    assert config.preset_path(game, variant) == path
    config.resolve(game, None, variant)
    kinds = {algorithms.family(name): name for name in algorithms.names()}
    for name in (name for name, section in tomllib.loads(path.read_text()).items() if isinstance(section, dict)):
        assert config.resolve(game, kinds.get(name, name), variant).game == game


def test_the_preset_of_a_game_is_found_whatever_its_parameters():
    assert config.preset_path("gymnasium:Taxi-v4(is_rainy=true)").name == "gymnasium_Taxi-v4.toml"
    assert config.preset_path("../../etc/passwd").parent == config.PRESETS
    assert config.preset_path("discretize:cartpole(bins=8)").name == "discretize_cartpole.toml"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("learning_rat = 0.1", 'unknown setting "learning_rat"; did you mean "learning_rate"?'),
        ("xyzzy = 1", 'unknown setting "xyzzy"'),
        ("rows = 1", 'unknown setting "rows"; it is now called "num_envs": rename it'),
        ("discount = 0.9", 'unknown setting "discount"; it is now called "gamma": rename it'),
        ("[section]\nrows = 1", 'unknown setting "section"'),
        ('steps = "many"', "steps is 'many'; expected a value such as 10000000"),
        ("steps = 1e6", "steps is 1000000.0; expected a value such as 10000000"),
        ("steps = true", "steps is True"),
        ("steps = 0", "steps must be 1 or more, not 0"),
        ("num_envs = -1", "num_envs must be 1 or more, not -1"),
        ("workers = -1", "workers must be 0 or more, not -1"),
        ("checkpoint_seconds = nan", "checkpoint_seconds must be 0 or more, not nan"),
        ("checkpoint_seconds = inf", "checkpoint_seconds must be 0 or more, not inf"),
        ("gamma = 1.5", "gamma and trace_decay must be between 0 and 1"),
        ("gamma = nan", "gamma and trace_decay must be between 0 and 1"),
        ("priority_threshold = nan", "priority_threshold above 0"),
        ("learning_rate = true", "learning_rate is True"),
        ('learning_rate = "fast"', "fast"),
        ("learning_rate = nan", "nan"),
        ('runtime = "cloud"', 'unknown runtime "cloud"; known are local, mpi, mpi_server, processes, ray, threads'),
        ('tables = "banana"', "tables is 'banana'; it must be one of shared, seat"),
        ('form = "fortran"', "form is 'fortran'; it must be one of compiled, numpy, list"),
        ('log = ["paper"]', "log is 'paper'; it must be one of tensorboard, wandb"),
        ("log = 3", "log is 3"),
        ('policy = "bold"', 'unknown policy "bold"'),
        ("policy = 3", 'unknown policy "3"'),
        ('form = "numpy"\npolicy = "ucb"', "form=numpy supports q_learning with epsilon_greedy only"),
        ("rows = ", "cannot read the settings"),
        ("rows = 1\nrows = 2", "cannot read the settings"),
    ],
)
def test_settings_that_nobody_can_mean_are_refused(tmp_path, text, sentence):
    path = tmp_path / "run.toml"
    path.write_text(f'game = "tictactoe"\nalgorithm = "q_learning"\n{text}\n')
    with pytest.raises(LudusError) as refused:
        config.read(path)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no setting game"),
        ('game = "tictactoe"', "has no setting algorithm"),
        ('algorithm = "q_learning"', "has no setting game"),
        ('game = 5\nalgorithm = "q_learning"', "has no setting game"),
        ('game = "tictactoe"\nalgorithm = ["q_learning"]', "has no setting algorithm"),
        ('game = "tictactoe"\nalgorithm = "q_lerning"', 'unknown algorithm "q_lerning"; did you mean "q_learning"?'),
    ],
)
def test_settings_without_a_game_or_an_algorithm_are_refused(tmp_path, text, sentence):
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(LudusError) as refused:
        config.read(path)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a" * (2**16 + 1), b"\x00"], ids=["bytes", "large", "nul"])
def test_what_is_no_text_is_no_setting(tmp_path, data):
    (tmp_path / "run.toml").write_bytes(data)
    with pytest.raises(LudusError, match=r"run\.toml"):
        config.read(tmp_path / "run.toml")


def test_a_folder_without_settings_is_no_run(tmp_path):
    with pytest.raises(LudusError, match=r"is not the folder of a run: it has no run\.toml"):
        config.read(tmp_path / "run.toml")


def test_a_game_may_have_presets_for_other_machines():
    assert config.resolve("duel", None, "gpu").settings.model.rnn_type == "lstm"
    assert config.resolve("duel(deck1=any)", "ppo", "gpu").game == "duel(deck1=any)"
    with pytest.raises(LudusError, match='duel has no preset "tpu"; it has gpu'):
        config.resolve("duel", None, "tpu")
    with pytest.raises(LudusError, match='tictactoe has no preset "gpu"; it has only its default preset'):
        config.resolve("tictactoe", None, "gpu")
    assert config.preset_path("duel", "../../etc/passwd").parent == config.PRESETS
