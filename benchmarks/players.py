"""The players of the peers benchmark: one function per kind, which yields a player for every setting to try.

A player has a function that plays a piece (many steps of many games) and returns a tally. Peers are imported where they
are needed, so that a missing or broken one does not affect the others.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ludus.pool import Pool, available_cores

SEED = 1
PIECE = 2**18
"""steps in a piece, over all rows: long enough to hide the overhead of a call, short enough to take turns"""


class Effort(NamedTuple):
    """How thoroughly to measure."""

    rows: tuple[int, ...] = (512, 2048, 8192, 32768)
    rows_one_by_one: tuple[int, ...] = (16, 64, 256)
    """for peers that step rows in a Python loop, where more rows do not help"""
    rounds: int = 9
    seconds: float = 0.5


QUICK = Effort(rows=(1024,), rows_one_by_one=(16,), rounds=2, seconds=0.1)


class Tally(NamedTuple):
    """The totals of a piece; starting a game is not a decision."""

    decisions: int
    games: int


class Player(NamedTuple):
    """One way to play a game: its setting, and the function that plays a piece."""

    setting: str
    play: Callable[[], Tally]


Players = Callable[[Effort], Iterator[Player]]
"""yields one kind of player in all settings; each is built only when needed"""


def ludus_players(game: str, effort: Effort) -> Iterator[Player]:
    """The pool's own loop, on all cores."""
    for rows in effort.rows:
        yield Player(f"rows={rows}", ludus_player(Pool(game, rows, SEED)))


def ludus_player(pool: Pool) -> Callable[[], Tally]:
    steps = PIECE // pool.rows

    def play() -> Tally:
        decisions = pool.play_randomly(steps, SEED)
        return Tally(decisions, games=steps * pool.rows - decisions)

    return play


def pgx_players(game: str, effort: Effort) -> Iterator[Player]:
    """Pgx with its own `auto_reset`, in which every step is a decision."""
    prepare_jax()
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    environment = pgx.make(game)
    open_row, step_row = jax.vmap(environment.init), jax.vmap(auto_reset(environment.step, environment.init))

    def start(key: Any, rows: int) -> Any:
        state = open_row(jax.random.split(key, rows))
        return state, state.observation

    def advance(carry: Any, key: Any) -> tuple[Any, Any]:
        state, seen = carry
        dice, luck = jax.random.split(key)
        action = random_legal(dice, state.legal_action_mask)
        state = step_row(state, action, jax.random.split(luck, len(action)))
        return (state, seen ^ state.observation), state.terminated.astype(jnp.int32)

    return jax_players(start, advance, effort)


def random_legal(key: Any, mask: Any) -> Any:
    """[rows] a uniform choice from each row of the mask [rows, actions], with one random number per row, as in Ludus.

    Cheaper than `jax.random.categorical`, which draws a number and its logarithms for every action.
    """
    import jax
    import jax.numpy as jnp

    passed = jnp.cumsum(mask.astype(jnp.uint32), axis=1)
    dice = jax.random.bits(key, (len(mask),), jnp.uint16).astype(jnp.uint32)
    skip = dice * passed[:, -1] >> 16
    return (passed <= skip[:, None]).sum(axis=1, dtype=jnp.int32)


def gymnax_players(game: str, effort: Effort) -> Iterator[Player]:
    """gymnax, whose `step` resets games automatically, so that every step is a decision; it has no masks."""
    prepare_jax()
    import gymnax
    import jax
    import jax.numpy as jnp

    environment, parameters = gymnax.make(game)
    open_row = jax.vmap(environment.reset, in_axes=(0, None))
    step_row = jax.vmap(environment.step, in_axes=(0, 0, 0, None))

    def start(key: Any, rows: int) -> Any:
        observation, state = open_row(jax.random.split(key, rows), parameters)
        return state, observation, jnp.zeros(rows)

    def advance(carry: Any, key: Any) -> tuple[Any, Any]:
        state, seen, returns = carry
        dice, luck = jax.random.split(key)
        action = jax.random.bits(dice, returns.shape, jnp.uint8) % environment.num_actions
        keys = jax.random.split(luck, len(action))
        observation, state, reward, done, _ = step_row(keys, state, action.astype(jnp.int32), parameters)
        return (state, seen + observation, returns + reward), done.astype(jnp.int32)

    return jax_players(start, advance, effort)


