"""Types shared by all folders: the description of a game, steps, decisions, rollouts, and `LudusError`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
DType = np.dtype[Any]
PyTree = Any
"""nested tuples, lists and dicts of arrays"""
JsonObject = dict[str, Any]
"""plain data with names, as JSON or TOML stores it"""


class LudusError(ValueError):
    """An error that the user can fix; the message says what happened, what was expected and what to do.

    >>> import ludus
    >>> ludus.Pool("conect4")
    Traceback (most recent call last):
    ludus.types.LudusError: unknown game "conect4"; did you mean "connect4"? ludus games lists all
    """


class Discrete(NamedTuple):
    """One of `n` numbered choices.

    >>> import ludus
    >>> ludus.Pool("connect4").spec.actions
    Discrete(n=7)
    """

    n: int


class Continuous(NamedTuple):
    """A row of floats, each between its own `low` and `high`.

    >>> import ludus
    >>> ludus.Continuous(low=(-1.0, 0.0), high=(1.0, 1.0)).high
    (1.0, 1.0)
    """

    low: tuple[float, ...]
    high: tuple[float, ...]


class Spec(NamedTuple):
    """The static description of a game: seats, actions, turn order, length and picture size.

    `turns` is "alternating" (one seat acts at a time) or "simultaneous" (all seats act at once). `horizon` is the
    maximum number of steps in one game, 0 for no limit. `frame` is the size in pixels of what `scene` draws.

    >>> import ludus
    >>> spec = ludus.Pool("tictactoe").spec
    >>> spec.seats, spec.actions.n, spec.turns, spec.horizon
    (2, 9, 'alternating', 9)
    """

    seats: int
    actions: Discrete | Continuous
    turns: str = "alternating"
    horizon: int = 0
    zero_sum: bool = False
    frame: tuple[int, int] = (480, 480)

    @property
    def views(self) -> int:
        """Number of rows per game in a batch: one, or one per seat if all seats act at once."""
        return self.seats if self.turns == "simultaneous" else 1


NO_FILES = "LUDUS_NO_FILES"
"""if this environment variable is set, parameters in the name of a game may not be file paths (names from a network)"""


class Mirror(NamedTuple):
    """A symmetry of a game: the mirrored position follows the same rules, so training can also use mirrored data."""

    seen: tuple[int, ...]
    """for each element of the mirrored observation, the index of its source; indices run through all fields"""
    actions: tuple[float, ...]
    """factor for each component of a continuous action; its bounds must be symmetric around 0"""


class Step(NamedTuple):
    """What the players see in N rows; stacked over time, [T+1, N, ...].

    >>> import ludus
    >>> step = ludus.Pool("tictactoe", rows=3).step
    >>> step.seat, step.first, step.mask.all()
    (array([0, 0, 0], dtype=int8), array([ True,  True,  True]), np.True_)
    """

    observation: dict[str, Array]
    """[N, ...] arrays by the names of the game's OBSERVATION record"""
    mask: Array
    """[N, A] legal actions; all True on the last step of a game, [N, 0] for continuous actions"""
    seat: Array
    """[N] the seat to act"""
    reward: Array
    """[N, P] reward of each seat since the previous step of this row"""
    discount: Array
    """[N] 0 if the game has terminated, else 1 (also 1 if it was truncated)"""
    first: Array
    """[N] True at the first step of a game"""


class Decision(NamedTuple):
    """What an agent returns for a step: action [N(, k)], log_prob [N], value [N, P].

    >>> import ludus
    >>> agent, pool = ludus.agent("perfect", "tictactoe").agent, ludus.Pool("tictactoe", rows=3)
    >>> decision, memory = agent.act((), agent.memory(3), pool.step, 0)
    >>> decision.action.shape
    (3,)
    """

    action: Array
    log_prob: Array
    value: Array


class Rollout(NamedTuple):
    """T decisions between T+1 steps, the agent's memory before the first, and the version of its parameters.

    Algorithms for networks learn from rollouts; only an algorithm of your own uses them.

    >>> import ludus
    >>> ludus.Rollout._fields[:2]
    ('steps', 'decisions')
    """

    steps: Step
    decisions: Decision
    """with T+1 values: the value of the last step bootstraps the return"""
    own: Array
    """[T, N] True where the learning agent decided, False where an opponent did"""
    memory: Any
    version: int
    tally: Array
    """[3 + 4P] counts and returns of the games that ended, see `ludus.algorithms.tally`"""
    notes: dict[str, float]
    """metrics of the rollout: seconds, and games won against each opponent"""


def step_rows(step: Step) -> int:
    """The number of rows of a step."""
    return int(np.shape(step.seat)[0])


def some_rows(step: Step, rows: Any) -> Step:
    """The step restricted to some rows: a slice or an array of row indices, which may repeat."""
    observation = {name: field[rows] for name, field in step.observation.items()}
    return Step(observation, *(part[rows] for part in step[1:]))
