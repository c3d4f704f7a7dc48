"""Small games with known results: a test writes only what is special about its game; the rest is added here."""

import re

from ludus.pool import Pool

WORDS = """
from ludus.dsl import (
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
    """The complete source of a game: adds the imports, and defaults for missing rules.

    The defaults: seat 0 begins, all actions are legal, all seats see the fields of the state that OBSERVATION names,
    and actions are named by their numbers.
    """
    summary, _, rules = text.strip().partition("\n")
    plain = [PLAIN_RULES[name] + _body(name, text) for name in PLAIN_RULES if f"def {name}(" not in text]
    return "\n".join([summary, WORDS, rules, "", *plain])


def _body(name: str, text: str) -> str:
    """The body of the default `observe`."""
    fields = re.findall(r"(\w+)=within\(", text) if name == "observe" else []
    return "".join(f"    out.{field} = state.{field}\n" for field in fields)


def plant(folder, **games: str) -> None:
    """Write games into a folder for LUDUS_GAMES."""
    for name, text in games.items():
        (folder / f"{name}.py").write_text(text)


def garden(folder, monkeypatch, request):
    """Use this folder for games, compiled into pytest's cache; returns a function that writes a game."""
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
    """`earned(name)` is the reward of a player at Guess with the pool's own seed: half a point unless it cheats."""
    name = plant("guess_dice", GUESS.replace("# dice", "state.number = random.below(state, 6)"))
    assert (earned(name) == 0.5).all()

    def copy(states, sources, keys, out, seat):
        out[: len(sources)] = states[sources]

    monkeypatch.setattr(Pool(name, 1).kernel, "fork", copy)
    assert (earned(name) == 1).all()  # with the original key, the player knows the number


def check_hidden_unseen(plant, monkeypatch, earned):
    """The same for a number that is hidden from the start."""
    name = plant("guess_hidden", GUESS)
    assert (earned(name) == 0.5).all()
    kernel = Pool(name, 1).kernel
    fork = kernel.fork
    monkeypatch.setattr(kernel, "fork", lambda states, sources, keys, out, seat: fork(states, sources, keys, out, -1))
    assert (earned(name) == 1).all()  # without `redeal`, the player knows the number
