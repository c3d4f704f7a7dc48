"""The catalogue: games by name, with parameters, from three places; every mistake raises a LudusError."""

import contextlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus import games
from ludus.dsl import choice, integer, number
from ludus.types import LudusError

GAME = '''
"""Nothing: a game that ends at once."""
from ludus.dsl import HEAD, OVER, Discrete, Spec, i8, record, rule
SPEC = Spec(seats=1, actions=Discrete(1), horizon=1)
STATE = record(**HEAD, moves=i8)
OBSERVATION = record(moves=i8)

@rule
def init(state):
    state.moves = 0

@rule
def step(state, action, reward):
    state.status = OVER

@rule
def legal(state, seat, mask):
    mask[0] = 1

@rule
def observe(state, seat, out):
    out.moves = state.moves

def action_name(action):
    return "go"
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def sentence(call, *arguments, **keywords) -> str:
    with pytest.raises(LudusError) as error:
        call(*arguments, **keywords)
    return str(error.value)


def test_bundled_games_are_listed_with_title_and_summary():
    assert {"car", "cartpole", "connect4", "goofspiel", "tictactoe"} <= set(games.names())
    assert games.names() == sorted(games.names())
    for name in games.names():
        game = games.load(name)
        assert game.name == game.full_name == name
        assert game.title and game.summary


def test_parameters_come_in_brackets_or_as_keywords():
    assert games.load("car(track=7, obstacles=0)") == games.load("car", track=7, obstacles=0)
    assert games.load(" car ( track = 7 ) ").settings["track"] == "7"
    assert games.load("car(track=7)", track=8).settings["track"] == "8"
    assert games.load("car()") == games.load("car")


def test_parameters_are_written_into_the_blank_state():
    blank = games.load("car(track=7, width=30.5, obstacles=2, horizon=9)").blank()[0]
    assert (blank["track"], blank["width"], blank["obstacles"], blank["horizon"]) == (7, 30.5, 2, 9)
    assert games.load("car").blank()[0]["track"] == -1


@pytest.mark.parametrize("name", ["car", "car(track=7)", "car(track=7, width=25)", "cartpole(horizon=30)"])
def test_the_full_name_loads_the_same_game(name):
    game = games.load(name)
    assert game.full_name == name
    assert games.load(game.full_name) == game


def test_defaults_do_not_show_in_the_full_name():
    assert games.load("car(track=random, obstacles=5, horizon=1000)").full_name == "car"


@given(st.dictionaries(st.sampled_from(["obstacles", "horizon"]), st.integers(1, 10)))
def test_any_parameters_survive_the_round_trip(settings):
    game = games.load("car", **settings)
    assert games.load(game.full_name) == game


@pytest.mark.parametrize(("name", "wanted"), [
    ("tictactoo", 'unknown game "tictactoo"; did you mean "tictactoe"? ludus games lists all'),
    ("zzz", 'unknown game "zzz"; ludus games lists all'),
    ("car.track", '"car.track" is not the name of a game'),
    ("_car", '"_car" is not the name of a game'),
    ("cär", '"cär" is not the name of a game'),
    ("class", '"class" cannot name a game; begin with a letter and use only the letters'),
    ("", '"" is not the name of a game; write it like car or car(track=7, obstacles=0)'),
    ("car(track=7", '"car(track=7" is not the name of a game'),
    ("car)", '"car)" is not the name of a game'),
    ("car track", '"car track" is not the name of a game'),
    ("7car", '"7car" is not the name of a game'),
    ("car(track)", '"track" in "car(track)" is not a new parameter=value pair; write it like track=7'),
    ("car(track=)", '"track=" in "car(track=)" is not a new parameter=value pair'),
    ("car(=7)", '"=7" in "car(=7)" is not a new parameter=value pair'),
    ("car(track=1, track=2)", '"track=2" in "car(track=1, track=2)" is not a new parameter=value pair'),
    ("car(speed=3)", 'car has no parameter "speed"; it has: track (the seed of the track, or random'),
    ("tictactoe(size=4)", 'tictactoe has no parameter "size"; it has: none'),
    ("car(track=-1)", 'car: track=-1 is not allowed: "-1" is neither random nor a whole number from 0 to 2147483647'),
    ("car(track=2147483648)", '"2147483648" is neither random nor a whole number'),
    ("car(width=24.9)", 'car: width=24.9 is not allowed: "24.9" is not a number from 25 to 40; it is half the width'),
    ("car(width=nan)", '"nan" is not a number from 25 to 40'),
    ("car(width=wide)", '"wide" is not a number from 25 to 40'),
    ("car(obstacles=11)", '"11" is not a whole number from 0 to 10'),
    ("car(obstacles=2.5)", '"2.5" is not a whole number from 0 to 10'),
    ("cartpole(horizon=0)", '"0" is not a whole number from 1 to 500; it is steps after which a game is cut off'),
    ("cartpole(horizon=99999999999999999999999)", "is not a whole number from 1 to 500"),
])  # fmt: skip
def test_invalid_names_raise_an_error(name, wanted):
    assert wanted in sentence(games.load, name)


@given(st.text(max_size=20))
def test_any_text_is_a_game_or_raises_an_error(text):
    with contextlib.suppress(LudusError):
        assert games.load(text).name in games.names()


def test_kinds_of_parameters():
    assert number(1, 0, 2, "").parse("0.5") == 0.5
    assert integer(1, -5, 5, "").parse("-5") == -5
    assert sentence(integer(1, -5, 5, "").parse, "--5") == '"--5" is not a whole number from -5 to 5'
    assert choice("b", ("a", "b"), "").parse("b") == 1
    assert sentence(choice("b", ("a", "b"), "").parse, "c") == '"c" is not one of a, b'


def test_fingerprints_depend_on_the_game_but_not_on_its_parameters():
    prints = [games.load(name).fingerprint for name in games.names()]
    assert len(set(prints)) == len(prints)
    assert games.load("car(track=7)").fingerprint == games.load("car").fingerprint


def test_a_game_of_your_own_is_found_in_your_folder(folder):
    (folder / "nothing.py").write_text(GAME)
    assert "nothing" in games.names()
    game = games.load("nothing")
    assert (game.title, game.summary) == ("Nothing", "a game that ends at once.")
    assert games.load("nothing").rules is game.rules


def test_a_missing_games_folder_is_not_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path / "nowhere"))
    assert "car" in games.names()


@pytest.mark.parametrize(
    ("cut", "missing"), [("SPEC =", "lacks SPEC"), ("def legal", "lacks legal"), ("def init", "lacks init")]
)
def test_the_error_names_the_missing_parts_of_a_module(folder, cut, missing):
    (folder / "half.py").write_text(GAME.replace(cut, cut.replace("SPEC", "SPECS").replace("def ", "def not_")))
    assert f"half is not a game yet: {folder / 'half.py'} {missing}" in sentence(games.load, "half")


def test_a_state_without_the_head_is_refused(folder):
    (folder / "headless.py").write_text(GAME.replace("**HEAD, ", ""))
    assert f"{folder / 'headless.py'}:5: STATE lacks the field key; begin it with" in sentence(games.load, "headless")


def test_a_parameter_needs_a_field(folder):
    (folder / "fieldless.py").write_text(
        GAME + "\nfrom ludus.dsl import integer\nPARAMETERS = {'size': integer(1, 0, 9, '')}\n"
    )
    assert f"{folder / 'fieldless.py'}:5: STATE lacks the field size" in sentence(games.load, "fieldless")


def test_a_game_from_an_installed_package_is_found(folder, monkeypatch):
    (folder / "site").mkdir()
    package = folder / "site" / "nothing_game.py"
    package.write_text(GAME)
    facts = folder / "site" / "nothing_game-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: nothing-game\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[ludus.games]\nplugged = nothing_game\n")
    monkeypatch.syspath_prepend(str(folder / "site"))
    assert "plugged" in games.names()
    assert games.load("plugged").rules.__file__ == str(package)


def test_bundled_games_take_precedence_over_the_folder(folder):
    (folder / "car.py").write_text(GAME)
    assert games.load("car").title == "Car"


@pytest.fixture
def muddle(folder):
    """A folder with one working game and files that are not games."""
    (folder / "nothing.py").write_text(GAME)
    (folder / "broken.py").write_text("SPEC = 1 +\n")
    (folder / "ünï.py").write_text(GAME)
    (folder / "two words.py").write_text(GAME)
    return folder


def test_files_that_are_no_games_are_listed_with_their_errors(muddle):
    found = {entry.name: entry for entry in games.catalogue()}
    assert found["nothing"].game and not found["nothing"].error
    assert all(found[name].game for name in games.bundled())
    assert found["broken"].game is None and "broken.py:1: SyntaxError" in found["broken"].error
    for name in ("ünï", "two words"):
        assert found[name].game is None and found[name].error.startswith(f'"{name}" cannot name a game')
        assert name not in games.names()


def test_one_rule_defines_valid_names_of_games(folder):
    for name in ("hex", "Hex2", "four_in_a_row"):
        games.check_name(name)
        (folder / f"{name}.py").write_text(GAME)
        assert games.load(name).name == name
    for name in ("ünï", "7up", "_hex", "he-x", "he x", "hex.py", "", "class"):
        assert "cannot name a game" in sentence(games.check_name, name)
        assert "not the name of a game" in sentence(games.load, name) or name == "class"
