"""Our solo games as Gymnasium environments: `import ludus.bridges.gymnasium`, then `gymnasium.make("ludus/Car-v0")`.

Parameters of a game are keywords: `make("ludus/Car-v0", track=7)`. `make_vec` gives the pool itself, whose habit is
Gymnasium's NEXT_STEP: the last step of a game is shown, the next call opens a new one and ignores that row's action.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ludus import games
from ludus.pool import Pool
from ludus.types import Array, Discrete, LudusError, Step
from ludus.words import CUT, OVER, PLAYING

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ImportError as missing:
    raise LudusError("ludus.bridges.gymnasium needs Gymnasium: pip install ludus[gymnasium]") from missing

from ludus.bridges.rendering import FRAMES_PER_SECOND, check_render_mode, render, render_modes
from ludus.bridges.spaces import action_space, fit_actions, fit_batch, fit_row, observation_space

Info = dict[str, Any]


class ActionError(LudusError, gymnasium.error.InvalidAction):
    """An action that the game does not allow; no game has moved."""


class LudusEnv(gymnasium.Env[Any, Any]):
    """One solo game."""

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": FRAMES_PER_SECOND}  # noqa: RUF012

    def __init__(self, game: str, render_mode: str | None = None, **parameters: object) -> None:
        self.pool = open_solo(game, 1, 1, render_mode, parameters)
        self.metadata = {**self.metadata, "render_modes": render_modes(self.pool.game)}
        self.render_mode = render_mode
        self.observation_space = observation_space(self.pool.observation)
        self.action_space = action_space(self.pool.spec.actions)
        self._masked = isinstance(self.pool.spec.actions, Discrete)
        self._opened = False

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Open a new game; without a seed its randomness goes on from the last game's."""
        super().reset(seed=seed)
        if seed is None and not self._opened:
            seed = draw_seed(self.np_random)
        self._opened = True
        step = self.pool.reset(None if seed is None else [seed])
        return fit_row(step.observation, self.observation_space), self._info(step)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """Play one action; an illegal one is refused with a sentence and changes nothing."""
        if not self._opened or self.pool.status[0] != PLAYING:
            raise gymnasium.error.ResetNeeded(f"no game of {self.pool.name} is running; call reset() before step()")
        step = advance(self.pool, [action])
        status = self.pool.status[0]
        observation = fit_row(step.observation, self.observation_space)
        return observation, float(step.reward[0, 0]), bool(status == OVER), bool(status == CUT), self._info(step)

    def render(self) -> Any:
        """The game as the render mode says: pixels, a text, or None."""
        return render(self.pool, self.render_mode)

    def close(self) -> None:
        """Let the pool go."""
        self.pool.close()

    def _info(self, step: Step) -> Info:
        return {"action_mask": step.mask[0].view(np.int8)} if self._masked else {}


class LudusVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Array]):
    """`num_envs` solo games in one pool; row i seeded with `seed` plays as a LudusEnv seeded with `seed + i` does."""

    metadata = {  # noqa: RUF012
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": FRAMES_PER_SECOND,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        render_mode: str | None = None,
        threads: int | None = None,
        **parameters: object,
    ) -> None:
        self.pool = open_solo(game, num_envs, threads, render_mode, parameters)
        self.num_envs, self.render_mode = num_envs, render_mode
        self.metadata = {**self.metadata, "render_modes": render_modes(self.pool.game)}
        self.single_observation_space = observation_space(self.pool.observation)
        self.single_action_space = action_space(self.pool.spec.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._masked = isinstance(self.pool.spec.actions, Discrete)
        self._opened = False

    def reset(self, *, seed: int | Sequence[int] | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Open new games in all rows, or in those that options["reset_mask"] marks; the first call opens every row."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        rows = self._marked(options) if self._opened else None
        step = self.pool.reset(self._seeds(seed), rows)
        self._opened = True
        return fit_batch(step.observation, self.single_observation_space), self._info(step)

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, Info]:
        """Play one action in every row; if one of them is illegal, no row moves and a sentence says which."""
        if not self._opened:
            raise gymnasium.error.ResetNeeded(f"no game of {self.pool.name} is running; call reset() before step()")
        step = advance(self.pool, actions)
        status = self.pool.status
        observation = fit_batch(step.observation, self.single_observation_space)
        return observation, step.reward[:, 0].astype(np.float64), status == OVER, status == CUT, self._info(step)

    def render(self) -> tuple[Any, ...] | None:
        """Every row as the render mode says."""
        if self.render_mode is None:
            return None
        return tuple(render(self.pool, self.render_mode, row) for row in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Let the pool's threads go."""
        self.pool.close()

    def _seeds(self, seed: int | Sequence[int] | None) -> Sequence[int] | None:
        """One seed a row, or None where the games' own randomness goes on."""
        if seed is None and not self._opened:
            seed = draw_seed(self.np_random)
        return range(int(seed), int(seed) + self.num_envs) if isinstance(seed, int | np.integer) else seed

    def _marked(self, options: Info | None) -> Array | None:
        if not options or "reset_mask" not in options:
            return None
        mask = np.asarray(options["reset_mask"])
        if mask.dtype != np.bool_:
            raise LudusError(f"reset_mask wants one boolean a row, not {mask.dtype.name}")
        return mask

    def _info(self, step: Step) -> Info:
        """Gymnasium pairs every entry with an array that says which rows have it."""
        if not self._masked:
            return {}
        return {"action_mask": step.mask.view(np.int8), "_action_mask": np.ones(self.num_envs, np.bool_)}


def open_solo(
    game: str, rows: int, threads: int | None, render_mode: str | None, parameters: dict[str, object]
) -> Pool:
    """A pool of a game for one player."""
    loaded = games.load(game, **parameters)
    if loaded.spec.seats != 1:
        raise LudusError(
            f"{loaded.name} has {loaded.spec.seats} seats and Gymnasium knows one; "
            f'use ludus.bridges.pettingzoo.env("{loaded.name}")'
        )
    check_render_mode(loaded, render_mode)
    return Pool(loaded, rows, threads=threads)


def advance(pool: Pool, actions: Any) -> Step:
    """One step of every row, with Gymnasium's error for what the pool refuses."""
    try:
        return pool.advance(fit_actions(pool.spec.actions, actions))
    except LudusError as error:
        raise ActionError(str(error)) from None


def draw_seed(generator: np.random.Generator) -> int:
    """A seed for those who gave none."""
    return int(generator.integers(2**62))


def register_games() -> None:
    """Offer every solo game to `gymnasium.make`; a game that does not load is left out with a warning."""
    for name in games.names():
        try:
            register(games.load(name))
        except Exception as error:  # another author's module may fail in any way
            warnings.warn(f"{name} is not offered to Gymnasium: {error}", stacklevel=2)


def register(game: games.Game) -> None:
    """Offer a game as ludus/<Title>-v0 if it has one seat; doing so again changes nothing."""
    if game.spec.seats != 1:
        return
    identity = f"ludus/{re.sub(r'[^0-9A-Za-z]', '', game.title)}-v0"
    known = gymnasium.registry.get(identity)
    if known is None:
        here = "ludus.bridges.gymnasium"
        gymnasium.register(
            identity,
            entry_point=f"{here}:LudusEnv",
            vector_entry_point=f"{here}:LudusVectorEnv",
            kwargs={"game": game.name},
        )
    elif known.kwargs != {"game": game.name}:
        raise LudusError(f"{identity} is {known.kwargs['game']} already; give {game.name} a title of its own")


register_games()
