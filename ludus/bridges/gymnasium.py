"""Ludus games as Gymnasium environments: `import ludus.bridges.gymnasium`, then `gymnasium.make("ludus/Car-v0")`.

Parameters of a game are keywords: `make("ludus/Car-v0", track=7)`. In a game for several players an agent plays the
other seats: `make("ludus/Connect4-v0", opponent="mcts(200)", seat=0)`. `make_vec` steps all games in one pool, with
Gymnasium's NEXT_STEP autoreset. docs/bridges.md describes every option.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ludus import games
from ludus.agents.bound import BoundAgent, Named, name_of_agent
from ludus.pool import Pool
from ludus.types import Array, Discrete, LudusError

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ImportError as missing:
    raise LudusError("ludus.bridges.gymnasium needs Gymnasium: pip install ludus[gymnasium]") from missing

from ludus.bridges.illegal_actions import ActionError, Illegal
from ludus.bridges.rendering import FRAMES_PER_SECOND, check_render_mode, render, render_modes
from ludus.bridges.seated_pool import Seat, SeatedPool, SeatOptions, SeatStep
from ludus.bridges.spaces import Action, Batch, Observation, Space, action_space, fit_batch, fit_row, observation_space

__all__ = ["ActionError", "LudusEnv", "LudusVectorEnv", "make", "register", "register_games"]

Info = dict[str, object]
ObservationKind = Literal["record", "integer"]
"""the fields of the game's record, or the whole position as one number, for games that define `position`"""


# Gymnasium declares a Dict space as a space of spaces, so only `object` covers the observations of all spaces.
class LudusEnv(gymnasium.Env[object, Action]):
    """One game; in a game for several players, one seat of it."""

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": FRAMES_PER_SECOND}  # noqa: RUF012

    def __init__(
        self, game: str, render_mode: str | None = None, opponent: str | None = None, seat: Seat = 0,
        illegal: Illegal = "random", observation: ObservationKind = "record", **parameters: object,
    ) -> None:  # fmt: skip
        self.pool = open_pool(games.load(game, **parameters), 1, 1, render_mode)
        self.games = SeatedPool(self.pool, SeatOptions(opponent, seat, illegal))
        self.metadata = {**self.metadata, "render_modes": render_modes(self.pool.game)}
        self.render_mode, self._observation_kind = render_mode, observation
        self.observation_space = space_of(self.pool, observation)
        self.action_space = action_space(self.pool.spec.actions)
        self._step: SeatStep | None = None

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Observation, Info]:
        """Start a new game; without a seed, the random stream of the last game continues."""
        super().reset(seed=seed)
        if seed is None and self._step is None:
            seed = draw_seed(self.np_random)
        self._step = self.games.reset(None if seed is None else [seed])
        return self._observation(self._step), mask_info(self.pool, self._step.mask[0])

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, Info]:
        """Play one action, and then the opponents' until it is this seat's turn again or the game has ended."""
        if self._step is None or self._step.terminated[0] or self._step.truncated[0]:
            raise gymnasium.error.ResetNeeded(f"no game of {self.pool.name} is running; call reset() before step()")
        self._step = step = self.games.advance([action])
        info = mask_info(self.pool, step.mask[0])
        if step.illegal[0]:
            info |= {name: values[0].item() for name, values in step.info.items()}
        return self._observation(step), float(step.reward[0]), bool(step.terminated[0]), bool(step.truncated[0]), info

    def action_masks(self) -> Array:
        """[A] booleans, the legal actions, as used by `sb3_contrib.MaskablePPO`."""
        return masks_of(self.pool, self._step)[0]

    def render(self) -> Array | str | None:
        """The game as this seat sees it: pixels, text or None, by the render mode."""
        return render(self.pool, self.render_mode, 0, int(self.games.seat[0]))

    def close(self) -> None:
        """Release the pool."""
        self.pool.close()

    def _observation(self, step: SeatStep) -> Observation:
        return fit_row(fields_of(self.pool, self._observation_kind, step), self.observation_space)


