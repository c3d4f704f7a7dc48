"""A game, a tabular method, a deep algorithm, a network and a runtime are one file each, and are used by name.

Each file of the folder `third_party` is added as CONTRIBUTING describes it: in the local folder of its kind, and by an
installed package with an entry point. Nothing else is written, and the command line finds it.
"""

import io
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import ludus
from ludus import algorithms, cli
from ludus.agents import checkpoint
from ludus.cli import arguments
from ludus.training import config
from ludus.types import LudusError

SOURCES = pathlib.Path(__file__).with_name("third_party")
CONTRIBUTING = pathlib.Path(__file__).parents[1] / "CONTRIBUTING.md"
SHORT = ("--evaluations", "1", "--eval-games", "10", "--json")
KINDS = ("games", "algorithms", "networks", "runtimes")


class Author:
    """Somebody who adds modules, each as one file, without a change in the package."""

    def __init__(self, home: pathlib.Path, place: str, capsys) -> None:
        self.home, self.place, self.capsys = home, place, capsys

    def add(self, kind: str, file: str) -> str:
        """Add a module of the folder `third_party`; returns the name under which it is found."""
        # In one process the modules of both places must have different names; a network has the name of its game.
        name = file if kind == "networks" else f"{file}_{self.place}"
        text = (SOURCES / f"{file}.py").read_text()
        if self.place == "local":
            write(self.home / f"ludus_{kind}" / f"{name}.py", text)
        else:
            package = self.home / "site" / f"my_{kind}"
            write(package / "__init__.py", "")
            write(package / f"{name}.py", text)
            facts = self.home / "site" / f"my_{kind}-1.0.dist-info"
            write(facts / "METADATA", f"Metadata-Version: 2.1\nName: my-{kind}\nVersion: 1.0\n")
            write(facts / "entry_points.txt", f"[ludus.{kind}]\n{name} = my_{kind}.{name}\n")
        return name

    def ludus(self, *arguments: str) -> str:
        """The output of a command in this process."""
        self.capsys.readouterr()
        cli.run(list(arguments))
        return self.capsys.readouterr().out

    def train(self, *arguments: str) -> dict:
        return json.loads(self.ludus("train", *arguments, *SHORT))

    def params(self, report: dict) -> dict[str, np.ndarray]:
        """The parameters in the newest checkpoint of a run."""
        return checkpoint.load(pathlib.Path(report["checkpoint"])).arrays["params"]

    def evaluate(self, report: dict) -> dict:
        return json.loads(self.ludus("evaluate", report["run"], "--games", "10", "--json"))


