"""One game that the server plays: its pool, its seats and every move since the opening. All of it blocks: use a thread.

A game is a seed and a list of actions, so restoring it in another worker and saving a replay are the same operation:
play the actions again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

import msgspec
import numpy as np

from ludus import games
from ludus.agents import thoughts
from ludus.agents.player import Contestant, Player
from ludus.dsl import OVER, PLAYING, random
from ludus.dsl.cache import interpreted
from ludus.evaluation import replays
from ludus.evaluation.play import any_legal
from ludus.evaluation.preparation import Preparation
from ludus.pool import Pool, binding
from ludus.server.messages import Advice, Legal, Played, Rated, State
from ludus.server.problems import Problem
from ludus.types import Array, Continuous, LudusError

PERSON = "person"
MOST_MOVES, LAST = 10_000, 32
"""maximum moves of a game, and number of newest moves in a state"""
Action = int | list[float]


class Opening(NamedTuple):
    """What a game starts from."""

    game: str
    seats: tuple[str, ...]
    seed: int


class Sent(msgspec.Struct, frozen=True):
    """The newest move that a person has sent, to recognize the request if it is repeated."""

    move: int
    action: int | list[float]
    names: tuple[str, ...]
    """as it was sent, and as it is shown"""


class Saved(msgspec.Struct, frozen=True):
    """A game as it is stored."""

    game: str
    seats: list[str]
    seed: int
    keys: dict[int, str]
    """the secret keys of the seats of persons"""
    versions: list[str]
    """of the model in each seat; "" for other agents"""
    memories: list[bytes]
    """of the model in each seat"""
    actions: bytes = b""
    """of all moves so far, in the type and shape of a replay"""
    picks: dict[int, int | list[float]] = {}
    """choices of persons for the next move, in games in which all seats act at once"""
    sent: dict[int, Sent] = {}
    """by each person"""


class Match:
    """A game in a pool of one row. Seats of served models are decided elsewhere; `play` receives their actions."""

    def __init__(self, opening: Opening, agents: Mapping[int, Contestant], preparation: Preparation | None) -> None:
        self.opening, self.preparation = opening, preparation
        game = games.load(opening.game)
        with self.mode():
            self.pool = Pool(game, 1, [opening.seed], threads=1)
            self.players = {
                seat: Player(opening.seats[seat], *contestant, self.pool, 0) for seat, contestant in agents.items()
            }
        self.spec, self.hidden = game.spec, has_hidden_information(game)
        self.together = self.spec.turns == "simultaneous"
        self.continuous = isinstance(self.spec.actions, Continuous)
        self.picks: dict[int, Action] = {}
        self.actions: list[Array] = []
        self.movers: list[int] = []
        """the seat that made each move; the first one if all act at once"""
        self.scores = np.zeros(self.spec.seats)
        self.log: dict[int, list[Played]] = {seat: [] for seat in (-1, *self.persons())}
        """the newest moves as each person may see them; as the public may for -1"""

    def mode(self) -> AbstractContextManager[None]:
        """Interpret the rules until another process has compiled them."""
        waiting = self.preparation
        return interpreted(False if waiting is None else lambda: waiting.running)

    def close(self) -> None:
        self.pool.close()

    # Whose turn it is.

    def persons(self) -> list[int]:
        """The seats of persons."""
        return [seat for seat, name in enumerate(self.opening.seats) if name == PERSON]

    @property
    def over(self) -> bool:
        return bool(self.pool.status[0] != PLAYING)

    def acting(self) -> list[int]:
        """The seats that decide about the next move."""
        if self.over:
            return []
        return list(range(self.spec.seats)) if self.together else [int(self.pool.step.seat[0])]

    def waiting_for(self) -> list[int]:
        """The seats of persons that have not chosen yet."""
        return [seat for seat in self.acting() if self.opening.seats[seat] == PERSON and seat not in self.picks]

    def row_of(self, seat: int) -> int:
        """The row of the step in which a seat sees the game."""
        return seat if self.together else 0

    # Moves of persons.

    def pick(self, seat: int, action: Action | None, name: str | None) -> Sent:
        """A person's choice for the next move; raises Problem if it is not legal."""
        if self.over:
            raise Problem(409, "game_over", "the game is over; open another one", move=len(self.actions))
        if seat not in self.waiting_for():
            raise Problem(409, "not_your_turn", f"seat {seat} is not to move now; ask for the state")
        if len(self.actions) >= MOST_MOVES:
            raise Problem(409, "game_too_long", f"a game has at most {MOST_MOVES:,} moves; open another one")
        if (action is None) == (name is None):
            raise Problem(422, "invalid", "give either the action of the move or its name")
        with self.mode():
            chosen = self.picks[seat] = self._read(seat, action, name)
            shown = "" if isinstance(chosen, list) else self.pool.action_name(chosen, seat=seat)
        return Sent(len(self.actions), chosen, (shown,) if name is None else (shown, name.strip()))

    def _read(self, seat: int, action: Action | None, name: str | None) -> Action:
        bounds = self.spec.actions
        if isinstance(bounds, Continuous):
            return self._read_numbers(bounds, action)
        legal = {one.action: one.name for one in self._legal(seat)}
        if name is not None:
            found = [one for one, words in legal.items() if words.casefold() == name.strip().casefold()]
            action = next((one for one in found if legal[one] == name), found[0] if found else None)
        if not isinstance(action, int) or action not in legal:
            some = ", ".join(list(legal.values())[:12])
            raise Problem(422, "illegal_move", f"this move is not allowed here; seat {seat} may play {some}")
        return action

    def _read_numbers(self, bounds: Continuous, action: Action | None) -> Action:
        count, pairs = len(bounds.low), list(zip(bounds.low, bounds.high, strict=True))
        fits = isinstance(action, list) and len(action) == count
        if not fits or not all(low <= one <= high for one, (low, high) in zip(action, pairs, strict=True)):  # type: ignore[arg-type]
            ranges = ", ".join(f"{low:g} to {high:g}" for low, high in pairs)
            raise Problem(422, "illegal_move", f"an action of this game is a list of {count} numbers: {ranges}")
        assert isinstance(action, list)
        return [float(one) for one in action]

    # Decisions of agents, and the move.

    def decide(self, seat: int) -> Action:
        """The decision of the agent that sits there."""
        with self.mode():
            own = np.arange(len(self.pool.step.seat)) == self.row_of(seat)
            made = self.players[seat].act(self.pool.step, own, self.key(seat))
        return _plain(np.asarray(made.action)[self.row_of(seat)])

    def advice(self, seat: int) -> Advice:
        """What the agent that sits there would do, and how it rates the moves; the game does not go on."""
        with self.mode():
            found = thoughts.think(self.players[seat], self.pool, self.row_of(seat))
        action = self.decide(seat) if found is None or found.action is None else found.action
        name = self._name(np.asarray(action), seat)
        advice = Advice(self.opening.seats[seat], len(self.actions), action, name)
        if found is None:
            return advice
        moves = [Rated(one, self._name(np.asarray(one), seat), rating) for one, rating in (found.moves or {}).items()]
        value = None if found.values is None else found.values[seat]
        return msgspec.structs.replace(advice, value=value, unit=found.unit if moves else None, moves=moves)

    def key(self, seat: int) -> int:
        """The seed of a decision: the same again if the game is restored."""
        parts = (self.opening.seed, seat, len(self.actions))
        return int(np.random.SeedSequence(parts).generate_state(1)[0]) % 2**31

    def action_of(self, move: int, seat: int) -> Action | None:
        """What a seat played in an earlier move; None if another seat moved."""
        if self.together:
            return _plain(self.actions[move][seat])
        return _plain(self.actions[move]) if self.movers[move] == seat else None

    def last_move_of(self, seat: int) -> int:
        """The number of the newest move of a seat; raises Problem if it has not moved."""
        if not self.has_decided(seat):
            raise Problem(409, "nothing_to_undo", f"seat {seat} has not moved yet, so there is no move to take back")
        last = len(self.actions) - 1
        return last if self.together else last - self.movers[::-1].index(seat)

    def has_decided(self, seat: int) -> bool:
        """Whether the seat has moved before."""
        return bool(self.actions) if self.together else seat in self.movers

    def look(self, seat: int) -> tuple[dict[str, Array], Array]:
        """The observation and the legal actions of a seat that is to act."""
        row, step = self.row_of(seat), self.pool.step
        return {name: field[row] for name, field in step.observation.items()}, step.mask[row]

    def play(self, decisions: Mapping[int, Action]) -> None:
        """Make the next move from the decisions of agents and the choices of persons."""
        with self.mode():
            actions = any_legal(self.spec, self.pool.step)
            for seat, action in (self.picks | dict(decisions)).items():
                actions[self.row_of(seat)] = action
            self._advance(actions)
        self.picks = {}

    def _advance(self, actions: Array) -> None:
        acting, move = self.acting(), len(self.actions)
        for viewer, seen in self.log.items():
            for seat in acting:
                name = self._name(actions[self.row_of(seat)], viewer)
                seen.append(Played(move, seat, name))
            del seen[:-LAST]
        self.movers.append(acting[0])
        self.pool.advance(actions)
        self.actions.append((actions if self.together else actions[0]).astype(replays.action_type(self.spec)))
        for player in self.players.values():
            player.notice(self.pool.step)
        self.scores += self.pool.step.reward[0]

    def _name(self, action: Array, viewer: int) -> str:
        if self.continuous:
            return ", ".join(f"{one:g}" for one in action.tolist())
        if viewer < 0 and self.hidden and self.pool.names_moves:
            return ""
        return self.pool.action_name(int(action), seat=viewer)

    # Saving and restoring.

    def packed(self) -> bytes:
        """All actions so far."""
        return b"".join(action.tobytes() for action in self.actions)

    def restore(self, saved: Saved) -> None:
        """Play the actions of a stored game again; agents with a memory see it again."""
        kind, shape = replays.action_type(self.spec), replays.action_shape(self.spec)
        with self.mode():
            for action in np.frombuffer(saved.actions, kind).reshape(-1, *shape):
                for seat in self.acting():
                    if seat in self.players and self.players[seat].remembers:
                        self.decide(seat)
                self._advance(self._batch(action))
        self.picks = dict(saved.picks)

    def _batch(self, action: Array) -> Array:
        """A stored action as the pool reads it."""
        wide = action.astype(np.float64 if self.continuous else np.int64)
        return wide if self.together else wide[None]

    # What is shown.

    def state(self, id: str, seat: int | None) -> State:
        """The game as a seat sees it; without a seat, what everybody may see."""
        if seat is None and not self.hidden:
            seat = next(iter(self.acting()), 0)
        status, bounds = int(self.pool.status[0]), self.spec.actions
        continuous = isinstance(bounds, Continuous)
        state = State(
            id, self.pool.name, list(self.opening.seats), len(self.actions), self.waiting_for(), self.over,
            {PLAYING: None, OVER: "over"}.get(status, "cut"), self.scores.tolist(), self.hidden,
            low=list(bounds.low) if isinstance(bounds, Continuous) else [],
            high=list(bounds.high) if isinstance(bounds, Continuous) else [], last=list(self.log.get(-1, ())),
        )  # fmt: skip
        if seat is None:
            return state
        with self.mode():
            seen = {name: np.asarray(field).tolist() for name, field in self.pool.look(0, seat).items()}
            legal = self._legal(seat) if seat in self.waiting_for() and not continuous else []
            return msgspec.structs.replace(
                state, seat=seat, text=self._text(seat), observation=seen, legal=legal,
                last=list(self.log.get(seat, self.log[-1])),
            )  # fmt: skip

    def _legal(self, seat: int) -> list[Legal]:
        mask = self.pool.step.mask[self.row_of(seat)]
        return [Legal(int(one), self.pool.action_name(int(one), seat=seat)) for one in np.flatnonzero(mask)]

    def _text(self, seat: int) -> str | None:
        """The game as text; without a function for that, its record would show everything, so there is none."""
        rules = self.pool.game.rules
        return self.pool.describe(0, seat) if hasattr(rules, "text") or hasattr(rules, "text_for") else None

    def scene(self, seat: int) -> Array:
        """The picture as shapes."""
        if not self.pool.can_draw:
            raise Problem(404, "no_picture", f"{self.pool.name} has no picture")
        with self.mode():
            return self.pool.scene(0, seat).copy()

    def replay(self) -> replays.Replay:
        """A replay of the game so far; it contains the seed, so it may not be given away in a game with secrets."""
        if not self.over and (self.hidden or draws_random_numbers(self.pool.game)):
            raise Problem(
                409, "game_not_over", "the replay contains what is hidden or random in this game; end the game first"
            )
        with self.mode():
            return replays.record(self.pool.name, self.opening.seed, self.opening.seats, self.actions)


