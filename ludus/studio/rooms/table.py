"""A table: one game in row 0 of a pool, those who play it, and all that was played since it opened.

Nothing here knows of clocks or browsers. What was played is a seed and a list of actions, so taking a move back,
finding a room again after a restart and keeping a replay are the same thing: play the actions again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ludus import agents, games, replays, show
from ludus.bridges import AnyPool, overheard
from ludus.evaluate.playing import any_legal
from ludus.pool import Pool
from ludus.studio import warming
from ludus.studio.rooms.players import PERSON, Player, Shelf, best_adviser
from ludus.types import Array, Continuous, Decision, LudusError
from ludus.words import PLAYING

MOST_STEPS, MOST_CARS, MOST_SEED = 20_000, 64, 2**63
WANDER, DRIFT = 0.35, 0.92
"""how far the other cars of a swarm stray from what the agent says, and how slowly that changes; without it all of
them would be in one place"""


class Decided(NamedTuple):
    """What is about to be played in all rows, and what the agent of each seat thought of row 0."""

    actions: Array
    decisions: dict[int, Decision]


class Table:
    """The seats, the pool and the record of the game in row 0."""

    def __init__(self, asked: str, seats: Sequence[str], seed: int, cars: int, shelf: Shelf) -> None:
        self.asked, self.shelf, self.cars = asked, shelf, cars
        self.game = describe(asked)
        self.spec = self.game.spec
        self.continuous = isinstance(self.spec.actions, Continuous)
        self.together = self.spec.turns == "simultaneous"
        self.drawn_track = self.game.settings.get("track") == "random"
        """the game would draw a track for each row: the table fixes one, so that all drive on the same"""
        self.seats, self.found = check_seats(self.spec.seats, seats), dict[str, tuple[Any, Any]]()
        check_cars(self.game, cars)
        self.seed = check_seed(seed)
        self._clear()
        self.pool: AnyPool
        self.players: dict[int, Player] = {}
        self.adviser: Player | None = None
        for name in set(self.agent_names()):
            self.found[name] = shelf.agent(name, asked)

    def _clear(self) -> None:
        """Nothing has been played yet."""
        self.actions: list[Any] = []
        self.names: list[str] = []
        self.persons: list[int] = []
        """the moves before which a person decided"""
        self.history: list[float | None] = []
        self.picks: dict[int, int] = {}
        """what persons have chosen where all act at once"""
        self.last: dict[str, Any] | None = None
        self.moves, self.returns = 0, np.zeros(self.spec.seats)

    def agent_names(self) -> list[str]:
        """The agents that play; in a continuous game there is one also where a person sits, to hand the wheel to."""
        return [self.agent_name(seat) for seat in range(len(self.seats)) if self.agent_name(seat)]

    def agent_name(self, seat: int) -> str:
        if self.seats[seat] != PERSON:
            return self.seats[seat]
        return best_driver(self.game.name) if self.continuous else ""

    def open(self, seed: int | None = None) -> None:
        """A new game from a seed, with another track if the table chose it."""
        self.seed = self.seed if seed is None else check_seed(seed)
        self._open_pool()
        self._clear()
        self._seat_players()

    def _open_pool(self) -> None:
        if hasattr(self, "pool"):
            self.pool.close()
        if ":" in self.asked:
            self.pool = show.open_drawable(self.asked, self.seed)
        else:
            chosen = {"track": self.seed % 2**31} if self.drawn_track else {}
            self.game = games.load(self.asked, **chosen)
            warming.prepare(self.game)
            self.pool = Pool(self.game, self.cars, [self.seed] * self.cars, threads=1)
        self._stray = self._no_stray()
        self._dice = np.random.default_rng(self.seed)

    def _seat_players(self) -> None:
        self.players = {seat: self._player(name, seat) for seat in range(len(self.seats))
                        if (name := self.agent_name(seat))}  # fmt: skip
        self.adviser = None

    def _player(self, name: str, place: int) -> Player:
        if name not in self.found:
            self.found[name] = self.shelf.agent(name, self.asked)
        return Player(name, *self.found[name], self.pool, self.seed * 31 + place)

    def open_next(self) -> None:
        """The next game in row 0, on the same track; the games of other rows go on."""
        self.seed = (self.seed + 1) % MOST_SEED
        self._reset()

    def _reset(self) -> None:
        self.pool.reset([self.seed] * self.pool.rows, np.arange(self.pool.rows) == 0)
        self._clear()
        self._notice()

    def _notice(self) -> None:
        for player in (*self.players.values(), *([self.adviser] if self.adviser else [])):
            player.unseen |= self.pool.step.first

    def set_cars(self, cars: int) -> None:
        """So many rows; the game in row 0 goes on where it is."""
        check_cars(self.game, cars)
        old, self.cars = self.pool, cars
        assert isinstance(old, Pool)
        new = Pool(old.game, cars, [self.seed] * cars, threads=1)
        states = new.states.copy()
        states[0] = old.states[0]
        new.put(states)
        self.pool, self._stray = new, self._no_stray()
        old.close()
        self._seat_players()

    def set_seats(self, seats: Sequence[str]) -> None:
        """Others play on from here."""
        before, self.seats = self.seats, check_seats(self.spec.seats, seats)
        try:
            self._seat_players()
        except LudusError:
            self.seats = before
            raise
        self.picks = {}

    def renew(self, name: str) -> None:
        """The agent of this name was replaced by a newer one: what it remembers of the games stays."""
        agent, params = self.found[name] = self.shelf.agent(name, self.asked)
        for seat, old in self.players.items():
            if old.name == name:
                new = Player(name, agent, params, self.pool, self.seed * 31 + seat)
                if type(new.agent) is type(old.agent) and new.agent == old.agent:
                    new.memory, new.unseen = old.memory, old.unseen
                self.players[seat] = new

    @property
    def over(self) -> bool:
        return bool(self.pool.status[0] != PLAYING)

    def acting(self) -> list[int]:
        """The seats that are to act."""
        if self.over:
            return []
        return list(range(self.spec.seats)) if self.together else [int(self.pool.step.seat[0])]

    def waiting_for(self) -> int | None:
        """The person who is to choose; persons in a continuous game are never waited for."""
        due = [seat for seat in self.acting() if self.seats[seat] == PERSON and seat not in self.picks]
        return due[0] if due and not self.continuous else None

    def row_of(self, seat: int) -> int:
        """Where the step shows row 0 to a seat."""
        return seat if self.together else 0

    def pick(self, action: int) -> bool:
        """A person's choice; True if now everybody who had to has chosen."""
        seat = self.waiting_for()
        if seat is None:
            raise LudusError("no move is asked of a person now; wait until it is your turn")
        mask = self.pool.step.mask[self.row_of(seat)]
        if not 0 <= action < len(mask) or not mask[action]:
            legal = ", ".join(self.pool.action_name(int(one)) for one in np.flatnonzero(mask)[:12])
            raise LudusError(f"action {action} is not allowed here; {self.seats[seat]} may play {legal}")
        self.picks[seat] = action
        return self.waiting_for() is None

    def decide(self, given: dict[int, int] | None = None, wheel: Array | None = None) -> Decided:
        """What all play: persons what they picked, agents what they decide, or what was `given` for their seat.

        With a `wheel`, its action counts in row 0, whatever the agent says.
        """
        step, status = self.pool.step, self.pool.status
        deciding = np.repeat(status == PLAYING, self.spec.views)
        actions, decisions = any_legal(self.spec, step), {}
        for seat, player in self.players.items():
            own = deciding & (step.seat == seat)
            if own.any() and seat not in (given or {}):
                decisions[seat] = decision = player.act(step, own)
                actions[own] = np.asarray(decision.action)[own]
        for seat, action in ((given or {}) | self.picks).items():
            actions[self.row_of(seat)] = action
        self._wander(actions)
        if wheel is not None:
            actions[0] = wheel
        return Decided(actions, decisions)

    def _no_stray(self) -> Array:
        """[cars, k]"""
        actions = self.spec.actions
        return np.zeros((self.cars, len(actions.low) if isinstance(actions, Continuous) else 0))

    def _wander(self, actions: Array) -> None:
        """Let the other cars of a swarm stray a little from what the agent would do."""
        bounds = self.spec.actions
        if self.cars > 1 and isinstance(bounds, Continuous):
            self._stray *= DRIFT
            self._stray += self._dice.normal(0, WANDER * (1 - DRIFT**2) ** 0.5, self._stray.shape)
            actions[1:] = np.clip(actions[1:] + self._stray[1:], bounds.low, bounds.high)

    def play(self, actions: Array) -> None:
        """One step of all games; that of row 0 is written down."""
        acting, person = self.acting(), bool(self.picks)
        own = actions[: self.spec.views] if self.together else actions[0]
        names = self._named(own)
        self.pool.advance(actions)
        self._notice()
        if person:
            self.persons.append(self.moves)
        self._record(acting, own, names)
        self.moves += 1
        self.returns += self.pool.step.reward[0]
        self.picks = {}

    def hearer(self) -> int:
        """The one person at the table, who is not told what the opponent hides; -1 where all may know all."""
        persons = [seat for seat, name in enumerate(self.seats) if name == PERSON]
        return persons[0] if len(persons) == 1 else -1

    def _named(self, action: Array) -> list[str]:
        """What is about to be played in row 0; afterwards the position is another, and names may be."""
        if self.continuous or self.moves >= MOST_STEPS:
            return []
        return [overheard(self.pool, int(one), self.hearer()) for one in np.atleast_1d(action)]

    def _record(self, acting: list[int], action: Array, names: list[str]) -> None:
        if self.moves < MOST_STEPS:
            self.actions.append(action.tolist())
        if not names:
            return
        self.names.append(" / ".join(names))
        self.history.append(None)
        self.last = {"seat": acting[0], "action": int(np.atleast_1d(action)[0]), "name": names[0]}

    def judge(self, value: float) -> None:
        """Remember what the position after the last move is worth to seat 0."""
        if self.history and len(self.history) == self.moves and math.isfinite(value):
            self.history[-1] = round(value, 4)

    def undo(self) -> None:
        """Back to the last decision of a person."""
        if not self.persons:
            raise LudusError("there is nothing to take back yet; play a move first")
        if self.moves > MOST_STEPS:
            raise LudusError(f"after {MOST_STEPS:,} moves nothing can be taken back; begin another game")
        self.rewind(self.persons[-1])

    def rewind(self, moves: int) -> None:
        """The game as it was after so many moves: they are played again, and who has a memory looks on."""
        actions, history = self.actions[:moves], self.history[:moves]
        persons = [move for move in self.persons if move < moves]
        self._reset()
        for action in actions:
            if self.over:
                raise LudusError(f"this game of {self.game.name} was over earlier; its rules have changed since")
            self._watch()
            acting, batch = self.acting(), np.array(action if self.together else [action])
            names = self._named(batch if self.together else batch[0])
            self.pool.advance(batch)
            self._notice()
            self._record(acting, batch if self.together else batch[0], names)
            self.moves += 1
            self.returns += self.pool.step.reward[0]
        self.persons, self.history = persons, history

    def _watch(self) -> None:
        """Agents with a memory see again what they saw when they decided."""
        step = self.pool.step
        for seat, player in self.players.items():
            own = step.seat == seat
            if player.remembers and own.any():
                player.act(step, own)

    def hint(self) -> int:
        """What the strongest agent of this game would do for the person who is to choose."""
        seat, adviser = self.waiting_for(), self.advise()
        if seat is None:
            raise LudusError("a hint is for who is to choose a move; wait until it is your turn")
        if adviser is None:
            raise LudusError(f"nobody knows {self.game.name} well enough to give a hint; play on")
        own = np.arange(len(self.pool.step.seat)) == self.row_of(seat)
        return int(np.asarray(adviser.act(self.pool.step, own).action)[self.row_of(seat)])

    def advise(self) -> Player | None:
        """The agent that gives hints, fetched when the first is asked for."""
        name = best_adviser(self.pool)
        if self.adviser is None and name:
            self.adviser = self._player(name, len(self.seats))
        return self.adviser

    def restore(self, actions: list[Any], persons: list[int], history: list[float | None]) -> None:
        """Go on with a game that was kept; a sentence if the rules would not have it so."""
        self.actions, self.persons = actions, persons
        self.history = [*history, *[None] * len(actions)][: len(actions)]
        self.rewind(len(actions))

    def draft(self, driver: str | None = None) -> Callable[[], replays.Replay]:
        """The game so far, to be kept: what is called plays it again, in whichever thread that is called.

        `driver` is who had the wheel, if not the agent alone.
        """
        if self.moves > MOST_STEPS:
            raise LudusError(f"only games of at most {MOST_STEPS:,} steps can be kept; begin another one")
        names = [driver or seat for seat in self.seats]
        return functools.partial(replays.record, self.pool.name, self.seed, names, list(self.actions))

    def close(self) -> None:
        if hasattr(self, "pool"):
            self.pool.close()


