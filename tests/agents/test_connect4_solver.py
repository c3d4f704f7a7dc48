"""The Connect Four solver against plain minimax on small boards; its book against theory and against opponents."""

import random
import threading
from functools import cache

import numpy as np
import pytest

from ludus.agents.players.perfect import connect4_book as book
from ludus.agents.players.perfect import connect4_solver as solver

FULL_BOARD = solver.make_board(7, 6)
# A board as the plain minimax sees it: a text for each column, from the bottom up, of 0 (first player) and 1.
Columns = tuple[str, ...]


@cache
def lines_through(width: int, height: int, column: int, row: int) -> list[list[tuple[int, int]]]:
    lines = []
    for step_column, step_row in ((1, 0), (0, 1), (1, 1), (1, -1)):
        for back in range(4):
            line = [(column + (i - back) * step_column, row + (i - back) * step_row) for i in range(4)]
            if all(0 <= c < width and 0 <= r < height for c, r in line):
                lines.append(line)
    return lines


def drop(columns: Columns, column: int, height: int) -> tuple[Columns, bool]:
    """The board after a move, and whether the move won."""
    side = str(sum(map(len, columns)) % 2)
    after = (*columns[:column], columns[column] + side, *columns[column + 1 :])
    lines = lines_through(len(columns), height, column, len(columns[column]))
    return after, any(all(after[c][r : r + 1] == side for c, r in line) for line in lines)


@cache
def minimax(columns: Columns, height: int) -> int:
    """The exact score by exhaustive search."""
    ply, squares = sum(map(len, columns)), len(columns) * height
    scores = []
    for column in range(len(columns)):
        if len(columns[column]) < height:
            after, wins = drop(columns, column, height)
            if wins:
                return (squares + 1 - ply) // 2
            scores.append(0 if ply + 1 == squares else -minimax(after, height))
    return max(scores)


def stones(columns: Columns, height: int) -> tuple[int, int]:
    sides = [0, 0]
    for column, text in enumerate(columns):
        for row, side in enumerate(text):
            sides[int(side)] |= 1 << column * (height + 1) + row
    ply = sum(map(len, columns))
    return sides[ply % 2], sides[1 - ply % 2]


def random_columns(chance: random.Random, width: int, height: int, plies: int) -> Columns:
    """A position of an unfinished game after this number of random moves."""
    while True:
        columns: Columns = ("",) * width
        wins = False
        while not wins and sum(map(len, columns)) < plies:
            free = [column for column in range(width) if len(columns[column]) < height]
            columns, wins = drop(columns, chance.choice(free), height)
        if not wins:
            return columns


@pytest.mark.parametrize(
    ("width", "height", "most_empty", "count"),
    [
        (4, 4, 13, 100),
        (5, 4, 11, 100),
        (4, 5, 12, 100),
        (4, 6, 12, 100),
        (6, 4, 10, 100),
        (7, 6, 8, 50),
        (7, 3, 10, 50),
    ],
)
def test_scores_equal_those_of_plain_minimax(width, height, most_empty, count):
    chance = random.Random(width * 10 + height)
    for _ in range(count):
        plies = width * height - chance.randint(1, most_empty)
        columns = random_columns(chance, width, height, plies)
        assert solver.solve(*stones(columns, height), width, height) == minimax(columns, height), columns
    minimax.cache_clear()


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 6), (2, 2), (3, 6), (7, 1), (4, 3)])
def test_boards_too_small_to_win_are_drawn(width, height):
    assert solver.solve(0, 0, width, height) == 0


def test_mirrored_positions_have_equal_scores():
    chance = random.Random(1)
    for _ in range(20):
        columns = random_columns(chance, 7, 6, chance.randint(16, 30))
        scores = solver.score_moves(*stones(columns, 6))
        assert np.array_equal(scores[::-1], solver.score_moves(*stones(columns[::-1], 6)))


