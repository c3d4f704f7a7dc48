"""A table: one game in row 0 of a pool, its players, and everything played since it opened.

Nothing here knows of clocks or browsers. A game is a seed and a list of actions, so undo, restoring a room after a
restart and saving a replay are the same operation: play the actions again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ludus import agents, games
from ludus.agents.player import Contestant
from ludus.agents.protocol import simulates
from ludus.bridges import AnyPool
from ludus.dsl import PLAYING
from ludus.dsl.cache import interpreted
from ludus.evaluation import preparation, replays, show
from ludus.evaluation.play import any_legal
from ludus.pool import Pool
from ludus.studio import foreign
from ludus.studio.rooms.players import PERSON, Player, Shelf, best_adviser
from ludus.types import Array, Continuous, Decision, DType, JsonObject, LudusError

Action = int | list[int] | list[float]
"""the action of one seat, or those of all seats in a game in which all act at once"""
MOST_STEPS, MOST_ROWS, MOST_SEED = 20_000, 64, 2**63
NOISE_SCALE, NOISE_DECAY = 0.35, 0.92
"""standard deviation, in halves of the action's range, and decay of the noise on the actions of the other rows of a
swarm; without it all rows would be in the same state"""
RANDOM = "random"
"""the value of a layout parameter that stands for another layout in each game"""


class Decided(NamedTuple):
    """The actions of all rows, and the decision of each seat's agent."""

    actions: Array
    decisions: dict[int, Decision]


