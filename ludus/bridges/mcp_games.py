"""N games behind MCP servers, a client for each, with the calls of a `SeatedPool`.

The servers are called at the same time, so a step takes as long as the slowest answer.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import TypeGuard

import numpy as np

from ludus.bridges.illegal_actions import ActionError, RowKeys
from ludus.bridges.mcp import MCPClient, RemoteState
from ludus.bridges.seated_pool import SeatStep
from ludus.bridges.spaces import fit_actions
from ludus.dsl import random
from ludus.games import Game
from ludus.pool import Pool
from ludus.pool.actions import illegal, random_actions, read_actions
from ludus.types import Array, Discrete, LudusError

Clients = MCPClient | Callable[[], MCPClient] | Sequence[MCPClient]
"""a client, a function that makes one, or a client for each game"""
METHODS = ("reset", "play", "close")
"""of a client"""


class MCPGames:
    """N games with one seat; a row whose game has ended starts a new one at the next call of `advance`.

    `fields` are the fields of the observation that are read. After an error all games have to be started again.
    """

    def __init__(self, game: Game, clients: Sequence[MCPClient], fields: Sequence[str]) -> None:
        assert isinstance(game.spec.actions, Discrete)
        self.game, self.clients, self.fields = game, clients, fields
        self.names = [str(game.rules.action_name(action)) for action in range(game.spec.actions.n)]
        self.states: list[RemoteState] = []
        """[N] the newest state of each game; [] before the first game and after an error"""
        self._keys = RowKeys(len(clients))
        self._threads = concurrent.futures.ThreadPoolExecutor(len(clients), "mcp")
        self._none, self._closed = np.zeros(len(clients), bool), False

    def reset(self, seeds: Sequence[int] | None = None) -> SeatStep:
        """Start new games in all rows, with the seeds [N]; without them the random streams continue."""
        every = ~self._none
        if seeds is None:
            chosen = self._seeds(every)
        else:
            self._keys.seed(random.seeded(seeds), every)
            chosen = [int(seed) for seed in seeds]
        self._call([functools.partial(client.reset, seed) for client, seed in zip(self.clients, chosen, strict=True)])
        return self._step(every, self._none, {})

    def advance(self, actions: object) -> SeatStep:
        """Play one action in every game; an illegal one is replaced by a random legal one, as in a `SeatedPool`."""
        if not self.states:
            raise LudusError(f"no game of {self.game.name} is running after the last error; call reset()")
        given, opening = self._read(actions), np.array([state.over for state in self.states])
        played, wrong = self._legal(given, opening)
        seeds = self._seeds(opening) if opening.any() else [0] * len(given)
        self._call([
            functools.partial(client.reset, seed) if new else functools.partial(client.play, self.names[action])
            for client, seed, new, action in zip(self.clients, seeds, opening, played.tolist(), strict=True)
        ])  # fmt: skip
        return self._step(opening, wrong, {"illegal_action": np.where(wrong, given, 0)} if wrong.any() else {})

    @property
    def pool(self) -> Pool:
        """Raises LudusError: the games are elsewhere."""
        raise LudusError("the games of an mcp_client are on its server; there is no pool")

    @property
    def render_modes(self) -> list[str]:
        """Text only, since a state has no picture."""
        return ["ansi"]

    def render(self, mode: str | None) -> str | None:
        """The first game as its server describes it; None without a mode."""
        return self.states[0].text if mode is not None and self.states else None

    def close(self) -> None:
        """Close the clients."""
        self._closed = True
        with self._threads:
            for closed in [self._threads.submit(client.close) for client in self.clients]:
                closed.result()

    def _read(self, actions: object) -> Array:
        try:
            spec = self.game.spec
            return read_actions(self.game.name, spec, fit_actions(spec.actions, actions), len(self.clients))
        except LudusError as error:
            raise ActionError(str(error)) from None

    def _legal(self, given: Array, opening: Array) -> tuple[Array, Array]:
        """[N] legal actions, and whether the given ones were illegal; raises ActionError outside of the space."""
        inside = (given >= 0) & (given < len(self.names))
        masks, rows = self._masks(), np.arange(len(given))
        wrong = ~(inside & masks[rows, np.where(inside, given, 0)]) & ~opening
        if (outside := wrong & ~inside).any():
            row = int(outside.argmax())
            raise ActionError(illegal(self.game.name, self.game.spec, row, 0, given[row], list(self.states[row].legal)))
        drawn = random_actions(self._keys.draw(wrong), self.game.spec, masks) if wrong.any() else given
        return np.where(opening, 0, np.where(wrong, drawn, given)), wrong

    def _seeds(self, rows: Array) -> list[int]:
        """[N] seeds of new games in the marked rows."""
        return [int(key) >> 1 for key in self._keys.draw(rows)]

    def _call(self, calls: Sequence[Callable[[], RemoteState]]) -> None:
        """Call all servers at once and check their states; the first error is raised after all have answered."""
        if self._closed:
            raise LudusError("the environment is closed, and so are its clients; make another one")
        self.states = []
        futures = [self._threads.submit(call) for call in calls]
        concurrent.futures.wait(futures)
        states = [future.result() for future in futures]
        for state in states:
            self._check(state)
        self.states = states

    def _check(self, state: RemoteState) -> None:
        """Raise LudusError unless the state is one of this game with our numbers of the actions."""
        form = self.game.rules.OBSERVATION
        for name in self.fields:
            if (seen := state.observation.get(name)) is None or seen.shape != form[name].shape:
                raise LudusError(
                    f"an mcp_client does not play {self.game.name}: its states have no {name} of the shape"
                    f" {form[name].shape}; make a client for {self.game.name}"
                )
        if state.mask.shape != (len(self.names),):
            raise LudusError(f"an mcp_client has a mask of {state.mask.shape}; expected {(len(self.names),)}")
        for name, action in state.legal.items():
            if self.names[action] != name:
                own = self.names[action]
                raise LudusError(f'an mcp_client calls action {action} "{name[:60]}", which is "{own}" here')

    def _masks(self) -> Array:
        """[N, A] legal actions; all True once the game has ended."""
        return np.stack([state.mask | state.over for state in self.states])

    def _step(self, opened: Array, wrong: Array, info: dict[str, Array]) -> SeatStep:
        form, states = self.game.rules.OBSERVATION, self.states
        seen = {
            name: np.stack([state.observation[name] for state in states]).astype(np.dtype(form[name].base.str))
            for name in self.fields
        }
        reward = np.where(opened, 0.0, [state.reward for state in states])
        over, cut = (np.array(ends) for ends in zip(*((state.over, state.cut) for state in states), strict=True))
        return SeatStep(seen, self._masks(), reward, over & ~cut, over & cut, wrong, info)


def clients_of(given: object, count: int) -> list[MCPClient]:
    """A client for each of N games; raises LudusError for other objects and for another number of clients."""
    if not _is_client(given) and callable(given):
        return _distinct(_made(given, count), count)
    several = isinstance(given, Sequence) and not isinstance(given, str)
    clients = list(given) if several else [given]  # type: ignore[call-overload]
    return _distinct([_checked(client) for client in clients], count)


def _made(make: Callable[[], object], count: int) -> list[MCPClient]:
    """The clients of N calls of a function; none stays open if one call fails."""
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(count):
            clients.append(_checked(make()))
            stack.callback(clients[-1].close)
        stack.pop_all()
    return clients


def _distinct(clients: list[MCPClient], count: int) -> list[MCPClient]:
    different = len({id(client) for client in clients})
    if different != count or len(clients) != count:
        raise LudusError(
            f"mcp_client has {different} clients for {count} games; each game needs its own: give a sequence of clients"
            " or a function that makes one"
        )
    return clients


def _checked(given: object) -> MCPClient:
    if not _is_client(given):
        raise LudusError(
            f"mcp_client is {given!r}; expected an object with the methods {', '.join(METHODS)} (such as"
            " ludus.bridges.mcp.MCPGame), a function that makes one, or a sequence of them"
        )
    return given


def _is_client(given: object) -> TypeGuard[MCPClient]:
    return not isinstance(given, type) and all(callable(getattr(given, method, None)) for method in METHODS)
