"""Gymnasium's vector environments as pools; all three autoreset modes give the same sequence of steps.

A vector environment cannot pause one row while the others step. If it resets too early (SAME_STEP) or not at all
(DISABLED), the row makes one step that is not shown, and is then reset alone with `options={"reset_mask": …}`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from numpy.typing import ArrayLike

from ludus.bridges.foreign import Sheet
from ludus.bridges.foreign_spaces import MASK, ActionForm, carries_mask, observation_writer
from ludus.dsl import PLAYING
from ludus.pool.actions import random_actions
from ludus.types import Array, LudusError, Spec

ALL = slice(None)
Env = VectorEnv[object, Array, Array]
Infos = dict[str, Any]


class VectorGames:
    """A vector environment that writes into a sheet.

    A SAME_STEP environment other than Gymnasium's SyncVectorEnv and AsyncVectorEnv cannot reset one row, so each of its
    new games except the first starts after one random legal action.
    """

    def __init__(self, env: Env, form: ActionForm, spec: Spec, sheet: Sheet) -> None:
        self._env, self._form, self._spec, self._sheet = env, form, spec, sheet
        self._mode = autoreset_mode(env)
        self._known = isinstance(env.unwrapped, SyncVectorEnv | AsyncVectorEnv)
        self._resets_rows = self._known or self._mode is AutoresetMode.DISABLED
        self.one_seed = not self._known
        self._legal = np.ones_like(sheet.mask)
        """the environment's own mask, also in rows where the sheet shows the end of a game"""
        self._info_masks = False
        self._generator = np.random.default_rng(0)
        space, carried = env.single_observation_space, carries_mask(env.single_observation_space, form)
        self._write = observation_writer(space, sheet.observation, self._take_masks if carried else None)
        self._write_last = observation_writer(space, sheet.observation, _ignore if carried else None)

    def open(self, chosen: Array, seeds: list[int] | None) -> None:
        if seeds is not None:
            self._generator = np.random.default_rng(seeds)
        if chosen.all():
            observations, infos = self._env.reset(seed=self._seed(seeds))
        else:
            observations, infos = self._reset_some(chosen, seeds)
        self._show(observations, infos, chosen)
        self._begin(chosen)

    def advance(self, actions: Array) -> None:
        ended = self._sheet.status != PLAYING
        alone = bool(ended.any()) and self._resets_rows and self._mode is not AutoresetMode.NEXT_STEP
        if alone and ended.all():
            self.open(ended, None)
            return
        if alone and self._mode is AutoresetMode.DISABLED:
            self._show(*self._reset_some(ended, None), ended)
        if ended.any():
            actions[ended] = random_actions(self._generator, self._spec, self._legal)[ended]
        observations, rewards, terminated, truncated, infos = self._env.step(self._form.batch(actions))
        self._show(observations, infos, ~ended if alone else np.ones_like(ended))
        if alone:
            self._show(*self._reset_some(ended, None), ended)
        self._sheet.reward[:, 0] = np.where(ended, 0.0, rewards)
        self._begin(ended)
        self._finish(~ended & terminated, ~ended & truncated, infos)

    def render(self, row: int) -> object:
        pictures: Any = self._env.render()
        return pictures[row]

    def close(self) -> None:
        self._env.close()

    def _seed(self, seeds: list[int] | None) -> Any:
        """The seed for `reset`; Gymnasium declares one number, but its own environments also accept one per row."""
        return seeds[0] if seeds and self.one_seed else seeds

    def _begin(self, rows: Array) -> None:
        for row in np.flatnonzero(rows).tolist():
            self._sheet.begin(row)

    def _finish(self, terminated: Array, truncated: Array, infos: Infos) -> None:
        for row in np.flatnonzero(terminated | truncated).tolist():
            if self._mode is AutoresetMode.SAME_STEP:
                self._write_last(row, _final_observation(infos, row))
            self._sheet.finish(row, bool(terminated[row]))

    def _reset_some(self, chosen: Array, seeds: list[int] | None) -> tuple[object, Infos]:
        """Start new games only in these rows, which not every vector environment supports."""
        if not self._resets_rows:
            raise LudusError(f"{self._env} cannot start new games in some rows only; reset all rows")
        try:
            result = self._env.reset(seed=self._seed(seeds), options={"reset_mask": chosen.copy()})
        except Exception as error:
            if self._known:
                raise
            raise LudusError(f'{self._env} does not reset by options={{"reset_mask": …}}: {error!r}') from error
        if not self._known:
            self._check_untouched(result[0], ~chosen)
        return result

    def _check_untouched(self, observations: object, others: Array) -> None:
        """Detect an environment that ignores `reset_mask` and resets every row."""
        before = {name: field.copy() for name, field in self._sheet.observation.items()}
        self._write_last(ALL, observations)
        for name, field in self._sheet.observation.items():
            if before[name][others].tobytes() != field[others].tobytes():
                raise LudusError(f'{self._env} reset rows that options={{"reset_mask": …}} did not mark')
            field[:] = before[name]

    def _show(self, observations: object, infos: Infos, rows: Array) -> None:
        """Write these rows of a batch of observations, and their masks."""
        fields = [*self._sheet.observation.values(), self._sheet.mask, self._legal]
        others = ~rows
        kept = [field[others] for field in fields]
        self._write(ALL, observations)
        self._take_info_masks(infos if isinstance(infos, dict) else {}, rows)
        for field, values in zip(fields, kept, strict=True):
            field[others] = values

    def _take_masks(self, rows: int | slice, legal: ArrayLike) -> None:
        self._sheet.allow(rows, legal)
        self._legal[rows] = self._sheet.mask[rows]

    def _take_info_masks(self, infos: Infos, rows: Array) -> None:
        """Masks from `infos`; once any mask was given, rows without one may use every action."""
        if not self._legal.shape[1] or (MASK not in infos and not self._info_masks):
            return
        self._info_masks = True
        given = rows & infos.get(f"_{MASK}", MASK in infos)
        self._sheet.mask[rows], self._legal[rows] = True, True
        for row in np.flatnonzero(given).tolist():
            self._take_masks(row, self._form.mask(infos[MASK][row]))


def autoreset_mode(env: Env) -> AutoresetMode:
    """The autoreset mode of the environment; raises LudusError if it declares none."""
    mode = env.metadata.get("autoreset_mode")
    if not isinstance(mode, AutoresetMode):
        raise LudusError(f'{env} declares no autoreset mode; set metadata["autoreset_mode"] to an AutoresetMode')
    return mode


def _ignore(rows: int | slice, legal: object) -> None:
    """Ignore the mask of a last observation, since no action follows."""


def _final_observation(infos: Infos, row: int) -> object:
    """The last observation of a row's game from `infos["final_obs"]`: one object per row, or a nested batch."""
    if not isinstance(infos, dict) or "final_obs" not in infos:
        raise LudusError('a SAME_STEP vector environment must return the last observation in infos["final_obs"]')
    return _row_of(infos["final_obs"], row)


def _row_of(batch: Any, row: int) -> object:
    if isinstance(batch, dict):
        return {key: _row_of(part, row) for key, part in batch.items()}
    if isinstance(batch, tuple):
        return tuple(_row_of(part, row) for part in batch)
    return batch[row]
