"""Every mistake in a game's file is a LudusError with file, line, the line itself and what to write instead."""

import subprocess
import sys

import pytest

from ludus import games
from ludus.cli import main
from ludus.dsl import f32, i8, record, rule, u8, within
from ludus.evaluation import scaffold
from ludus.pool import Pool
from ludus.types import LudusError

WORDS = "from ludus.dsl import HEAD, OVER, Continuous, Discrete, Spec, draw, i8, integer, record, rule, within"
GAME = scaffold.TEMPLATE.format(name="pile", title="Pile").replace(
    "from ludus.dsl import HEAD, OVER, Discrete, Spec, draw, i8, record, rule, within", WORDS
)
SPEC = "SPEC = Spec(seats=2, actions=Discrete(3), horizon=TARGET, zero_sum=True, frame=(480, 120))"
STATE, OBSERVATION = "STATE = record(**HEAD, pile=i8)", "OBSERVATION = record(pile=within(0, TARGET, i8))"
PILE, MOVE, SEEN = "state.pile = 0", "state.pile += action + 1", "out.pile = state.pile"
STEP = "@rule\ndef step"
CIRCLE = "draw.circle(canvas, 40 + stone * 36.0, 60, 14, color)"

LOADED = {
    "syntax": ("TARGET = 12", "TARGET = 12 +", "SyntaxError: invalid syntax"),
    "indentation": ("    state.pile = 0", "  state.pile = 0", "IndentationError: unindent does not match"),
    "unknown_word": (WORDS, f"{WORDS}, withn", "ImportError: cannot import name 'withn' from 'ludus.dsl'"),
    "no_such_module": ("TARGET = 12", "import no_such_module", "No module named 'no_such_module'"),
    "undefined": ("TARGET = 12", "TARGET = TWELVE", "NameError: name 'TWELVE' is not defined"),
    "exit": ("TARGET = 12", "raise SystemExit('bye')", "SystemExit: bye"),
    "spec_keyword": (SPEC, "SPEC = Spec(seat=2)", "unexpected keyword argument 'seat'"),
    "spec_dict": (SPEC, "SPEC = {'seats': 2}", "SPEC is a dict; write it like SPEC = Spec(seats=2, actions="),
    "number_of_actions": (SPEC, "SPEC = Spec(2, 3)", "the actions of SPEC are 3; write Discrete(9)"),
    "no_actions": (SPEC, "SPEC = Spec(2, Discrete(0))", "Discrete(0) has no actions; give a whole number from 1"),
    "float_actions": (SPEC, "SPEC = Spec(2, Discrete(3.0))", "Discrete(3.0) has no actions"),
    "bounds": (SPEC, "SPEC = Spec(2, Continuous((1,), (0,)))", "needs finite numbers, each low below its high"),
    "lengths": (SPEC, "SPEC = Spec(2, Continuous((0, 0), (1,)))", "needs two tuples of the same length"),
    "no_seats": (SPEC, "SPEC = Spec(0, Discrete(3))", "SPEC has 0 seats; give a whole number from 1 to 127"),
    "turns": (SPEC, "SPEC = Spec(2, Discrete(3), 'both')", "they must be 'alternating' or 'simultaneous'"),
    "horizon": (SPEC, "SPEC = Spec(2, Discrete(3), horizon=-1)", "the horizon of SPEC is -1; give the maximum"),
    "zero_sum": (SPEC, "SPEC = Spec(1, Discrete(3), zero_sum=True)", "zero_sum is for games of two seats or more"),
    "frame": (SPEC, "SPEC = Spec(2, Discrete(3), frame=480)", "give width and height in pixels, like (480, 480)"),
    "state_dict": (STATE, "STATE = dict(pile=i8)", "STATE is a dict; write it like STATE = record("),
    "no_head": (STATE, "STATE = record(pile=i8)", "STATE lacks the field key; begin it with record(**HEAD, …)"),
    "uncalled": (OBSERVATION, "OBSERVATION = record", "OBSERVATION is the function record; write it like"),
    "no_fields": (OBSERVATION, "OBSERVATION = record()", "OBSERVATION has no fields"),
    "number_as_type": (STATE, "STATE = record(**HEAD, pile=9)", "the field pile is 9, which is not a number type"),
    "text_as_type": (STATE, "STATE = record(**HEAD, pile='i8')", "the field pile is 'i8', which is not a number type"),
    "text_field": (STATE, "STATE = record(**HEAD, pile=str)", "<class 'str'>, which is not a number type; give a type"),
    "negative_shape": (STATE, "STATE = record(**HEAD, pile=(i8, -1))", "has the shape (-1,); give whole numbers"),
    "text_shape": (STATE, "STATE = record(**HEAD, pile=(i8, '3'))", "has the shape ('3',); give whole numbers"),
    "bools": (STATE, "STATE = record(**HEAD, pile=(bool, 3))", "an array of bool, which compiled rules cannot read"),
    "range": (OBSERVATION, "OBSERVATION = record(pile=within(9, 0, i8))", "the first must not be above the second"),
    "wide_range": (OBSERVATION, "OBSERVATION = record(pile=within(0, 300, i8))", "300, which int8 cannot hold"),
    "range_of_text": (OBSERVATION, "OBSERVATION = record(pile=within('a', 'z', i8))", "give two numbers, or arrays"),
    "ranges": (OBSERVATION, "OBSERVATION = record(pile=within([0, 0], [1, 1], i8, 3))", "or arrays of the shape (3,)"),
    "no_rule": ("@rule\ndef observe", "def observe", "observe is a plain Python function; write @rule above it"),
    "few_arguments": ("def step(state, action, reward)", "def step(state, action)",
                      "step takes (state, action); it must take (state, action, reward)"),
    "many_arguments": ("def init(state)", "def init(state, key)", "init takes (state, key); it must take (state)"),
    "name_arguments": ("def action_name(action: int)", "def action_name()", "takes (); it must take (action)"),
    "not_callable": ("def action_name(action: int) -> str:", "def other(action):",
                     "action_name is a str; it must be a function: def action_name(action)",
                     "TARGET = 12\n", "TARGET, ACTIONS = 12, 3\naction_name = 'add'\n"),
    "generator": (PILE, "yield state", "the rule init cannot yield or await", "", "@rule"),
    "parameters": ("TARGET = 12", "TARGET = 12\nPARAMETERS = {'size': 3}", "PARAMETERS is not like"),
    "parameter_field": ("TARGET = 12", "TARGET = 12\nPARAMETERS = {'size': integer(1, 1, 9, '')}",
                        "STATE lacks the field size, which holds the parameter size", "", STATE),
    "parameter_default": (STATE, "STATE = record(**HEAD, pile=i8, n=i8)\nPARAMETERS = {'n': integer(0, 1, 9, '')}",
                          'the default of n is not allowed: "0" is not a whole number from 1 to 9'),
}  # fmt: skip
"""mistakes found before anything is compiled: text to replace, replacement, part of the message; optionally a second
replacement, or "" and the line that the message names, if it is not the last line of the first replacement"""

