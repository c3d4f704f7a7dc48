"""Balatro for RLlib: one game, `BalatroEnv`, and many games in one pool, `BalatroVectorEnv`.

Both take RLlib's config dict: the clients of other services, and parameters of the game. The arrays of the observation
are fields of the game's record, written by its compiled rules, or by the server to which an `mcp_client` is connected;
see docs/rllib.md.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ludus import games
from ludus.types import Array, LudusError

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ImportError as missing:
    raise LudusError("ludus.bridges.balatro_env needs Gymnasium: pip install 'ludus[gymnasium]'") from missing

from ludus.bridges.mcp_games import Clients, MCPGames, clients_of
from ludus.bridges.rendering import FRAMES_PER_SECOND
from ludus.bridges.seated_pool import SeatedPool, SeatOptions, SeatStep
from ludus.games.balatro.actions import ACTIONS
from ludus.pool import Pool

GAME = "balatro"
EMBEDDING = 128
FIELDS = ("cards", "jokers", "game_state")
"""the fields of the game's record that are observed"""
Observation = dict[str, Array]
Info = dict[str, object]


class MemgraphClient(Protocol):
    """A source of graph embeddings, the `memgraph_client` of a config."""

    def embeddings(self, observation: Mapping[str, Array]) -> ArrayLike:
        """[N, 128] numbers from -1 to 1 for N games, from their arrays `cards`, `jokers` and `game_state`."""
        ...


class EnvSettings(NamedTuple):
    """The parts of a config dict."""

    mcp_client: Clients | None
    memgraph_client: MemgraphClient | None
    num_envs: int
    threads: int | None
    parameters: dict[str, object]
    """of the game"""


SETTINGS = ("mcp_client", "memgraph_client", "num_envs", "threads")


def read_config(config: Mapping[str, object] | None) -> EnvSettings:
    """The parts of a config dict; raises LudusError for unknown names and for objects that are no clients."""
    given = dict(config or {})
    known = {*SETTINGS, *games.load(GAME).settings}
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, 1)
            hint = f'did you mean "{close[0]}"?' if close else f"known are {', '.join(sorted(known))}"
            raise LudusError(f'the config of BalatroEnv has an unknown setting "{name}"; {hint}')
    if (client := given.get("memgraph_client")) is not None and not callable(getattr(client, "embeddings", None)):
        raise LudusError(f"memgraph_client is {client!r}, which has no method embeddings; see docs/rllib.md")
    for name in ("num_envs", "threads"):
        if (count := given.get(name)) is not None and (type(count) is not int or count < 1):
            raise LudusError(f"{name} is {count!r}; expected 1 or more")
    parts = {name: given.pop(name, None) for name in SETTINGS}
    if parts["mcp_client"] is not None and (local := [*given, *(["threads"] if parts["threads"] else [])]):
        raise LudusError(
            f"{', '.join(local)} cannot be set beside an mcp_client, whose server holds the game; name parameters of"
            ' the game where the client is made, as in MCPGame(server, "balatro(stake=green)")'
        )
    return EnvSettings(**parts | {"num_envs": parts["num_envs"] or 1}, parameters=given)  # type: ignore[arg-type]


def new_observation_space() -> spaces.Dict:
    """The space of one observation."""
    return spaces.Dict({
        "cards": spaces.Box(0.0, 1.0, (52, 4)),
        "jokers": spaces.Box(0.0, 1.0, (150, 8)),
        "game_state": spaces.Box(-np.inf, np.inf, (50,)),
        "memgraph_embedding": spaces.Box(-1.0, 1.0, (EMBEDDING,)),
        "action_mask": spaces.Box(0, 1, (ACTIONS,), np.int8),
    })  # fmt: skip


def new_action_space() -> spaces.Discrete:
    """The space of one action: all possible game actions."""
    return spaces.Discrete(ACTIONS)


def observed(observation: Mapping[str, Array], mask: Array, client: MemgraphClient | None = None) -> Observation:
    """The observation of N games; the embedding is 0 without a client."""
    # The pool's dtypes carry ranges as metadata; other code expects plain dtypes.
    seen = {name: observation[name].view(np.float32) for name in FIELDS}
    if client is None:
        embedding = np.zeros((len(mask), EMBEDDING), np.float32)
    else:
        embedding = checked_embedding(client.embeddings(seen), len(mask))
    return seen | {"memgraph_embedding": embedding, "action_mask": mask.view(np.int8)}


def checked_embedding(given: ArrayLike, count: int) -> Array:
    """The embeddings of a client; raises LudusError unless they are as many numbers from -1 to 1 as expected."""
    array = np.asarray(given, np.float32)
    if array.shape != (count, EMBEDDING):
        raise LudusError(f"memgraph_client returned the shape {array.shape}; expected {(count, EMBEDDING)}")
    if not (np.abs(array) <= 1.0).all():
        raise LudusError("memgraph_client returned numbers outside of -1 to 1; scale the embeddings")
    return array