def prepare_jax() -> None:
    """Use the CPU only, with one device per core; XLA must be configured before it starts."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if "jax" not in sys.modules:
        devices = f"--xla_force_host_platform_device_count={available_cores()}"
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {devices}".strip()


def jax_players(start: Callable[..., Any], advance: Callable[..., Any], effort: Effort) -> Iterator[Player]:
    """Every batch size on one device, where XLA splits each operation over threads, and on one device per core."""
    for devices, rows in itertools.product(sorted({1, available_cores()}), effort.rows):
        if rows % devices == 0:
            yield Player(f"rows={rows} devices={devices}", jax_player(start, advance, rows, devices))


def jax_player(start: Callable[..., Any], advance: Callable[..., Any], rows: int, devices: int) -> Callable[[], Tally]:
    """A whole piece in one compiled scan.

    The carry holds complete states and accumulates all observations, so that XLA cannot optimise anything away.
    """
    import jax
    import jax.numpy as jnp

    steps = PIECE // rows
    keys = (jax.random.split(key, devices) for key in stream_of_keys())

    def play_steps(carry: Any, keys: Any) -> tuple[Any, Any]:
        def step(inner: Any, key: Any) -> tuple[Any, None]:
            carry, games = inner
            carry, ended = advance(carry, key)
            return (carry, games + ended), None

        games = jnp.zeros(rows // devices, jnp.int32)
        return jax.lax.scan(step, (carry, games), jax.random.split(keys[0], steps))[0]

    compiled = on_devices(play_steps, devices)
    carry = on_devices(lambda keys: start(keys[0], rows // devices), devices)(next(keys))

    def play() -> Tally:
        nonlocal carry
        carry, games = jax.block_until_ready(compiled(carry, next(keys)))
        return Tally(steps * rows, int(np.asarray(games).sum()))

    return play


def on_devices(function: Callable[..., Any], devices: int) -> Callable[..., Any]:
    """Compile a function with the leading axis split over the devices, which do not communicate."""
    import jax

    mesh = jax.sharding.Mesh(np.array(jax.devices()[:devices]), ("device",))
    share = jax.sharding.PartitionSpec("device")
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=share, out_specs=share, check_vma=False))


def stream_of_keys() -> Iterator[Any]:
    import jax

    root = jax.random.key(SEED)
    return (jax.random.fold_in(root, index) for index in itertools.count())


def gymnasium_players(game: str, mode: str, effort: Effort) -> Iterator[Player]:
    """A vector environment stepped from Python, the only possible way."""
    import gymnasium

    import ludus.bridges.gymnasium  # noqa: F401  (registers ludus/…)

    one_by_one = mode == "sync"
    settings = {"disable_env_checker": True} if one_by_one else {}
    for rows in effort.rows_one_by_one if one_by_one else effort.rows:
        environments = gymnasium.make_vec(game, num_envs=rows, vectorization_mode=mode, **settings)
        yield Player(f"rows={rows}", gymnasium_player(environments))


def gymnasium_player(environments: Any) -> Callable[[], Tally]:
    """All actions of a piece are drawn at once; rows whose game has ended start a new one in the next step."""
    rows = environments.num_envs
    steps = max(8, PIECE // 64 // rows)
    generator = np.random.default_rng(SEED)
    ended = np.zeros(rows, bool)
    environments.reset(seed=SEED)

    def play() -> Tally:
        nonlocal ended
        games = 0
        for actions in generator.integers(0, 2, (steps, rows)):
            games += np.count_nonzero(ended)
            _, _, terminated, truncated, _ = environments.step(actions)
            ended = terminated | truncated
        return Tally(steps * rows - games, games)

    return play


GAMES: dict[str, dict[str, Players]] = {
    "tictactoe": {
        "ludus": functools.partial(ludus_players, "tictactoe"),
        "pgx": functools.partial(pgx_players, "tic_tac_toe"),
    },
    "connect4": {
        "ludus": functools.partial(ludus_players, "connect4"),
        "pgx": functools.partial(pgx_players, "connect_four"),
    },
    "cartpole": {
        "ludus": functools.partial(ludus_players, "cartpole"),
        "ludus_gymnasium": functools.partial(gymnasium_players, "ludus/CartPole-v0", "vector_entry_point"),
        "gymnax": functools.partial(gymnax_players, "CartPole-v1"),
        "gymnasium_vector": functools.partial(gymnasium_players, "CartPole-v1", "vector_entry_point"),
        "gymnasium_sync": functools.partial(gymnasium_players, "CartPole-v1", "sync"),
    },
    "car": {"ludus": functools.partial(ludus_players, "car")},
}