class Table:
    """The seats, the pool and the record of the game in row 0."""

    def __init__(self, full_name: str, seats: Sequence[str], seed: int, swarm: int, shelf: Shelf) -> None:
        self.full_name, self.shelf, self.swarm = full_name, shelf, swarm
        self.game = describe(full_name)
        self.spec = self.game.spec
        self.continuous = isinstance(self.spec.actions, Continuous)
        self.together = self.spec.turns == "simultaneous"
        self.layout = random_layout(self.game)
        """the parameter that draws a random layout per row; the table sets it, so that all rows share one layout"""
        self.seats, self.found = check_seats(self.spec.seats, seats), dict[str, Contestant]()
        check_swarm(self.game, swarm)
        self.seed = check_seed(seed)
        self._clear()
        self.pool: AnyPool
        self.interpreted = False
        """whether the rules are interpreted for now, because the game is not compiled yet"""
        self.preparation: preparation.Preparation | None = None
        """the process that compiles the game"""
        self.players: dict[int, Player] = {}
        self.adviser: Player | None = None
        for name in set(self.agent_names()):
            self._contestant(name)

    def _clear(self) -> None:
        """Forget everything played."""
        self.actions: list[Action] = []
        self.names: list[str] = []
        self.persons: list[int] = []
        """the numbers of the moves that a person chose"""
        self.history: list[float | None] = []
        self.picks: dict[int, int] = {}
        """choices of persons so far, in games in which all seats act at once"""
        self.last: JsonObject | None = None
        self.moves, self.returns = 0, np.zeros(self.spec.seats)

    def agent_names(self) -> list[str]:
        """The agents at the table. In a continuous game a person's seat has one too, to which control is given back."""
        return [self.agent_name(seat) for seat in range(len(self.seats)) if self.agent_name(seat)]

    def agent_name(self, seat: int) -> str:
        if self.seats[seat] != PERSON:
            return self.seats[seat]
        return best_agent(self.game.name) if self.continuous else ""

    def person_seats(self) -> list[int]:
        """The seats of persons."""
        return [seat for seat, name in enumerate(self.seats) if name == PERSON]

    @property
    def observation(self) -> DType:
        """The record that a seat sees."""
        if isinstance(self.game, foreign.ForeignGame):
            return self.game.observation
        found: DType = self.game.rules.OBSERVATION
        return found

    def open(self, seed: int | None = None) -> None:
        """A new game from a seed, with another layout if the table chooses it."""
        self.seed = self.seed if seed is None else check_seed(seed)
        self._open_pool()
        self._clear()
        self._seat_players()

    def prepare(self) -> None:
        """Start to compile the game if necessary; until that is done, its rules are interpreted."""
        if self.preparation is None and isinstance(self.game, games.Game):
            self.preparation = preparation.prepare(self.game)
            self.interpreted = self.preparation is not None

    def end_preparation(self) -> None:
        """Use the compiled rules from now on."""
        self.release()
        self.interpreted = False

    def seat_waiting(self) -> None:
        """Seat the agents that waited for compiled rules, if the game is compiled now."""
        self._seat_players(self.unprepared())

    def release(self) -> None:
        """Stop waiting for the compiler; its process ends if no other room needs it."""
        if self.preparation is not None:
            preparation.release(self.preparation)
            self.preparation = None

    def unprepared(self) -> list[int]:
        """The seats of agents that wait for compiled rules."""
        return [seat for seat in range(len(self.seats)) if self.agent_name(seat) and seat not in self.players]

    def _open_pool(self) -> None:
        if hasattr(self, "pool"):
            self.pool.close()
        if foreign.is_foreign(self.full_name):
            self.pool = show.open_drawable(self.full_name, self.seed, self.swarm)
        else:
            chosen = {self.layout: self.seed % 2**31} if self.layout else {}
            self.game = games.load(self.full_name, **chosen)
            self.pool = Pool(self.game, self.swarm, [self.seed] * self.swarm, threads=1)
        self._noise = self._no_noise()
        self._dice = np.random.default_rng(self.seed)

    def _seat_players(self, seats: Sequence[int] | None = None) -> None:
        """New players for these seats, by default for all; agents that simulate wait for compiled rules."""
        if seats is None:
            self.players, self.adviser, seats = {}, None, range(len(self.seats))
        for seat in seats:
            name = self.agent_name(seat)
            if name and not (self.interpreted and self._simulates(name)):
                self.players[seat] = self._player(name, seat)

    def _simulates(self, name: str) -> bool:
        return simulates(self._contestant(name)[0])

    def _contestant(self, name: str) -> Contestant:
        if name not in self.found:
            with interpreted():  # some agents open a game to read its shape; that must not wait for the compiler
                self.found[name] = self.shelf.agent(name, self.full_name)
        return self.found[name]

    def _player(self, name: str, place: int) -> Player:
        return Player(name, *self._contestant(name), self.pool, (self.seed * 31 + place) % 2**64)

    def open_next(self) -> None:
        """Open the next game in row 0, on the same layout; the games of other rows continue."""
        self.seed = (self.seed + 1) % MOST_SEED
        self._reset()

    def _reset(self) -> None:
        self.pool.reset([self.seed] * self.pool.rows, np.arange(self.pool.rows) == 0)
        self._clear()
        self._notice()

    def _notice(self) -> None:
        for player in (*self.players.values(), *([self.adviser] if self.adviser else [])):
            player.notice(self.pool.step)

    def set_swarm(self, rows: int) -> None:
        """Change the number of rows. The game in row 0 continues; a game of another library starts again."""
        check_swarm(self.game, rows)
        old, self.swarm = self.pool.compiled, rows
        if old is None:
            self.open()
            return
        new = Pool(old.game, rows, [self.seed] * rows, threads=1)
        states = new.states.copy()
        states[0] = old.states[0]
        new.put(states)
        self.pool, self._noise = new, self._no_noise()
        old.close()
        self._seat_players()

    def set_seats(self, seats: Sequence[str]) -> None:
        """Change the players; the game continues from the present position."""
        before, self.seats = self.seats, check_seats(self.spec.seats, seats)
        try:
            self._seat_players()
        except LudusError:
            self.seats = before
            raise
        self.picks = {}

    def renew(self, name: str) -> None:
        """Replace the agent of this name by its newer version, which keeps the memory of the games."""
        agent, params = self.found[name] = self.shelf.agent(name, self.full_name)
        for seat, old in self.players.items():
            if old.name == name:
                new = Player(name, agent, params, self.pool, (self.seed * 31 + seat) % 2**64)
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
        """The seat of the person who is to choose; None in continuous games, which do not wait."""
        due = [seat for seat in self.acting() if self.seats[seat] == PERSON and seat not in self.picks]
        return due[0] if due and not self.continuous else None

    def row_of(self, seat: int) -> int:
        """The row of the step in which a seat sees the game of row 0."""
        return seat if self.together else 0

    def pick(self, action: int) -> bool:
        """A person's choice; True if no other person is left to choose."""
        seat = self.waiting_for()
        if seat is None:
            raise LudusError("it is no person's turn now; wait until it is your turn")
        mask = self.pool.step.mask[self.row_of(seat)]
        if not 0 <= action < len(mask) or not mask[action]:
            legal = ", ".join(self.pool.action_name(int(one)) for one in np.flatnonzero(mask)[:12])
            raise LudusError(f"action {action} is not allowed here; {self.seats[seat]} may play {legal}")
        self.picks[seat] = action
        return self.waiting_for() is None

    def decide(self, given: dict[int, int] | None = None, override: Array | None = None) -> Decided:
        """The actions of all rows: what persons picked, and what agents decide or what is `given` for their seat.

        An `override` [k] replaces the continuous action of row 0.
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
        self._add_noise(actions)
        if override is not None:
            actions[0] = override
        return Decided(actions, decisions)

    def _no_noise(self) -> Array:
        """[rows, k]"""
        actions = self.spec.actions
        return np.zeros((self.swarm, len(actions.low) if isinstance(actions, Continuous) else 0))

    def _add_noise(self, actions: Array) -> None:
        """Let the other rows of a swarm deviate a little from the agent's actions, smoothly over time."""
        bounds = self.spec.actions
        if self.swarm > 1 and isinstance(bounds, Continuous):
            half = (np.array(bounds.high) - np.array(bounds.low)) / 2
            self._noise *= NOISE_DECAY
            self._noise += self._dice.normal(0, NOISE_SCALE * (1 - NOISE_DECAY**2) ** 0.5, self._noise.shape)
            actions[1:] = np.clip(actions[1:] + half * self._noise[1:], bounds.low, bounds.high)

    def play(self, actions: Array) -> None:
        """One step of all rows; that of row 0 is recorded."""
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

    def only_person(self) -> int:
        """The seat of the only person, who must not see hidden information; -1 if there is none or several."""
        persons = self.person_seats()
        return persons[0] if len(persons) == 1 else -1

    def _named(self, action: Array) -> list[str]:
        """Names of the actions of row 0, to be called before the step: names may depend on the position."""
        if self.continuous or self.moves >= MOST_STEPS:
            return []
        return [self.pool.action_name(int(one), seat=self.only_person()) for one in np.atleast_1d(action)]

    def _record(self, acting: list[int], action: Array, names: list[str]) -> None:
        if self.moves < MOST_STEPS:
            self.actions.append(action.tolist())
        if not names:
            return
        self.names.append(" / ".join(names))
        self.history.append(None)
        self.last = {"seat": acting[0], "action": int(np.atleast_1d(action)[0]), "name": names[0]}

    def judge(self, value: float) -> None:
        """Record the value of the position after the last move to seat 0."""
        if self.history and len(self.history) == self.moves and math.isfinite(value):
            self.history[-1] = round(value, 4)

    def undo(self) -> None:
        """Back to the last decision of a person."""
        if not self.persons:
            raise LudusError("there is no move to undo yet; play a move first")
        if self.moves > MOST_STEPS:
            raise LudusError(f"after {MOST_STEPS:,} moves undo is not available; start another game")
        self.rewind(self.persons[-1])

    def rewind(self, moves: int) -> None:
        """The game as it was after this many moves, by playing them again; agents with a memory see them again."""
        actions, history = self.actions[:moves], self.history[:moves]
        persons = [move for move in self.persons if move < moves]
        self._reset()
        for action in actions:
            if self.over:
                raise LudusError(f"the saved game of {self.game.name} ends too early; the rules have changed since")
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
        """Show agents with a memory what they saw when they decided."""
        step = self.pool.step
        for seat, player in self.players.items():
            own = step.seat == seat
            if player.remembers and own.any():
                player.act(step, own)

    def hint(self) -> int:
        """The move of the strongest agent of this game for the person who is to choose."""
        seat, adviser = self.waiting_for(), self.advise()
        if seat is None:
            raise LudusError("hints are given only to a person whose turn it is; wait until it is your turn")
        if adviser is None:
            soon = "; try again when the game is compiled" if self.interpreted else ""
            raise LudusError(f"no agent of {self.game.name} can give hints{soon}")
        own = np.arange(len(self.pool.step.seat)) == self.row_of(seat)
        return int(np.asarray(adviser.act(self.pool.step, own).action)[self.row_of(seat)])

    def adviser_name(self) -> str | None:
        """The strongest agent for hints; None if there is none, or if it waits for compiled rules."""
        name = best_adviser(self.pool)
        return None if name and self.interpreted and self._simulates(name) else name

    def advise(self) -> Player | None:
        """The agent that gives hints, loaded at the first request; None if there is none yet."""
        name = self.adviser_name()
        if self.adviser is None and name:
            self.adviser = self._player(name, len(self.seats))
        return self.adviser

    def restore(self, actions: list[Action], persons: list[int], history: list[float | None]) -> None:
        """Continue a saved game; raises LudusError if the rules do not allow its actions."""
        self.actions, self.persons = actions, persons
        self.history = [*history, *[None] * len(actions)][: len(actions)]
        self.rewind(len(actions))

    def draft(self, player: str | None = None) -> Callable[[], replays.Replay]:
        """A function, callable in any thread, that makes a replay of the game so far.

        `player` is the name of the player that had control, if not only the agent.
        """
        if self.moves > MOST_STEPS:
            raise LudusError(f"only games of at most {MOST_STEPS:,} steps can be saved; start another one")
        names = [player or seat for seat in self.seats]
        return functools.partial(replays.record, self.pool.name, self.seed, names, np.array(self.actions))

    def close(self) -> None:
        self.release()
        if hasattr(self, "pool"):
            self.pool.close()


