"""`ludus new`: a complete small game to start from, which passes the conformance checks."""

from __future__ import annotations

import pathlib

from ludus import games
from ludus.files import write_atomically
from ludus.types import LudusError

TEMPLATE = '''\
"""{title}: add one, two or three to the pile; whoever makes it exactly twelve wins.

Replace this small game with yours: keep the names, change their contents, and run `ludus check {name}`.
"""

from ludus.dsl import HEAD, OVER, Discrete, Spec, draw, i8, record, rule, within

TARGET = 12
SPEC = Spec(seats=2, actions=Discrete(3), horizon=TARGET, zero_sum=True, frame=(480, 120))
STATE = record(**HEAD, pile=i8)
OBSERVATION = record(pile=within(0, TARGET, i8))


@rule
def init(state):
    """Set up a new game in a record of zeros; get random numbers with `random.below(state, n)`."""
    state.pile = 0


@rule
def step(state, action, reward):
    """Play an action of the seat to act: set rewards, the next seat, and the status if the game is over."""
    state.pile += action + 1
    if state.pile == TARGET:
        reward[state.seat] = 1.0
        reward[1 - state.seat] = -1.0
        state.status = OVER
    state.seat = 1 - state.seat


@rule
def legal(state, seat, mask):
    """Mark the legal actions; at least one while the game runs."""
    for action in range(3):
        mask[action] = state.pile + action + 1 <= TARGET


@rule
def observe(state, seat, out):
    """Write what this seat may know, and nothing else."""
    out.pile = state.pile


@rule
def scene(state, seat, canvas):
    """Draw the game as shapes, which the browser, pictures and the terminal show."""
    draw.rect(canvas, 0, 0, 480, 120, 0x1E2430)
    for stone in range(TARGET):
        color = 0xFFB454 if stone < state.pile else 0x39445A
        draw.circle(canvas, 40 + stone * 36.0, 60, 14, color)


def action_name(action: int) -> str:
    return f"add {{action + 1}}"


def text(state) -> str:
    return f"pile {{state['pile']}} of {{TARGET}}"
'''


def source_checkout() -> pathlib.Path | None:
    """The root of the repository if ludus runs from one."""
    root = pathlib.Path(__file__).resolve().parents[2]
    return root if (root / "pyproject.toml").exists() and (root / "tests").is_dir() else None


def new_game(name: str, folder: pathlib.Path | None = None) -> pathlib.Path:
    """Write the file of a new game into a folder, by default that of the user's games."""
    games.check_name(name)
    if name in games.names():
        raise LudusError(f"there is a game {name} already (ludus games lists all); choose another name")
    folder = games.games_folder() if folder is None else folder
    if folder.suffix == ".py" or folder.is_file():
        raise LudusError(f'--out "{folder}" is a file; give the folder for {name}.py')
    path = folder / f"{name}.py"
    if path.exists():
        raise LudusError(f"{path} already exists; remove it or choose another name")
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, TEMPLATE.format(name=name, title=name.replace("_", " ").capitalize()).encode())
    return path
