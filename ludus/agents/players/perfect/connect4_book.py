"""Computes the opening book of the perfect Connect Four player: `python -m ludus.agents.players.perfect.connect4_book`.

The player only meets positions that its own book moves allow, so the book contains one best column for each of these
and branches only over the opponent's replies. Ctrl-C stops the computation; the next run continues it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ludus.agents.players.perfect.connect4_solver import (
    BOOK_PATH,
    BOOK_PLIES,
    HEIGHT,
    WIDTH,
    Book,
    BookEntry,
    Memory,
    best_entry,
    canonical_key,
    has_line,
    make_board,
    make_memory,
    read_book,
)

_TABLE_BITS = 25
_SECONDS_BETWEEN_SAVES = 30.0
_BOARD = make_board(WIDTH, HEIGHT)

# A position is the stones of the side to move and of the other side.
Position = tuple[int, int]
Entries = dict[int, BookEntry]


def play(position: Position, column: int) -> Position | None:
    """Return the position after a move, seen by the other side; None if the column is full or the game is over."""
    mine, theirs = position
    bottom = 1 << column * _BOARD.stride
    column_mask = ((1 << HEIGHT) - 1) * bottom
    move = ((mine | theirs) + bottom) & column_mask
    if move == 0 or has_line(mine | move, _BOARD):
        return None
    return theirs, mine | move


def canonical(position: Position) -> tuple[int, Position]:
    """Return the key of a position, and the position or its mirror image to which the key belongs."""
    key, mirrored = canonical_key(*position, _BOARD)
    return key, (_mirror(position[0]), _mirror(position[1])) if mirrored else position


def _mirror(stones: int) -> int:
    columns = [stones >> column * _BOARD.stride & ((1 << HEIGHT) - 1) for column in range(WIDTH)]
    return sum(stones << (WIDTH - 1 - column) * _BOARD.stride for column, stones in enumerate(columns))


def _replies(position: Position | None) -> Iterator[Position]:
    if position is not None:
        for column in range(WIDTH):
            reply = play(position, column)
            if reply is not None:
                yield reply


def positions_after(positions: dict[int, Position], entries: Entries) -> dict[int, Position]:
    """Return the positions two plies later: the player's book move in each position, then every reply."""
    later = {}
    for key, position in positions.items():
        for reply in _replies(play(position, entries[key].column)):
            later_key, later_position = canonical(reply)
            later[later_key] = later_position
    return later


def save_book(entries: Entries, path: Path = BOOK_PATH) -> None:
    """Write the book to a temporary file and rename it, so that the file is always complete."""
    keys = sorted(entries)
    columns = np.array([entries[key].column for key in keys], np.int8)
    scores = np.array([entries[key].score for key in keys], np.int8)
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        np.savez_compressed(file, keys=np.array(keys, np.int64), columns=columns, scores=scores)
    os.replace(beside, path)


def load_entries(path: Path = BOOK_PATH) -> Entries:
    """Return the entries of a saved book, finished or not."""
    book: Book = read_book(path)
    pairs = zip(book.columns.tolist(), book.scores.tolist(), strict=True)
    return {key: BookEntry(*pair) for key, pair in zip(book.keys.tolist(), pairs, strict=True)}


def _solve_level(ply: int, positions: dict[int, Position], entries: Entries, memory: Memory, path: Path) -> None:
    """Add an entry for each position, saving at intervals."""
    todo = [key for key in sorted(positions) if key not in entries]
    started = saved = time.monotonic()
    for done, key in enumerate(todo, start=1):
        entries[key] = best_entry(*positions[key], _BOARD, memory)
        now = time.monotonic()
        if now - saved > _SECONDS_BETWEEN_SAVES or done == len(todo):
            save_book(entries, path)
            saved = now
        left = (now - started) / done * (len(todo) - done)
        print(f"\rply {ply}: {done} of {len(todo)} positions, {left / 60:.1f} minutes left ", end="", flush=True)
    print(f"\rply {ply}: {len(positions)} positions, {(time.monotonic() - started) / 60:.1f} minutes          ")


def compute_book(path: Path = BOOK_PATH) -> Entries:
    """Solve every position before ply 12 that the player, moving first or second, can reach; save at intervals."""
    entries = load_entries(path)
    memory = make_memory(_TABLE_BITS)
    empty: Position = (0, 0)
    # The first player moves at even plies and the second at odd ones, so two trees are built alternately.
    levels = [dict([canonical(empty)]), dict(canonical(reply) for reply in _replies(empty))]
    try:
        for ply in range(BOOK_PLIES):
            _solve_level(ply, levels[ply], entries, memory, path)
            levels.append(positions_after(levels[ply], entries))
    finally:
        save_book(entries, path)
    return entries


def main() -> None:
    """Compute or continue the book, and print its size."""
    try:
        entries = compute_book()
    except KeyboardInterrupt:
        print("\nStopped; run again to continue.")
        return
    print(f"The book contains {len(entries)} positions in {BOOK_PATH.stat().st_size / 1000:.0f} kB.")


if __name__ == "__main__":
    main()
