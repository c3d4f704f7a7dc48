"""An agent of ours plays the real Balatro through BalatroBot, beside our engine on the same seed.

After every move the state that the game reports is compared with that of our engine: a conformance test of the rules.
The agent sees our engine only, so nothing that the game reports about hidden cards reaches it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ludus import agents
from ludus.agents.player import Player
from ludus.agents.players.expert import balatro as expert
from ludus.agents.players.thinker import ThinkerAt
from ludus.bridges.balatrobot import agreement
from ludus.bridges.balatrobot.client import Client
from ludus.bridges.balatrobot.moves import Request, expressible, legal, request_of
from ludus.bridges.balatrobot.protocol import BAD_REQUEST, BLIND_SELECT, PACK, SHOP, Refusal
from ludus.bridges.balatrobot.run import Run
from ludus.bridges.balatrobot.state import gamestate
from ludus.dsl.cache import interpreted
from ludus.games.balatro import actions as a
from ludus.games.balatro.actions import name_of
from ludus.games.balatro.seeds import parse
from ludus.games.balatro.tables import decks
from ludus.pool import Pool
from ludus.types import JsonObject, LudusError

Think = Callable[[Player, Pool], dict[int, float] | None]
"""a value for each move that an agent considers, or None"""
FALLBACK = {BLIND_SELECT: a.SELECT_BLIND, SHOP: a.LEAVE, PACK: a.SKIP_PACK}
"""what is done where the interface cannot express what the agent wants"""


@dataclass(frozen=True)
class Turn:
    """A position and the move of the agent in it."""

    table: str
    """our engine's position as text"""
    action: str
    """the move by its name"""
    request: Request
    moves: int
    """moves before this one"""
    thoughts: dict[str, float]
    """the moves that the agent considered, by name, the best first"""
    wanted: str = ""
    """the move that the agent wanted, if the interface cannot express it"""


@dataclass(frozen=True)
class Result:
    """A finished run."""

    seed: str
    won: bool
    ante: int
    round: int
    moves: int
    """moves after each of which both states agreed"""

    def __str__(self) -> str:
        ended = "won" if self.won else f"lost in ante {self.ante}, round {self.round}"
        return f"seed {self.seed}: {ended}; both states agreed after each of {self.moves} moves"


def drive(
    client: Client, agent: str, deck: str = "red", stake: str = "white", seed: str = "", think: Think | None = None,
    delay: float = 0.0,
) -> Iterator[Turn | Result]:  # fmt: skip
    """Play one run: a turn before each move, and the result at the end; raises LudusError if the states disagree.

    `delay` is a pause in seconds before each move, because some versions of the mod crash if moves follow at once.
    """
    methods = client.methods()
    run, state = _begin(client, deck, stake, seed)
    driver = Driver(run, agent, methods, think)
    moves, request = 0, Request("start", {})
    while True:
        _check(state, run, moves, request)
        if run.over:
            yield Result(str(state["seed"]), bool(run.record["won"]), *_where(run), moves)
            return
        turn, action = driver.turn(moves)
        yield turn
        request = turn.request
        time.sleep(delay)
        state = client.act(request.method, **request.params)
        run.take(action)
        moves += 1


def _where(run: Run) -> tuple[int, int]:
    return int(run.record["ante"]), int(run.record["round"])


def _begin(client: Client, deck: str, stake: str, seed: str) -> tuple[Run, JsonObject]:
    """Start a run in the game, and one of ours on the same seed."""
    if seed:
        parse(seed)
    client.act("menu")
    state = _start(client, deck.lower(), stake.lower(), {"seed": seed.upper()} if seed else {})
    found = state.get("seed")
    if not isinstance(found, str):
        raise LudusError("the game does not report the seed of the run, which is needed to play beside it")
    return Run(deck, stake, found, actions="direct", endless="no", key=0), state


def _start(client: Client, deck: str, stake: str, params: JsonObject) -> JsonObject:
    """The first state of a new run; versions of the mod differ in the words for deck and stake."""
    spellings = [(deck.upper(), stake.upper()), (f"b_{deck}", stake.upper()), (f"b_{deck}", f"stake_{stake}")]
    for words in spellings[:-1]:
        try:
            return client.act("start", deck=words[0], stake=words[1], **params)
        except Refusal as refusal:
            if refusal.code != BAD_REQUEST or deck not in decks.NAMES or stake not in decks.STAKES:
                raise
    return client.act("start", deck=spellings[-1][0], stake=spellings[-1][1], **params)


def _check(state: JsonObject, run: Run, moves: int, request: Request) -> None:
    found = agreement.difference(state, gamestate(run))
    if found:
        record = run.record
        raise LudusError(
            f"after move {moves} ({request}) of the run on seed {state.get('seed')}, in ante {record['ante']}, the "
            f"game and Ludus disagree about {found}"
        )


class Driver:
    """The agent at the run, with the moves that the interface can express."""

    def __init__(self, run: Run, agent: str, methods: tuple[str, ...], think: Think | None) -> None:
        self.run, self.methods, self._think = run, methods, think
        self._pool = Pool(run.pool.game, 1, threads=1)
        """a copy of the run, from which the agent decides"""
        found = agents.load(agent, run.pool.name)
        self._player = Player(agent, found, found.init(run.pool.spec, 0), self._pool, 0)

    def turn(self, moves: int) -> tuple[Turn, int]:
        """The move of the agent in the current position."""
        run = self.run
        self._look()
        wanted = self._decide()
        action = wanted if self._possible(wanted) else self._instead(wanted)
        thoughts = self._thoughts()
        with interpreted():  # the text needs rules that are not compiled
            table = run.pool.describe(0)
        refused = "" if action == wanted else name_of(wanted)
        return Turn(table, name_of(action), request_of(run, action), moves, thoughts, refused), action

    def _look(self) -> None:
        """Show the position to the agent; with an open pack the interface does not let it use consumables."""
        states = self.run.pool.states.copy()
        if self.run.state == PACK:
            states["consumable_count"] = 0
        self._pool.put(states)

    def _decide(self) -> int:
        agent = self._player.agent
        if isinstance(agent, ThinkerAt) and "candidates" in (agent.work.dtype.names or ()):
            agent.work["count"] = 0
        step = self._pool.step
        self._player.notice(step)
        return int(np.asarray(self._player.act(step, np.ones(1, bool)).action)[0])

    def _possible(self, action: int) -> bool:
        return bool(self.run.mask[action]) and expressible(self.run, action, self.methods)

    def _instead(self, wanted: int) -> int:
        """Another move: buying for buying and using, else the fallback, else any."""
        bought = wanted - a.BUY_AND_USE + a.BUY
        if a.BUY_AND_USE <= wanted < a.BUY_VOUCHER and self._possible(bought):
            return bought
        fallback = FALLBACK.get(self.run.state, -1)
        return fallback if fallback >= 0 and self._possible(fallback) else int(legal(self.run, self.methods)[0])

    def _thoughts(self) -> dict[str, float]:
        agent = self._player.agent
        found: dict[int, float] | None = None
        if isinstance(agent, ThinkerAt) and "candidates" in (agent.work.dtype.names or ()):
            found = expert.considered(agent.work[0])
        elif self._think:
            found = self._think(self._player, self._pool)
        ranked = sorted((found or {}).items(), key=lambda one: -one[1])
        return {name_of(action): value for action, value in ranked[:8]}