def describe(full_name: str) -> foreign.AnyGame:
    """The game of this name."""
    return foreign.describe(full_name) if foreign.is_foreign(full_name) else games.load(full_name)


def random_layout(game: foreign.AnyGame) -> str | None:
    """The name of the layout parameter of a game, if it is set to draw another layout in each game."""
    parameters = games.parameters_of(game.rules)
    drawn = (key for key, one in parameters.items() if one.layout and game.settings[key] == RANDOM)
    return next(drawn, None)


def best_agent(game: str) -> str:
    """The agent that takes over when a person gives control back."""
    if foreign.is_foreign(game):
        return "random"
    return next(iter([*agents.shipped_kinds(game), *agents.kinds_for(game)]))


def check_seats(count: int, seats: Sequence[str]) -> list[str]:
    if isinstance(seats, str) or not all(isinstance(seat, str) and 0 < len(seat) <= 200 for seat in seats):
        raise LudusError("seats must be a list with the name of an agent, or person, for each seat")
    if len(seats) != count:
        raise LudusError(f"this game has {count} seats, but {len(seats)} players were named; name one for each seat")
    return list(seats)


def can_swarm(game: foreign.AnyGame) -> bool:
    """Whether several games can be shown in one picture: by tokens, or as blended pixels of continuous games."""
    is_foreign = isinstance(game, foreign.ForeignGame)
    return hasattr(game.rules, "token") or (is_foreign and isinstance(game.spec.actions, Continuous))


def check_swarm(game: foreign.AnyGame, rows: int) -> None:
    if not 1 <= rows <= MOST_ROWS:
        raise LudusError(f"a swarm has 1 to {MOST_ROWS} games, not {rows}")
    if rows > 1 and not can_swarm(game):
        raise LudusError(f"{game.name} cannot be shown as a swarm; that needs a game that declares a token")


def check_seed(seed: int) -> int:
    if not 0 <= seed < MOST_SEED:
        raise LudusError(f"a seed is a whole number from 0 to 2^63 - 1, not {seed}")
    return seed