COMPILED = {
    "field": (SEEN, "out.pile = state.piles", 'there is no field "piles"; did you mean "pile"?'),
    "set_field": (SEEN, "out.pil = state.pile", 'there is no field "pil"; did you mean "pile"?'),
    "variable": (MOVE, "state.pile += acton + 1", 'there is no variable "acton"; did you mean "action"?'),
    "too_early": (PILE, "state.pile = stones; stones = 3", 'the variable "stones" is used before it has a value'),
    "text": (PILE, "state.pile = 'none'", "str cannot be stored as int8"),
    "whole_array": (STATE, "STATE = record(**HEAD, pile=(i8, 3))", "one value cannot be stored in an array of int8",
                    "", PILE),
    "index": (MOVE, "state.pile += action[0]", "int64 cannot be indexed with int"),
    "two_types": (PILE, "x = 1 if state.pile else 'a'; state.pile = x", "a value is int or str; a value in a"),
    "two_kinds": (PILE, "x = 1\n    if state.pile:\n        x = 'a'\n    state.pile = x", "a rule must keep one type"),
    "plain_helper": (STEP, f"def more(pile):\n    return pile + 1\n\n\n{STEP}", "more is a plain Python function",
                     MOVE, "state.pile = more(state.pile)"),
    "helper_arguments": (STEP, f"@rule\ndef more(pile, by):\n    return pile + by\n\n\n{STEP}",
                         "a rule with the arguments (pile, by) is called wrongly: missing a required argument: 'by'",
                         MOVE, "state.pile = more(state.pile)"),
    "global_dict": ("TARGET = 12", "TARGET = 12\nWORTH = {1: 2}", "WORTH is a dict, which rules cannot read",
                    MOVE, "state.pile += WORTH[action]"),
    "imports": (PILE, "import math", "a rule cannot import; put the import at the top of the file"),
    "opens": (PILE, "with open('x') as file: pass", "a rule cannot use with"),
    "catch": (PILE, "try:\n        state.pile = 0\n    except KeyError:\n        state.pile = 1",
              "a rule cannot catch specific exceptions", "", "except KeyError:"),
    "attribute": ("reward[state.seat] = 1.0", "reward.seat = 1.0", "has no attribute seat that can be set"),
    "draw": (CIRCLE, "draw.elipse(canvas, 1, 2, 3, color)", 'there is no attribute "elipse"'),
    "draw_arguments": (CIRCLE, "draw.circle(canvas, 40, color)", "missing a required argument: 'radius'"),
    "draw_types": (CIRCLE, "draw.circle(canvas, '40', 60, 14, color)", "str cannot be stored as float32"),
}  # fmt: skip
"""the same for mistakes that the compiler finds"""