class BalatroVectorEnv(gymnasium.vector.VectorEnv[Observation, ArrayLike, Array]):
    """`num_envs` games in one pool, stepped by one compiled call; a game that has ended restarts at the next step.

    With `mcp_client`, there is no pool: each game is behind a client of its own, and all are called at the same time.
    With the seed `seed`, row i plays like a BalatroEnv with the seed `seed + i`. An illegal action is replaced by a
    random legal one, which the info dict reports.
    """

    metadata = {  # noqa: RUF012
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": FRAMES_PER_SECOND,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(self, config: Mapping[str, object] | None = None, num_envs: int | None = None) -> None:
        self.settings = read_config(dict(config or {}) | ({} if num_envs is None else {"num_envs": num_envs}))
        self.num_envs = self.settings.num_envs
        self.games = open_games(self.settings)
        self.metadata = {**self.metadata, "render_modes": self.games.render_modes}
        self.single_observation_space, self.single_action_space = new_observation_space(), new_action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.started = False

    @property
    def pool(self) -> Pool:
        """The pool of the games; raises LudusError with an `mcp_client`."""
        return self.games.pool

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: Info | None = None
    ) -> tuple[Observation, Info]:
        """Start new games in all rows; without a seed, the random streams of the games continue."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        if seed is None and not self.started:
            seed = int(self.np_random.integers(2**31))
        self.started = True
        seeds = range(seed, seed + self.num_envs) if isinstance(seed, int | np.integer) else seed
        return self._seen(self.games.reset(seeds)), {}

    def step(self, actions: ArrayLike) -> tuple[Observation, Array, Array, Array, Info]:
        """Play one action in every row; a row whose game has ended starts a new one and ignores its action."""
        if not self.started:
            raise gymnasium.error.ResetNeeded("no game of balatro is running; call reset() before step()")
        step = self.games.advance(actions)
        info: Info = {}
        if step.illegal.any():
            for name, values in step.info.items():
                info |= {name: values, f"_{name}": step.illegal.copy()}
        return self._seen(step), step.reward, step.terminated, step.truncated, info

    def close_extras(self, **kwargs: object) -> None:
        """Release the pool's threads, or close the clients."""
        self.games.close()

    def _seen(self, step: SeatStep) -> Observation:
        return observed(step.observation, step.mask, self.settings.memgraph_client)


def open_games(settings: EnvSettings) -> SeatedPool | MCPGames:
    """The games in a pool of this process, or behind the clients."""
    if settings.mcp_client is not None:
        return MCPGames(games.load(GAME), clients_of(settings.mcp_client, settings.num_envs), FIELDS)
    game = games.load(GAME, **settings.parameters)
    return SeatedPool(Pool(game, settings.num_envs, threads=settings.threads or 1), SeatOptions())


# Gymnasium declares a Dict space as a space of spaces, so only `object` covers its observations.
class BalatroEnv(gymnasium.Env[object, int | np.int64]):
    """One game of Balatro: `BalatroEnv({"mcp_client": …, "memgraph_client": …, "stake": "green"})`."""

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": FRAMES_PER_SECOND}  # noqa: RUF012

    def __init__(self, config: Mapping[str, object] | None = None, render_mode: str | None = None) -> None:
        self.games = BalatroVectorEnv(config, num_envs=1)
        modes = self.games.metadata["render_modes"]
        if render_mode not in (None, *modes):
            self.games.close()
            raise LudusError(f'balatro has no render mode "{render_mode}" here; it has {" and ".join(modes)}')
        self.metadata = {**self.metadata, "render_modes": modes}
        self.render_mode, self.running = render_mode, False
        self.observation_space, self.action_space = new_observation_space(), new_action_space()

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Observation, Info]:
        """Start a new game; without a seed, the random stream of the last game continues."""
        super().reset(seed=seed)
        if seed is None and not self.games.started:
            seed = int(self.np_random.integers(2**31))
        self.running = True
        return _first(self.games.reset(seed=seed)[0]), {}

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, Info]:
        """Play one action."""
        if not self.running:
            raise gymnasium.error.ResetNeeded("no game of balatro is running; call reset() before step()")
        observation, reward, terminated, truncated, info = self.games.step(np.array([action]))
        self.running = not (terminated[0] or truncated[0])
        own = {name: values[0].item() for name, values in info.items() if isinstance(values, np.ndarray)}
        facts: Info = {name: value for name, value in own.items() if not name.startswith("_")}
        return _first(observation), float(reward[0]), bool(terminated[0]), bool(truncated[0]), facts

    def render(self) -> Array | str | None:
        """The game as pixels, text or None, by the render mode."""
        return self.games.games.render(self.render_mode)

    def close(self) -> None:
        """Release the pool, or close the client."""
        self.games.close()


def _first(batch: Observation) -> Observation:
    return {name: values[0] for name, values in batch.items()}


__all__ = ["BalatroEnv", "BalatroVectorEnv", "MemgraphClient"]