class Foreign(NamedTuple):
    """What is known of a foreign game: enough to sit down."""

    name: str
    spec: Any
    settings: dict[str, str]
    title: str
    rules: Any = None


def describe(asked: str) -> Any:
    """The game of this name, or a sentence."""
    _, colon, rest = asked.partition(":")
    if not colon:
        return games.load(asked)
    # Behind a second colon stands the name of a module, which would be imported.
    if ":" in rest:
        raise LudusError(f'"{asked}" names a module of its own, which rooms do not import; use a registered game')
    pool = show.open_drawable(asked, 0)
    try:
        return Foreign(asked, pool.spec, {}, rest)
    finally:
        pool.close()


def best_driver(game: str) -> str:
    """Who takes the wheel when a person lets it go."""
    if ":" in game:
        return "random"
    return next(iter([*agents.shipped_kinds(game), *agents.kinds_for(game)]))


def check_seats(count: int, seats: Sequence[str]) -> list[str]:
    if isinstance(seats, str) or not all(isinstance(seat, str) and 0 < len(seat) <= 200 for seat in seats):
        raise LudusError("seats are the names of agents, or person, in a list")
    if len(seats) != count:
        raise LudusError(f"this game has {count} seats, and {len(seats)} were filled; name one player for each")
    return list(seats)


def check_cars(game: Any, cars: int) -> None:
    if not 1 <= cars <= MOST_CARS:
        raise LudusError(f"between 1 and {MOST_CARS} play at once, not {cars}")
    if cars > 1 and not hasattr(game.rules, "token"):
        raise LudusError(f"{game.name} is watched one game at a time; swarms are for games like car")


def check_seed(seed: int) -> int:
    if not 0 <= seed < MOST_SEED:
        raise LudusError(f"a seed is a whole number from 0 to 2^63 - 1, not {seed}")
    return seed