@pytest.fixture
def mistaken(tmp_path, monkeypatch, request):
    """Writes the game with some of its text replaced; returns its name, its file, and the line of the mistake."""
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    monkeypatch.setenv("LUDUS_CACHE", str(request.config.cache.mkdir("ludus-small-games")))
    before = set(sys.modules)

    def write(name, old, new, more_old="", more_new=""):
        assert old in GAME and more_old in GAME
        text = GAME.replace(old, new, 1).replace(more_old or new, more_new if more_old else new, 1)
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        mistake = (more_new or new).strip().splitlines()[-1]
        return path, next(number for number, line in enumerate(text.splitlines(), 1) if mistake in line)

    yield write
    for name in set(sys.modules) - before:
        if name.startswith(("ludus_games_", "ludus_kernel_")):
            del sys.modules[name]


@pytest.mark.parametrize("mistake", LOADED)
def test_mistakes_are_reported_when_the_game_is_loaded(mistaken, mistake):
    old, new, reason, *more = LOADED[mistake]
    path, line = mistaken(mistake, old, new, *more)
    with pytest.raises(LudusError) as error:
        games.load(mistake)
    assert str(error.value).startswith(f"{path}:{line}: "), error.value
    assert reason in str(error.value)


@pytest.mark.parametrize("mistake", COMPILED)
def test_mistakes_are_reported_when_a_rule_is_compiled(mistaken, mistake):
    old, new, reason, *more = COMPILED[mistake]
    path, line = mistaken(mistake, old, new, *more)
    with pytest.raises(LudusError) as error:
        Pool(mistake, 1, threads=1).scene()
    message = str(error.value)
    assert message.startswith(f"{path}:{line}: the rule "), message
    assert reason in message and "NUMBA_DISABLE_JIT=1" in message
    assert len(message.splitlines()) == 3 and "Failed in nopython" not in message


def test_only_the_error_of_the_last_compilation_attempt_is_reported(mistaken):
    """Numba first compiles a rule for the initial type of a variable; only the error of the last attempt counts."""
    grow = "total = 0\n    for _ in range(3):\n        total = half(total) + 0.5\n    state.pile = int(total)"
    mistaken("recovers", STEP, f"@rule\ndef half(x):\n    return x / 2\n\n\n{STEP}", PILE, grow)
    assert Pool("recovers", 1, threads=1).states["pile"][0] == 0


@pytest.mark.parametrize(("old", "new", "reason"), [
    ('return f"add {action + 1}"', "return action", "action_name returns 0 of type int; it must return a str"),
    ('return f"add {action + 1}"', "return NAMES[action]", "NameError: name 'NAMES' is not defined"),
    ("return f\"pile {state['pile']} of {TARGET}\"", "return None", "text returns None of type NoneType"),
    (MOVE, "assert state.pile > 5", "AssertionError"),
])  # fmt: skip
def test_mistakes_are_reported_when_the_game_is_played(mistaken, monkeypatch, capsys, old, new, reason):
    path, line = mistaken("played", old, new)
    monkeypatch.setattr(sys, "argv", ["ludus", "golden", "played"])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr().err
    assert ended.value.code == 2 and reason in printed
    assert (
        f"ludus: {path}:{line - ('returns' in reason)}: " in printed
    )  # for a wrong return value, the first line of the function is named


def test_the_traceback_flag_shows_the_traceback(mistaken):
    mistaken("asked", SEEN, "out.pile = state.piles")
    command = [sys.executable, "-m", "ludus.cli", "show", "asked"]
    short = subprocess.run(command, capture_output=True, text=True)
    assert short.returncode == 2 and "Traceback" not in short.stderr and "did you mean" in short.stderr
    assert "Traceback" in subprocess.run([*command, "--traceback"], capture_output=True, text=True).stderr


def test_paths_inside_the_current_folder_are_short(mistaken, monkeypatch):
    path, line = mistaken("short", SPEC, "SPEC = 3")
    monkeypatch.chdir(path.parent)
    with pytest.raises(LudusError, match=rf"^short\.py:{line}: SPEC is a int"):
        games.load("short")


def test_an_array_with_a_range_can_be_written_in_three_ways():
    forms = (within(0, 7, i8, 3), (within(0, 7, i8), 3), within(0, 7, (i8, 3)))
    layouts = [record(heaps=form) for form in forms]
    assert all(layout["heaps"].shape == (3,) and layout["heaps"].base == i8 for layout in layouts)
    assert [layout["heaps"].base.metadata for layout in layouts] == [{"low": 0, "high": 7}] * 3
    assert record(cells=(within(0, 1, u8, 3), 2))["cells"].shape == (2, 3)
    assert record(cells=(f32, (2, 3)))["cells"].shape == (2, 3)
    assert record(again=layouts[0]["heaps"]) == record(again=(i8, 3))  # a field of another record


def test_a_generator_cannot_be_a_rule():
    def endless(state):
        yield state

    with pytest.raises(LudusError, match="the rule endless cannot yield"):
        rule(endless)