@pytest.mark.parametrize(("width", "height"), [(7, 6), (6, 5), (5, 6)])
def test_score_equals_that_of_the_best_move(width, height):
    chance = random.Random(2)
    for _ in range(20):
        columns = random_columns(chance, width, height, chance.randint(16, 27))
        scores = solver.score_moves(*stones(columns, height), width, height)
        assert scores.dtype == np.int32
        assert solver.solve(*stones(columns, height), width, height) == scores.max()
        for column in range(width):
            if len(columns[column]) == height:
                assert scores[column] == solver.ILLEGAL
                continue
            after, wins = drop(columns, column, height)
            ply = sum(map(len, columns))
            expected = (width * height + 1 - ply) // 2 if wins else -solver.solve(*stones(after, height), width, height)
            assert scores[column] == expected


def test_best_moves_are_the_columns_of_the_best_score():
    chance = random.Random(3)
    for plies in (14, 18, 22, 26, 30, 34, 41):
        position = stones(random_columns(chance, 7, 6, plies), 6)
        scores = solver.score_moves(*position)
        assert np.array_equal(solver.best_moves(*position), scores == scores.max())


def test_boards_of_different_sizes_do_not_interfere():
    chance = random.Random(4)
    small = [random_columns(chance, 4, 4, 6) for _ in range(5)]
    large = [random_columns(chance, 7, 6, 20) for _ in range(5)]
    expected = [solver.solve(*stones(columns, 6)) for columns in large]
    for columns, other, score in zip(small, large, expected, strict=True):
        assert solver.solve(*stones(columns, 4), 4, 4) == minimax(columns, 4)
        assert solver.solve(*stones(other, 6)) == score


def test_threads_share_the_solver():
    chance = random.Random(5)
    positions = [stones(random_columns(chance, 7, 6, 20), 6) for _ in range(20)]
    expected = [solver.solve(*position) for position in positions]
    found: dict[int, list[int]] = {}

    def work(name: int) -> None:
        found[name] = [solver.solve(*position) for position in positions]

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [expected] * 4


def test_best_first_move_and_score_of_the_empty_board():
    assert solver.book_entry(0, 0) == solver.BookEntry(column=3, score=1)
    assert np.flatnonzero(solver.best_moves(0, 0)).tolist() == [3]


def test_first_moves_have_known_results():
    results = []
    for column in range(7):
        entry = solver.book_entry(0, 1 << column * 7)
        assert entry is not None
        results.append(-np.sign(entry.score))
    assert results == [-1, -1, 0, 1, 0, -1, -1]


def own_turns() -> list[dict[int, book.Position]]:
    """The positions that the player can reach, for every ply of the book."""
    entries = book.load_entries()
    empty = (0, 0)
    first_moves = [reply for column in range(7) if (reply := book.play(empty, column))]
    levels = [dict([book.canonical(empty)]), dict(map(book.canonical, first_moves))]
    for ply in range(solver.BOOK_PLIES - 2):
        levels.append(book.positions_after(levels[ply], entries))
    return levels


def test_book_contains_exactly_the_reachable_positions():
    keys = {key for level in own_turns() for key in level}
    assert keys == set(book.load_entries())


def wins_at_once(position: book.Position, column: int) -> bool:
    mine, theirs = position
    move = ((mine | theirs) + (1 << column * 7)) & 0b111111 << column * 7
    return move != 0 and solver.has_line(mine | move, FULL_BOARD)


