"""Q-learning over numbered states for your own training loop, in three forms: plain Python, NumPy and compiled.

All three give the same table and the same actions, to the last bit, for the same seed and calls. The list form is the
easiest to read, the compiled form the fastest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ludus.algorithms.tabular.forms.batch import (
    LARGEST_REWARD,
    Batch,
    Rates,
    check_number,
    checked_batch,
    checked_mask,
    checked_masks,
    whole_numbers,
)
from ludus.algorithms.tabular.forms.compiled import Compiled, bigtable_rate
from ludus.algorithms.tabular.forms.plain import BITS, GOLDEN, Plain
from ludus.algorithms.tabular.forms.vectorised import Vectorised
from ludus.dsl import random
from ludus.types import Array, LudusError

__all__ = ["FORMS", "Form", "QLearning", "Rates", "bigtable_rate"]


class Form(Protocol):
    """A table of values and the operations on it; all arguments have been checked by the caller.

    `key` is a SplitMix64 counter: the i-th choice, counted from 1, uses the bits of key + i GOLDEN.
    """

    def __init__(self, states: int, actions: int) -> None: ...
    def choose(self, states: Array, masks: Array, exploration: float, key: int) -> Array: ...
    def choose_one(self, state: int, mask: Array | None, exploration: float, key: int) -> int: ...
    def learn(self, batch: Batch, rates: Rates) -> None: ...
    def learn_one(
        self, state: int, action: int, reward: float, next_state: int, terminated: bool, mask: Array | None,
        sign: float, rates: Rates,
    ) -> None: ...  # fmt: skip
    def values(self) -> Array: ...
    def take(self, values: Array) -> None: ...


FORMS: dict[str, type[Form]] = {"list": Plain, "numpy": Vectorised, "compiled": Compiled}


class QLearning:
    """A table of `states` x `actions` values, initially 0, and its learning rates; `form` is list, numpy or compiled.

    `rates` may be replaced at any time: `q.rates = dataclasses.replace(q.rates, exploration=0.01)`. After every
    `train_episode`, the exploration rate is multiplied by `epsilon_decay`, but not below `epsilon_min`.

    >>> import gymnasium, ludus
    >>> q = ludus.QLearning("list", states=16, actions=4, exploration=1.0, epsilon_decay=0.5, epsilon_min=0.05)
    >>> env = gymnasium.make("FrozenLake-v1")
    >>> rewards = [q.train_episode(env) for _ in range(10)]
    >>> q.episode_count, q.rates.exploration
    (10, 0.05)
    """

    def __init__(
        self, form: str = "compiled", states: int = 0, actions: int = 0, learning_rate: float = 0.1,
        gamma: float = 0.99, exploration: float = 0.1, seed: int = 0, epsilon_decay: float = 1.0,
        epsilon_min: float = 0.0,
    ) -> None:  # fmt: skip
        if form not in FORMS:
            raise LudusError(f'unknown form "{form}"; known are {", ".join(FORMS)}')
        if states < 1 or actions < 1:
            raise LudusError(f"a table needs at least one state and one action, not {states} and {actions}")
        self.shape = (int(states), int(actions))
        self.rates = Rates(learning_rate, gamma, exploration)
        self.form = FORMS[form](*self.shape)
        for name, rate in (("epsilon_decay", epsilon_decay), ("epsilon_min", epsilon_min)):
            if not 0.0 <= rate <= 1.0:
                raise LudusError(f"{name} must be between 0 and 1, not {rate:g}")
        self.epsilon_decay, self.epsilon_min = float(epsilon_decay), float(epsilon_min)
        self.step_count, self.episode_count = 0, 0
        """steps and episodes of `train_episode`"""
        self._key = int(random.keys(seed, 1)[0])

    @property
    def table(self) -> Array:
        """A copy of the values, [states, actions]."""
        return self.form.values()

    def select_action(self, state: int, mask: ArrayLike | None = None, explore: bool = True) -> int:
        """With probability ε a random action, else one of the best; only actions that the mask [A] allows."""
        check_number("a state", state, self.shape[0])
        legal = checked_mask("mask", mask, self.shape[1])
        return self.form.choose_one(int(state), legal, self._exploration(explore), self._draw(1))

    def select_actions(self, states: ArrayLike, masks: ArrayLike | None = None, explore: bool = True) -> Array:
        """[N] actions for N states and masks [N, A]; the same as N calls of `select_action`."""
        here = whole_numbers("states", states, self.shape[0])
        legal = checked_masks("masks", masks, len(here), self.shape[1], np.zeros(len(here), bool))
        return self.form.choose(here, legal, self._exploration(explore), self._draw(len(here)))

    def update(
        self, state: int, action: int, reward: float, next_state: int, terminated: bool,
        next_mask: ArrayLike | None = None, sign: float = 1.0, mask: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """Q(s, a) ← Q(s, a) + α [r ± γ max_b Q(s', b) - Q(s, a)]; if the game has terminated, the target is r.

        A truncated game is not terminated. `sign` is -1 if an opponent is to move in the next state. If `mask` is
        given, the action must be legal in it.
        """
        for name, number, below in (("a state", state, 0), ("an action", action, 1), ("a state", next_state, 0)):
            check_number(name, number, self.shape[below])
        if not -LARGEST_REWARD <= reward <= LARGEST_REWARD or sign not in (-1.0, 1.0):
            raise LudusError(
                f"reward must be between {-LARGEST_REWARD:g} and {LARGEST_REWARD:g} and sign 1 or -1, "
                f"not {reward} and {sign}"
            )
        legal = checked_mask("mask", mask, self.shape[1])
        if legal is not None and not legal[action]:
            raise LudusError(f"action {action} is not legal in state {state} according to its mask")
        after = checked_mask("next_mask", None if terminated else next_mask, self.shape[1])
        self.form.learn_one(
            int(state), int(action), float(reward), int(next_state), bool(terminated), after, float(sign), self.rates
        )

    def batch_update(
        self, states: ArrayLike, actions: ArrayLike, rewards: ArrayLike, next_states: ArrayLike, terminated: ArrayLike,
        next_masks: ArrayLike | None = None, signs: ArrayLike | None = None, masks: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """The same as N calls of `update` in sequence; if one of them is invalid, none is made."""
        batch = checked_batch(
            self.shape, states, actions, rewards, next_states, terminated, next_masks, signs, masks
        )  # fmt: skip
        self.form.learn(batch, self.rates)

    def train_episode(self, env: Any) -> float:
        """Play one episode of a Gymnasium environment with numbered states, learn from it, and return its reward.

        A truncated episode ends without being terminal. If `info` has an `action_mask`, it is respected.
        """
        state, info = env.reset()
        total, ended = 0.0, False
        while not ended:
            action = self.select_action(state, info.get("action_mask"))
            after, reward, terminated, truncated, info = env.step(action)
            self.update(state, action, float(reward), after, terminated, info.get("action_mask"))
            state, total, ended = after, total + float(reward), terminated or truncated
            self.step_count += 1
        self.episode_count += 1
        epsilon = min(self.rates.exploration, max(self.epsilon_min, self.rates.exploration * self.epsilon_decay))
        self.rates = dataclasses.replace(self.rates, exploration=epsilon)
        return total

    def state(self) -> dict[str, Array]:
        """Values, rates and random state as plain arrays, for a checkpoint."""
        rates = (self.rates.learning_rate, self.rates.gamma, self.rates.exploration)
        schedule = (self.epsilon_decay, self.epsilon_min, self.step_count, self.episode_count)
        return {
            "table": self.table, "rates": np.array(rates), "key": np.array([self._key], np.uint64),
            "schedule": np.array(schedule),
        }  # fmt: skip

    @classmethod
    def from_state(cls, form: str, state: Mapping[str, Array]) -> QLearning:
        """A learner that continues exactly where `state` was taken, in any form."""
        missing = {"table", "rates", "key"} - set(state)
        if missing:
            raise LudusError(f"this is not the state of a QLearning: it has no {', '.join(sorted(missing))}")
        table, rates, key = (np.asarray(state[name]) for name in ("table", "rates", "key"))
        kinds = (table.dtype.name, table.ndim, rates.shape, key.dtype.name, key.shape)
        if kinds != ("float32", 2, (3,), "uint64", (1,)) or not np.isfinite(table).all():
            raise LudusError("this state is damaged; it must be a table of finite 32-bit floats, three rates and a key")
        learner = cls(form, *table.shape, *rates.tolist())
        learner.form.take(table)
        learner._key = int(key[0])
        schedule = np.asarray(state.get("schedule", (1.0, 0.0, 0.0, 0.0)))
        learner.epsilon_decay, learner.epsilon_min = schedule[:2].tolist()
        learner.step_count, learner.episode_count = schedule[2:].astype(int).tolist()
        return learner

    def _exploration(self, explore: bool) -> float:
        return self.rates.exploration if explore else 0.0

    def _draw(self, count: int) -> int:
        """The counter before the next `count` choices."""
        key = self._key
        self._key = (key + count * GOLDEN) & BITS
        return key