def compiling(preparation: Preparation) -> Problem:
    """The problem of a game whose rules have to be compiled first."""
    left = max(1, min(600, round(preparation.progress.seconds_left)))
    detail = f"{preparation.game.name} is being compiled, once; try again in about {left} s"
    return Problem(503, "compiling", detail, retry_after=left)


def has_hidden_information(game: games.Game) -> bool:
    """Whether seats see different things: the game resamples them for search, or shows text to each seat."""
    return any(hasattr(game.rules, name) for name in ("redeal", "text_for"))


def draws_random_numbers(game: games.Game) -> bool:
    """Whether the rules use random numbers, which the seed of the game would foretell."""
    own = [one for one in binding.imported_modules(game.rules) if not one.__name__.startswith(random.__package__ or "")]
    found = (value for module in own for value in list(vars(module).values()))
    return any(value is random or getattr(value, "__module__", "") == random.__name__ for value in found)


def check_undo(match: Match, saved: Saved) -> None:
    """Raise Problem if a move of this game cannot be taken back without giving an advantage."""
    if match.hidden or draws_random_numbers(match.pool.game):
        detail = (
            f"{match.pool.name} hides cards or draws random numbers, and a move taken back would have revealed them"
        )
        raise Problem(409, "no_undo", f"{detail}; open another game instead")
    if len(match.persons()) > 1:
        raise Problem(409, "no_undo", "more than one person plays this game, so a move cannot be taken back")
    if any(saved.versions):
        raise Problem(409, "no_undo", "a served model plays this game and cannot go back; play a named agent instead")


def check_opening(opening: Opening) -> games.Game:
    """The game, if it exists and has these seats; raises Problem."""
    if ":" in opening.game or "@" in opening.game:
        raise Problem(404, "game_not_found", "only games that ludus games lists can be played here")
    try:
        with interpreted():  # no request waits for the compiler
            game = games.load(opening.game)
    except LudusError as error:
        unknown = str(error).startswith("unknown game")
        raise Problem(*((404, "game_not_found") if unknown else (422, "invalid")), str(error)) from None
    check_seats(game, opening.seats)
    return game


def check_seats(game: games.Game, seats: Sequence[str]) -> None:
    if len(seats) != game.spec.seats:
        raise Problem(
            422, "invalid", f"{game.name} has {game.spec.seats} seats, but {len(seats)} are given; name each player"
        )
    if PERSON not in seats:
        raise Problem(422, "invalid", f'at least one seat must be a "{PERSON}"; agents alone play in ludus battle')


def _plain(action: Array) -> Action:
    return [float(one) for one in action] if np.ndim(action) else int(action)


__all__ = ["PERSON", "Match", "Opening", "Saved", "check_opening", "check_undo", "compiling"]
