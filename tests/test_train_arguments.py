"""The game of `ludus train` is found among flags of any algorithm, in any order."""

import dataclasses
import re
from typing import get_type_hints

import pytest
import tyro

from ludus import algorithms
from ludus.cli.arguments import MANY, NONE, ONE, flags, game_first, value_of
from ludus.cli.train import parted, run_of
from ludus.training.config import NESTED, Run
from ludus.types import LudusError

KINDS = {algorithms.settings_kind(name).__name__: name for name in algorithms.names()}


@pytest.mark.parametrize(("line", "wanted"), [
    ("--no-mirror car --algorithm world_model", {"game": "car", "mirror": False}),
    ("--algorithm world_model --no-mirror car", {"game": "car", "mirror": False}),
    ("--json --no-mirror --out runs car --algorithm=world_model", {"game": "car", "mirror": False}),
    ("--network.actor-dims 32 16 car --algorithm world_model", {"game": "car", "algorithm": "world_model"}),
    ("--no-refresh-rollouts --steps 5 connect4 --algorithm ppo",
     {"game": "connect4", "refresh_rollouts": False, "steps": 5}),
    ("--no_refresh_rollouts connect4 --algorithm ppo", {"game": "connect4", "refresh_rollouts": False}),
    ("--opponents self:0.7 past:0.3 connect4 --algorithm ppo", {"opponents": ("self:0.7", "past:0.3")}),
    ("--model.no-film --agent rnn connect4 --algorithm ppo", {"game": "connect4", "agent": "rnn"}),
    ("--log tensorboard car(track=7)", {"game": "car(track=7)", "log": ("tensorboard",)}),
    ("--seed -1 tictactoe", {"game": "tictactoe", "seed": -1}),
    ("--steps=5 gymnasium:Taxi-v4", {"game": "gymnasium:Taxi-v4", "steps": 5}),
    ("--form list tictactoe", {"game": "tictactoe", "form": "list"}),
])  # fmt: skip
def test_flags_may_stand_before_the_game(line, wanted):
    run = run_of(parted(line.split())[1])
    found = {**dataclasses.asdict(run.settings), **{name: getattr(run, name) for name in ("game", "algorithm", "log")}}
    found |= {"steps": run.steps, "seed": run.seed}
    assert wanted == {name: found[name] for name in wanted}


def plain_fields(kind):
    """The fields of a run and its algorithm that are flags themselves, not groups of flags like the network."""
    classes = (Run, algorithms.settings_kind(KINDS[kind]))
    hints = {cls: get_type_hints(cls) for cls in classes}
    fields = [(field, hints[cls][field.name]) for cls in classes for field in dataclasses.fields(cls)]
    return [
        field for field, hint in fields if not dataclasses.is_dataclass(hint) and field.name not in ("game", *NESTED)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_flag_of_every_algorithm_is_known_with_its_values(kind, capsys, monkeypatch):
    """As in the help of tyro: `--refresh-rollouts, --no-refresh-rollouts`, `--steps INT`, `--log [WORD [WORD ...]]`."""
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        tyro.cli(Run[algorithms.settings_kind(KINDS[kind])], args=["--help"])
    shown = re.findall(r"^\S? *(--[a-z][\w.-]*)(.*)", capsys.readouterr().out, re.MULTILINE)
    settings = {"algorithm" if field.name == "method" else field.name for field in plain_fields(kind)}
    assert {f"--{name.replace('_', '-')}" for name in settings} <= set(dict(shown))
    for flag, follows in shown:
        assert flags()[flag] == (NONE if follows.startswith(", --") else MANY if "..." in follows else ONE), flag


@pytest.mark.parametrize("flag", ["--steps", "--no-mirror", "--opponents", "--model.rnn-type"])
def test_the_game_comes_first(flag):
    value = {NONE: [], ONE: ["5"], MANY: ["a", "b"]}[flags()[flag]]
    assert game_first([flag, *value, "car"]) == ["car", flag, *value]
    assert game_first(["car", flag, *value]) == ["car", flag, *value]
    assert game_first([flag, *value]) == [flag, *value]


def test_values_are_found_after_their_flag():
    assert value_of("--algorithm", ["--algorithm", "ppo"]) == value_of("--algorithm", ["--algorithm=ppo"]) == "ppo"
    assert value_of("--algorithm", ["--algorithm"]) is None


def test_a_misspelt_flag_is_reported_instead_of_a_missing_game():
    with pytest.raises(LudusError, match=r'unknown flag "--no-miror"; did you mean "--no-mirror"\?'):
        run_of(["--no-miror", "car"])
    with pytest.raises(LudusError, match="no game given, expected for example: ludus train tictactoe"):
        run_of(["--steps", "5"])
