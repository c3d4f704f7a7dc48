"""`ludus new`: a whole small game to start from, which passes conformance as it is."""

from __future__ import annotations

import keyword
import pathlib

from ludus import games
from ludus.pictures import write_whole
from ludus.types import LudusError

TEMPLATE = '''\
"""{title}: add one, two or three to the pile; who makes it exactly twelve wins.

Replace this little game by yours: keep the names, change what they do, and run `ludus check {name}`.
"""

from ludus.words import HEAD, OVER, Discrete, Spec, draw, i8, record, rule, within

TARGET = 12
SPEC = Spec(seats=2, actions=Discrete(3), horizon=TARGET, zero_sum=True, frame=(480, 120))
STATE = record(**HEAD, pile=i8)
OBSERVATION = record(pile=within(0, TARGET, i8))


@rule
def init(state):
    """A fresh game in a record of zeros; draw what is random by `random.below(state, n)`."""
    state.pile = 0


@rule
def step(state, action, reward):
    """Play an action of the seat to act; say who got what, who is next, and whether it is over."""
    state.pile += action + 1
    if state.pile == TARGET:
        reward[state.seat] = 1.0
        reward[1 - state.seat] = -1.0
        state.status = OVER
    state.seat = 1 - state.seat


@rule
def legal(state, seat, mask):
    """Mark what may be played; never nothing while the game runs."""
    for action in range(3):
        mask[action] = state.pile + action + 1 <= TARGET


@rule
def observe(state, seat, out):
    """What this seat may know, and nothing else."""
    out.pile = state.pile


@rule
def scene(state, seat, canvas):
    """Shapes, not pixels: the same for the browser, for pictures and for the terminal."""
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
    root = pathlib.Path(__file__).resolve().parent.parent
    return root if (root / "pyproject.toml").exists() and (root / "tests").is_dir() else None


def new_game(name: str) -> pathlib.Path:
    """Write the file of a new game: into the package in a source checkout, else into your games folder."""
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower():
        raise LudusError(f'"{name}" cannot name a game; use small letters, digits and _, like hex or four_in_a_row')
    if name in games.names():
        raise LudusError(f"there is a game {name} already (ludus games lists all)")
    root = source_checkout()
    folder = root / "ludus" / "games" if root else games.games_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    if path.exists():
        raise LudusError(f"{path} exists already; remove it or choose another name")
    write_whole(path, TEMPLATE.format(name=name, title=name.replace("_", " ").capitalize()).encode())
    return path