class LudusVectorEnv(gymnasium.vector.VectorEnv[Batch, ArrayLike, Array]):
    """`num_envs` games in one pool; with seed `seed`, row i plays like a LudusEnv with seed `seed + i`."""

    metadata = {  # noqa: RUF012
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": FRAMES_PER_SECOND,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self, game: str, num_envs: int = 1, render_mode: str | None = None, threads: int | None = None,
        opponent: str | None = None, seat: Seat = 0, illegal: Illegal = "random",
        observation: ObservationKind = "record", **parameters: object,
    ) -> None:  # fmt: skip
        self.pool = open_pool(games.load(game, **parameters), num_envs, threads, render_mode)
        self.games = SeatedPool(self.pool, SeatOptions(opponent, seat, illegal))
        self.num_envs, self.render_mode, self._observation_kind = num_envs, render_mode, observation
        self.metadata = {**self.metadata, "render_modes": render_modes(self.pool.game)}
        self.single_observation_space = space_of(self.pool, observation)
        self.single_action_space = action_space(self.pool.spec.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._step: SeatStep | None = None

    def reset(self, *, seed: int | Sequence[int] | None = None, options: Info | None = None) -> tuple[Batch, Info]:
        """Start new games in all rows, or in those marked by options["reset_mask"]; the first call resets all rows."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        rows = None if self._step is None else reset_mask(options, self.num_envs)
        self._step = self.games.reset(self._seeds(seed), rows)
        return self._observation(self._step), self._info(self._step.mask)

    def step(self, actions: ArrayLike) -> tuple[Batch, Array, Array, Array, Info]:
        """Play one action in every row; a row whose game has ended starts a new one and ignores its action."""
        if self._step is None:
            raise gymnasium.error.ResetNeeded(f"no game of {self.pool.name} is running; call reset() before step()")
        self._step = step = self.games.advance(actions)
        info = self._info(step.mask)
        for name, values in step.info.items():
            info |= {name: values, f"_{name}": step.illegal.copy()}
        return self._observation(step), step.reward, step.terminated, step.truncated, info

    def action_masks(self) -> Array:
        """[num_envs, A] booleans, the legal actions."""
        return masks_of(self.pool, self._step)

    def render(self) -> tuple[Array | str, ...] | None:
        """Every row, rendered in the render mode."""
        if self.render_mode is None:
            return None
        seats = enumerate(self.games.seat.tolist())
        frames = (render(self.pool, self.render_mode, row, seat) for row, seat in seats)
        return tuple(frame for frame in frames if frame is not None)

    def close_extras(self, **kwargs: object) -> None:
        """Release the pool's threads."""
        self.pool.close()

    def _seeds(self, seed: int | Sequence[int] | None) -> Sequence[int] | None:
        """One seed per row, or None to continue the games' random streams."""
        if seed is None and self._step is None:
            seed = draw_seed(self.np_random)
        return range(int(seed), int(seed) + self.num_envs) if isinstance(seed, int | np.integer) else seed

    def _observation(self, step: SeatStep) -> Batch:
        return fit_batch(fields_of(self.pool, self._observation_kind, step), self.single_observation_space)

    def _info(self, mask: Array) -> Info:
        """The info dict with an additional boolean array for each entry, as Gymnasium requires."""
        info = mask_info(self.pool, mask)
        return info | {f"_{name}": np.ones(self.num_envs, np.bool_) for name in info}


def make(
    game: str, opponent: Named | BoundAgent | None = None, seat: Seat = 0, render_mode: str | None = None,
    illegal: Illegal = "random", observation: ObservationKind = "record", **parameters: object,
) -> LudusEnv:  # fmt: skip
    """A game as a Gymnasium environment; in games of several seats, `opponent` plays the others.

    `opponent` is an agent, its name, or a run. Other keywords are parameters of the game.

    >>> import ludus
    >>> env = ludus.make("tictactoe", opponent=ludus.agent("perfect", "tictactoe"))
    >>> observation, info = env.reset(seed=0)
    >>> info["action_mask"].sum()
    np.int64(9)
    """
    name = None if opponent is None else name_of_agent(opponent)
    return LudusEnv(game, render_mode, name, seat, illegal, observation, **parameters)


def open_pool(game: games.Game, rows: int, threads: int | None, render_mode: str | None) -> Pool:
    """A pool of a game that offers this render mode."""
    check_render_mode(game, render_mode)
    return Pool(game, rows, threads=threads)


def space_of(pool: Pool, kind: ObservationKind) -> Space:
    """The space of one observation."""
    if kind not in get_args(ObservationKind):
        raise LudusError(f'observation="{kind}" is unknown; it is {" or ".join(get_args(ObservationKind))}')
    if kind == "record":
        return observation_space(pool.observation)
    if not hasattr(pool.game.rules, "position"):
        raise LudusError(f'{pool.game.name} does not number its positions; omit observation="integer"')
    return gymnasium.spaces.Discrete(pool.game.rules.POSITIONS)


def fields_of(pool: Pool, kind: ObservationKind, step: SeatStep) -> dict[str, Array]:
    """[N, ...] arrays by field: the game's record, or the number of the position."""
    return step.observation if kind == "record" else {"position": pool.game.rules.position(pool.states)}


def mask_info(pool: Pool, mask: Array) -> Info:
    """The legal actions; continuous actions have no mask."""
    return {"action_mask": mask.view(np.int8)} if isinstance(pool.spec.actions, Discrete) else {}


def masks_of(pool: Pool, step: SeatStep | None) -> Array:
    """[N, A] booleans that the caller may change."""
    if not isinstance(pool.spec.actions, Discrete):
        raise LudusError(
            f"the actions of {pool.name} are continuous, so they have no masks; use an algorithm without masks"
        )
    if step is None:
        raise gymnasium.error.ResetNeeded(f"no game of {pool.name} is running; call reset() before action_masks()")
    return step.mask.copy()


def reset_mask(options: Info | None, rows: int) -> Array | None:
    """The rows that options["reset_mask"] marks, or None for all."""
    if not options or "reset_mask" not in options:
        return None
    mask = np.asarray(options["reset_mask"])
    if mask.dtype != np.bool_ or mask.shape != (rows,):
        raise LudusError(f"reset_mask must be {rows} booleans, not {mask.dtype.name} of shape {mask.shape}")
    return mask


def draw_seed(generator: np.random.Generator) -> int:
    """A seed for callers that gave none."""
    return int(generator.integers(2**62))


def register_games() -> None:
    """Register every game for `gymnasium.make`; a game that cannot be loaded is skipped with a warning."""
    for name in games.names():
        try:
            register(games.load(name))
        except Exception as error:  # another author's module may fail in any way
            warnings.warn(f"{name} is not registered with Gymnasium: {error}", stacklevel=2)


def register(game: games.Game) -> None:
    """Offer a game to `gymnasium.make` by its `identity`; doing so again changes nothing."""
    here, name = __name__, identity(game)
    if name not in gymnasium.registry:
        gymnasium.register(
            name,
            entry_point=f"{here}:LudusEnv",
            vector_entry_point=f"{here}:LudusVectorEnv",
            kwargs={"game": game.name},
        )
    elif gymnasium.registry[name].kwargs != {"game": game.name}:
        raise LudusError(f"{name} is already the game {gymnasium.registry[name].kwargs['game']}; rename {game.name}")


def identity(game: games.Game) -> str:
    """The id of a game, such as ludus/CartPole-v0 for cartpole; capitals come from the title if it is the same word."""
    words = re.split(r"[^0-9A-Za-z]+", game.title)
    title = "".join(word[:1].upper() + word[1:] for word in words)
    return f"ludus/{title if title.lower() == game.name else game.name.capitalize()}-v0"


register_games()