def write(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture(params=["local", "installed"])
def author(request, tmp_path, monkeypatch, capsys):
    """An author with an empty folder, in which Ludus is used; games are compiled into pytest's cache."""
    for kind in KINDS:
        monkeypatch.delenv(f"LUDUS_{kind.upper()}", raising=False)
    monkeypatch.setenv("LUDUS_CACHE", str(request.config.cache.mkdir("ludus-small-games")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"), prepend=os.pathsep)
    before, package = set(sys.modules), sources_of_ludus()
    yield Author(tmp_path, request.param, capsys)
    for name in set(sys.modules) - before:
        if name.startswith(tuple(f"{prefix}_{kind}" for kind in KINDS for prefix in ("ludus", "my"))):
            del sys.modules[name]
    assert sources_of_ludus() == package


def sources_of_ludus() -> set[str]:
    """The files of the package; no command may add one."""
    return {str(path) for path in pathlib.Path(ludus.__file__).parent.rglob("*.*") if "__pycache__" not in path.parts}


def test_game_is_one_file(author, monkeypatch):
    game = author.add("games", "pick")
    assert f"\n{game} " in author.ludus("games")
    assert "FAIL" not in author.ludus("check", game)
    monkeypatch.setattr("sys.stdin", io.StringIO("take 1\nquit\n"))
    assert "seat 1 plays" in author.ludus("play", game, "--against", "random", "--seed", "1")
    report = author.train(game, "--steps", "20000", "--num-envs", "8", "--exploration", "0.5")
    assert report["finished"] and author.evaluate(report)["game"] == game
    proof = json.loads(author.ludus("evaluate", report["run"], "--lines", "--json"))
    assert proof["seats"][0]["worst"] == 1.0  # who begins with seven stones takes one and wins


def test_tabular_method_is_one_file(author):
    """It has all settings of tabular methods and uses the presets of games for them."""
    method = author.add("algorithms", "bounded_q")
    report = author.train("tictactoe", "--algorithm", method, "--steps", "4000", "--gamma", "0.9", "--policy", "ucb")
    values = author.params(report)["values"]
    assert 0.2 < np.abs(values[values > -1e29]).max() <= 0.25
    assert author.evaluate(report)["games"] == 10
    usual, own = (config.resolve("tictactoe", name) for name in ("sarsa", method))
    assert own.algorithm == method and own.num_envs == usual.num_envs
    assert own.settings.learning_rate == usual.settings.learning_rate != "0.1"


def test_tabular_method_is_found_by_worker_processes(author):
    method = author.add("algorithms", "bounded_q")
    report = author.train(
        "tictactoe", "--algorithm", method, "--steps", "2000", "--chunk", "500", "--runtime", "processes",
        "--workers", "2",
    )  # fmt: skip
    values = author.params(report)["values"]
    assert report["finished"] and np.abs(values[values > -1e29]).max() <= 0.25


@pytest.mark.parametrize("file", ["reinforce", "bold_ppo"])
def test_deep_algorithm_is_one_file(author, file):
    """Its fields are flags; its runs are evaluated, resumed and listed like others."""
    name = author.add("algorithms", file)
    small = ("--num-envs", "8", "--rollout-length", "8", "--mlp.width", "8", "--mlp.depth", "1")
    report = author.train("tictactoe", "--algorithm", name, "--steps", "200", *small, "--runtime", "local")
    assert report["finished"] and np.isfinite(report["metrics"]["policy_loss"])
    assert author.evaluate(report)["games"] == 10
    longer = json.loads(author.ludus("train", "--resume", report["run"], "--steps", "400", "--json"))
    assert longer["steps"] >= 400 and longer["run"] == report["run"]
    before, after = author.params(report), author.params(longer)
    assert before.keys() == after.keys() and any(not np.array_equal(before[key], after[key]) for key in before)
    (summary,) = json.loads(author.ludus("runs", "--json"))["runs"]
    assert summary["algorithm"] == name


def test_algorithm_with_an_agent_of_its_own_is_one_file(author):
    """Its module restores the agent of a checkpoint, so a run can be evaluated, and can be an opponent of others."""
    name = author.add("algorithms", "preferences")
    report = author.train("tictactoe", "--algorithm", name, "--steps", "400")
    preferences = author.params(report)["preferences"]
    assert (
        report["finished"] and (preferences > 0).all()
    )  # it is rewarded for last moves, and each square has won a game
    assert author.evaluate(report)["games"] == 10
    against = ("evaluate", "tictactoe", "--agent", "random", "--against", report["run"], "--games", "10", "--json")
    assert json.loads(author.ludus(*against))["against"] == report["run"]


def test_flags_and_help_texts_of_an_algorithm_come_from_its_fields(author, monkeypatch):
    name = author.add("algorithms", "reinforce")
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        author.ludus("train", "tictactoe", "--algorithm", name, "--help")
    shown = author.capsys.readouterr().out
    assert "--rollout-length" in shown and "steps per row in one rollout; 1 or more" in shown
    with pytest.raises(LudusError, match="rollout_length must be 1 or more, not 0"):
        author.train("tictactoe", "--algorithm", name, "--rollout-length", "0")


def test_network_is_one_file(author):
    """It is used for its game only, and its checkpoints can be evaluated."""
    author.add("networks", "tictactoe")
    small = ("--num-envs", "8", "--rollout-length", "4", "--mlp.width", "8", "--mlp.depth", "1", "--runtime", "local")
    report = author.train("tictactoe", "--algorithm", "ppo", "--steps", "64", *small)
    assert any("own_actor_0" in name for name in author.params(report))
    assert author.evaluate(report)["games"] == 10


def test_runtime_is_one_file(author):
    """It trains tables and networks, exactly as the local runtime does, and its runs are resumed."""
    runtime = author.add("runtimes", "backwards")
    table = ("tictactoe", "--steps", "2000", "--chunk", "500", "--workers", "2", "--checkpoint-seconds", "0")
    mine, usual = (author.train(*table, "--runtime", name) for name in (runtime, "local"))
    assert same(author.params(mine), author.params(usual))
    longer = json.loads(author.ludus("train", "--resume", mine["run"], "--steps", "4000", "--json"))
    assert longer["steps"] >= 4000
    small = ("--num-envs", "8", "--rollout-length", "4", "--mlp.width", "8", "--mlp.depth", "1", "--workers", "2")
    network = ("tictactoe", "--algorithm", "ppo", "--steps", "64", *small)
    mine, usual = (author.train(*network, "--runtime", name) for name in (runtime, "local"))
    assert same(author.params(mine), author.params(usual))


def test_settings_of_a_runtime_are_flags_keywords_and_keys(author, monkeypatch):
    """As those of an algorithm; other runtimes refuse them."""
    arguments.flags.cache_clear()
    runtime = author.add("runtimes", "limited")
    short = ("tictactoe", "--steps", "2000", "--chunk", "500", "--workers", "3")
    report = author.train("--most-workers", "2", *short, "--runtime", runtime)
    path = pathlib.Path(report["run"]) / "run.toml"
    run = config.read(path)
    assert (run.workers, run.runtime_settings.most_workers) == (2, 2) and "most_workers = 2" in path.read_text()
    assert config.from_dict(config.to_dict(run), "the test") == run
    longer = json.loads(author.ludus("train", "--resume", report["run"], "--steps", "4000", "--json"))
    assert longer["steps"] >= 4000
    again = ludus.train("tictactoe", steps=1000, workers=3, runtime=runtime, most_workers=1, progress=False)
    assert again.settings.workers == 1
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        author.ludus("train", "tictactoe", "--runtime", runtime, "--help")
    assert "most workers of a run; 1 or more" in author.capsys.readouterr().out
    arguments.flags.cache_clear()


def test_settings_of_another_runtime_are_refused(author):
    arguments.flags.cache_clear()
    runtime = author.add("runtimes", "limited")
    refusal = f'the runtime "{runtime}" has it, not "threads"'
    with pytest.raises(LudusError, match=refusal):
        author.train("tictactoe", "--runtime", "threads", "--most-workers", "2")
    with pytest.raises(LudusError, match=refusal):
        ludus.train("tictactoe", runtime="threads", most_workers=2, progress=False)
    with pytest.raises(LudusError, match=r'unknown setting "most_worker"; did you mean "most_workers"'):
        ludus.train("tictactoe", runtime=runtime, most_worker=2, progress=False)
    arguments.flags.cache_clear()


def same(one, other) -> bool:
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


def test_all_of_them_together_in_a_process_of_their_own(author):
    """As a user starts it: only the current folder and the installed packages differ from a usual environment."""
    game, method = author.add("games", "pick"), author.add("algorithms", "bounded_q")
    runtime = author.add("runtimes", "backwards")
    words = (
        "train",
        game,
        "--algorithm",
        method,
        "--runtime",
        runtime,
        "--workers",
        "2",
        "--steps",
        "4000",
        *SHORT,
    )
    answer = subprocess.run([sys.executable, "-m", "ludus.cli", *words], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    report = json.loads(answer.stdout)
    assert report["finished"] and np.abs(author.params(report)["values"]).max() > 0
    assert config.read(pathlib.Path(report["run"]) / "run.toml").runtime == runtime


def test_broken_module_hides_no_other(author):
    """It is reported with file and line if it is used, and only then."""
    arguments.flags.cache_clear()
    for kind in ("games", "algorithms", "runtimes"):
        author.add(kind, {"games": "pick", "algorithms": "bounded_q", "runtimes": "backwards"}[kind])
        for path in author.home.rglob(f"*_{kind}/*_{author.place}.py"):
            path.write_text("\nraise RuntimeError('no luck')\n")
    report = author.train("--steps", "500", "--chunk", "500", "tictactoe")
    assert report["finished"]
    suffix = author.place
    for used in (
        (f"pick_{suffix}",), ("tictactoe", "--algorithm", f"bounded_q_{suffix}"),
        ("tictactoe", "--runtime", f"backwards_{suffix}"),
    ):  # fmt: skip
        with pytest.raises(LudusError, match=r"\.py:2: RuntimeError: no luck"):
            author.train(*used)


def test_unknown_names_are_refused_with_the_names_of_added_modules(author):
    method, runtime = author.add("algorithms", "bounded_q"), author.add("runtimes", "backwards")
    with pytest.raises(LudusError, match=f'did you mean "{method}"'):
        author.train("tictactoe", "--algorithm", method[:-1])
    with pytest.raises(LudusError, match=runtime):
        author.train("tictactoe", "--runtime", "forwards")
    assert method in algorithms.names()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ALGORITHM = 3\n", "ALGORITHM must be a frozen dataclass with the field `method`"),
        ("class ALGORITHM:\n    method = 'mine'\n", "ALGORITHM must be a frozen dataclass with the field `method`"),
        ("BACKUP = 3\n", "has neither ALGORITHM nor, for a tabular method, a function backup"),
    ],
)
def test_module_that_is_not_an_algorithm_is_refused(author, text, reason):
    name = author.add("algorithms", "bounded_q")
    for path in author.home.rglob(f"{name}.py"):
        path.write_text(text)
    with pytest.raises(LudusError, match=reason):
        author.train("tictactoe", "--algorithm", name)


@pytest.mark.parametrize("kind", KINDS)
def test_contributing_names_the_folder_and_the_group(kind):
    text = CONTRIBUTING.read_text()
    assert f"`ludus_{kind}/" in text and f"group `ludus.{kind}`" in text and f"`LUDUS_{kind.upper()}`" in text


def test_every_source_is_one_module():
    """The files that the tests above add import nothing but Ludus and its dependencies."""
    allowed = {"__future__", "dataclasses", "flax", "functools", "jax", "ludus", "numpy", "optax", "typing", "tyro"}
    for path in SOURCES.glob("*.py"):
        lines = [line.split() for line in path.read_text().splitlines() if line.startswith(("import ", "from "))]
        assert {words[1].partition(".")[0] for words in lines} <= allowed
