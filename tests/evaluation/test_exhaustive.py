"""Every line of play: counted against plain Python, and the worst line replays to its result."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from habits import Always, Counting, player

from ludus.dsl import PLAYING
from ludus.evaluation import scores
from ludus.pool import Pool
from ludus.types import LudusError

ROWS = ("012", "345", "678", "036", "147", "258", "048", "246")


def won(board, mark):
    return any(all(board[int(cell)] == mark for cell in row) for row in ROWS)


def moves(board):
    return [cell for cell in range(9) if board[cell] == "."]


def played(board, cell):
    return board[:cell] + "XO"[board.count(".") % 2 == 0] + board[cell + 1 :]


@cache
def value(board):
    """The result of the side to move with best play."""
    if won(board, "X") or won(board, "O"):
        return -1
    return max((-value(played(board, cell)) for cell in moves(board)), default=0)


@cache
def best(board):
    """The moves of the perfect player: those that win at once if there are any, else all that keep the value."""
    keep = [cell for cell in moves(board) if -value(played(board, cell)) == value(board)]
    return [cell for cell in keep if won(played(board, cell), "XO"[board.count(".") % 2 == 0])] or keep


def lines_of(choose, seat):
    """Positions, number of lines and the worst result of a player in a seat, board by board."""

    @cache
    def visit(board):
        if won(board, "X") or won(board, "O"):
            return {board}, 1, 1 if won(board, "XO"[seat]) else -1
        if not moves(board):
            return {board}, 1, 0
        own = (9 - board.count(".")) % 2 == seat
        parts = [visit(played(board, cell)) for cell in (choose(board) if own else moves(board))]
        return {board}.union(*(part[0] for part in parts)), sum(p[1] for p in parts), min(p[2] for p in parts)

    positions, lines, worst = visit("." * 9)
    return len(positions), lines, worst


@dataclass(frozen=True)
class Told:
    """A tic-tac-toe player that lists its possible actions; its `act` is never called."""

    choose: object

    def init(self, spec, key):
        return ()

    def memory(self, rows):
        return ()

    def act(self, params, memory, step, key):
        raise AssertionError("whoever tells its choices is not asked to act")

    def choices(self, params, step):
        allowed = np.zeros(step.mask.shape, bool)
        for row in np.flatnonzero(step.discount > 0):
            cells = step.observation["board"][row]
            symbols = ".XO" if (cells > 0).sum() % 2 == 0 else ".OX"
            allowed[row, self.choose("".join(symbols[cell] for cell in cells))] = True
        return allowed


def replay(game, line):
    """The returns of both seats in a line of action names."""
    pool = Pool(game, 1)
    names = {pool.action_name(action): action for action in range(pool.spec.actions.n)}
    total = np.zeros(2)
    for name in line:
        assert pool.status[0] == PLAYING
        total += pool.advance([names[name]]).reward[0]
    assert pool.status[0] != PLAYING, "the line ends where the game ends"
    return total


def test_the_perfect_player_never_loses_over_every_line():
    proof = scores.exhaustive("tictactoe", Told(best), ())
    assert proof.exact and proof.worst == 0
    for seat, found in enumerate(proof.seats):
        assert (found.positions, found.lines, found.worst) == lines_of(best, seat)
        assert found.seat == seat and replay("tictactoe", found.line)[seat] == 0


def test_drawn_choices_find_the_same_lines():
    """The perfect player of the package, which does not list its choices and draws among equal moves."""
    proof = scores.exhaustive("tictactoe", *player("perfect", "tictactoe"))
    assert not proof.exact and proof.worst == 0
    assert [seat[1:4] for seat in proof.seats] == [lines_of(best, seat) for seat in range(2)]


def test_the_random_player_goes_through_the_whole_game_and_loses():
    proof = scores.exhaustive("tictactoe", *player("random", "tictactoe"))
    assert proof.worst == -1
    for seat, found in enumerate(proof.seats):
        assert (found.positions, found.lines) == (5478, 255_168), "the known size of tic-tac-toe"
        assert found.worst == -1 and replay("tictactoe", found.line)[seat] == -1


def test_a_deterministic_agent_is_called_once():
    asked = []

    class FirstFree(Always):
        def act(self, params, memory, step, key):
            asked.append(key)
            return super().act(params, memory, step, key)[0]._replace(action=step.mask.argmax(axis=1)), memory

    proof = scores.exhaustive("tictactoe", FirstFree(0), (), draws=0)
    assert len(asked) < 40
    assert [seat[1:4] for seat in proof.seats] == [lines_of(lambda board: moves(board)[:1], s) for s in range(2)]
    assert proof.worst == -1


@pytest.mark.parametrize("rows", [1, 7, 5000])
def test_the_size_of_a_batch_changes_nothing(rows):
    assert scores.exhaustive("tictactoe", Told(best), (), rows=rows) == scores.exhaustive("tictactoe", Told(best), ())


@pytest.mark.parametrize("pile", [1, 2, 7, 12])
def test_positions_reached_at_different_plies_and_intermediate_rewards(pile):
    """The same pile is reached by few and by many moves, and every stone pays."""

    def worst(left, turn, seat):
        if not left:
            return 1.0 if turn != seat else -1.0
        takes = [(0.25 * take if turn == seat else 0) + worst(left - take, 1 - turn, seat) for take in (1, 2, 3)[:left]]
        return min(takes)

    def lines(left):
        return 1 if left == 0 else sum(lines(left - take) for take in (1, 2, 3)[:left])

    def reached():
        found = open_ones = {(pile, 0)}
        while open_ones:
            open_ones = {(left - t, 1 - turn) for left, turn in open_ones for t in (1, 2, 3) if t <= left} - found
            found = found | open_ones
        return len(found)

    game = f"stones(pile={pile})"
    for seat, found in enumerate(scores.exhaustive(game, *player("random", "stones")).seats):
        assert found[:4] == (seat, reached(), lines(pile), worst(pile, 0, seat))
        assert replay(game, found.line)[seat] == found.worst


def test_progress_is_reported_and_positions_are_limited():
    told = []
    scores.exhaustive("tictactoe", Told(best), (), tell=lambda *words: told.append(words))
    assert told[0][0] == "tictactoe, agent in seat 0" and told[-1][0] == "tictactoe, agent in seat 1"
    with pytest.raises(LudusError, match="tictactoe has more than 1,000 positions; increase positions, or play"):
        scores.exhaustive("tictactoe", *player("random", "tictactoe"), positions=1000)


REFUSED = [
    ("car", "car has continuous actions"),
    ("cartpole", "cartpole has 1 seats"),
    ("goofspiel", "goofspiel has 2 seats and is simultaneous"),
    ("trio", "trio has 3 seats"),
    ("stones(twist=deal)", "has chance before the first move"),
    ("stones(twist=roll)", "has chance, so its lines of play cannot be enumerated"),
    ("stones(twist=circle)", "can repeat, so its lines of play are endless"),
]


@pytest.mark.parametrize(("game", "message"), REFUSED)
def test_games_without_enumerable_lines_are_rejected(game, message):
    with pytest.raises(LudusError, match=message):
        scores.exhaustive(game, *player("random", game))


def test_games_of_other_libraries_are_rejected():
    pytest.importorskip("pettingzoo")
    with pytest.raises(LudusError, match="the states of pettingzoo:classic/tictactoe-v3 cannot be copied"):
        scores.exhaustive("pettingzoo:classic/tictactoe-v3", Always(0), ())


def test_agents_with_memory_are_rejected():
    with pytest.raises(LudusError, match="has a memory"):
        scores.exhaustive("tictactoe", Counting(None, []), ())


@pytest.mark.parametrize("choose", [lambda board: [], lambda board: list(range(9))])
def test_invalid_choices_are_rejected(choose):
    with pytest.raises(LudusError, match="at least one action in each row, and only legal ones"):
        scores.exhaustive("tictactoe", Told(choose), ())


@pytest.mark.parametrize("action", [0, 9, -1])
def test_invalid_actions_are_rejected(action):
    with pytest.raises(LudusError, match=r"invalid (actions|choices) of this agent"):
        scores.exhaustive("tictactoe", Always(action), ())