def test_book_scores_equal_those_of_the_worst_reply():
    levels, entries = own_turns(), book.load_entries()
    for ply, level in enumerate(levels[:-2]):
        for key, position in level.items():
            if wins_at_once(position, entries[key].column):
                assert entries[key].score == (43 - ply) // 2
                continue
            reply = book.play(position, entries[key].column)
            after = [later for column in range(7) if (later := book.play(reply, column))]
            scores = [entries[book.canonical(later)[0]].score for later in after]
            scores += [-((42 - ply) // 2) for column in range(7) if wins_at_once(reply, column)]
            assert entries[key].score == min(scores)


def test_search_agrees_with_the_book():
    levels, entries, chance = own_turns(), book.load_entries(), random.Random(6)
    for ply in (10, 11):
        for key in chance.sample(sorted(levels[ply]), 15):
            mine, theirs = levels[ply][key]
            assert solver.solve(mine, theirs) == entries[key].score
            reply = book.play((mine, theirs), entries[key].column)
            if reply is not None:
                assert -solver.solve(*reply) == entries[key].score


def test_book_round_trips(tmp_path):
    entries = {9: solver.BookEntry(3, -2), 5: solver.BookEntry(0, 1)}
    book.save_book(entries, tmp_path / "book.npz")
    assert book.load_entries(tmp_path / "book.npz") == entries
    assert [path.name for path in tmp_path.iterdir()] == ["book.npz"]
    assert book.load_entries(tmp_path / "none.npz") == {}


def test_saved_entries_are_not_computed_again(tmp_path, monkeypatch):
    entries = book.load_entries()
    part = {key: entry for key, entry in entries.items() if key % 7}
    book.save_book(part, tmp_path / "book.npz")
    monkeypatch.setattr(book, "make_memory", lambda bits: solver.make_memory(10))
    searched = []

    def known_entry(mine, theirs, board, memory):
        searched.append(solver.canonical_key(mine, theirs, board)[0])
        return entries[searched[-1]]

    monkeypatch.setattr(book, "best_entry", known_entry)
    assert book.compute_book(tmp_path / "book.npz") == entries
    assert set(searched) == set(entries) - set(part)


def perfect_column(columns: Columns) -> int:
    return int(np.flatnonzero(solver.best_moves(*stones(columns, 6)))[-1])


def play_game(chance: random.Random, perfect_sides: set[int]) -> tuple[Columns, int | None, int]:
    """Play to the end; return the board, the winner, and the best result that a perfect side could have reached."""
    columns: Columns = ("",) * 7
    in_reach = -1
    for ply in range(42):
        if ply % 2 in perfect_sides:
            mine, theirs = stones(columns, 6)
            entry = solver.book_entry(mine, theirs)
            in_reach = max(in_reach, int(np.sign(entry.score if entry else solver.solve(mine, theirs))))
            column = perfect_column(columns)
        else:
            column = chance.choice([column for column in range(7) if len(columns[column]) < 6])
        columns, wins = drop(columns, column, 6)
        if wins:
            return columns, ply % 2, in_reach
    return columns, None, in_reach


def test_perfect_first_player_always_wins():
    for seed in range(25):
        columns, winner, _ = play_game(random.Random(seed), {0})
        assert winner == 0, columns


def test_perfect_second_player_gets_the_best_possible_result():
    for seed in range(25):
        columns, winner, in_reach = play_game(random.Random(seed), {1})
        assert {1: 1, None: 0, 0: -1}[winner] >= in_reach, columns


def test_two_perfect_players_end_with_one_free_square():
    columns, winner, _ = play_game(random.Random(0), {0, 1})
    assert winner == 0
    assert sum(map(len, columns)) == 41


@pytest.mark.parametrize(
    ("mine", "theirs", "reason"),
    [
        (1, 1, "overlap"),
        (0, 0b11, "as many or one more"),
        (1, 0, "as many or one more"),
        (0, 0b10, "floats"),
        (0b101, 0b11 << 7, "floats"),
        (1 << 6, 1, "outside the board"),
        (1 << 49, 1, "outside the board"),
        (-1, 0, "outside the board"),
        (0b111 << 7 | 1 << 14, 1 | 1 << 21 | 1 << 28 | 1 << 35 | 1 << 42, "four in a line"),
        (0b111 << 7, 0b1111, "four in a line"),
    ],
)
def test_invalid_positions_raise(mine, theirs, reason):
    for function in (solver.solve, solver.score_moves, solver.best_moves):
        with pytest.raises(ValueError, match=reason):
            function(mine, theirs)


def test_full_and_too_large_boards_raise():
    columns = ("01", "10")
    with pytest.raises(ValueError, match="board is full"):
        solver.solve(*stones(columns, 2), 2, 2)
    for width, height in ((8, 6), (7, 7), (0, 6)):
        with pytest.raises(ValueError, match="at most 7 wide and 6 high"):
            solver.solve(0, 0, width, height)
