"""Small games of known results: a test writes down what is special about its game, and the rest is added here."""

import re

from ludus.pool import Pool

WORDS = """
from ludus.words import (
    CUT, HEAD, OVER, Discrete, Spec, choice, draw, f32, i8, i16, integer, random, record, rule, within
)
"""
PLAIN_RULES = {
    "init": "@rule\ndef init(state):\n    state.seat = 0\n",
    "legal": "@rule\ndef legal(state, seat, mask):\n    for action in range(len(mask)):\n        mask[action] = 1\n",
    "observe": "@rule\ndef observe(state, seat, out):\n",
    "action_name": "def action_name(action):\n    return str(action)\n",
}


def small_game(text: str) -> str:
    """The whole game: with the words it is written in and, where it has no rule of its own, the plainest.

    Those are: seat 0 begins, everything is legal, everyone sees the fields of the state that OBSERVATION names, and
    actions are called by their numbers.
    """
    summary, _, rules = text.strip().partition("\n")
    plain = [PLAIN_RULES[name] + _body(name, text) for name in PLAIN_RULES if f"def {name}(" not in text]
    return "\n".join([summary, WORDS, rules, "", *plain])


def _body(name: str, text: str) -> str:
    """What `observe` copies."""
    fields = re.findall(r"(\w+)=within\(", text) if name == "observe" else []
    return "".join(f"    out.{field} = state.{field}\n" for field in fields)


def plant(folder, **games: str) -> None:
    """Write games, by their names, where LUDUS_GAMES may point."""
    for name, text in games.items():
        (folder / f"{name}.py").write_text(text)


def garden(folder, monkeypatch, request):
    """Make this the folder of games, compiled into pytest's cache; the answer plants one and tells its name."""
    monkeypatch.setenv("LUDUS_GAMES", str(folder))
    monkeypatch.setenv("LUDUS_CACHE", str(request.config.cache.mkdir("ludus-small-games")))

    def write(name: str, text: str) -> str:
        plant(folder, **{name: text})
        return name

    return write


GUESS = small_game('''
"""Guess: name the hidden number for a whole point, or take half a point."""
SPEC = Spec(seats=1, actions=Discrete(7), horizon=1)
STATE = record(**HEAD, number=i8)
OBSERVATION = record(nothing=within(0, 1, i8))
SAFE = 6

@rule
def init(state):
    state.number = random.below(state, 6)

@rule
def step(state, action, reward):
    # dice
    if action == SAFE:
        reward[0] = 0.5
    elif action == state.number:
        reward[0] = 1.0
    state.status = OVER

@rule
def observe(state, seat, out):
    out.nothing = 0

@rule
def redeal(state, seat):
    state.number = random.below(state, 6)
''')


def check_dice_unseen(plant, monkeypatch, earned):
    """`earned(name)` is what a player earns at Guess whose pool has the seed that it has: the half point, if honest."""
    name = plant("guess_dice", GUESS.replace("# dice", "state.number = random.below(state, 6)"))
    assert (earned(name) == 0.5).all()

    def copy(states, sources, keys, out, seat):
        out[: len(sources)] = states[sources]

    monkeypatch.setattr(Pool(name, 1).kernel, "fork", copy)
    assert (earned(name) == 1).all()  # a copy that keeps its key would know


def check_hidden_unseen(plant, monkeypatch, earned):
    """The same, where the number is hidden from the beginning."""
    name = plant("guess_hidden", GUESS)
    assert (earned(name) == 0.5).all()
    kernel = Pool(name, 1).kernel
    fork = kernel.fork
    monkeypatch.setattr(kernel, "fork", lambda states, sources, keys, out, seat: fork(states, sources, keys, out, -1))
    assert (earned(name) == 1).all()  # a copy that is not dealt anew would know
