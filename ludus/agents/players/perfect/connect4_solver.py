"""Exact Connect Four: a compiled alpha-beta solver on bitboards, and the best moves of a position.

A position is solved by a few null-window searches ("is the score above x?"); each is cut short by threats that cannot
be parried, by a transposition table with exact keys, and by the parity of columns.
A stone in column c and row r (row 0 at the bottom) is bit c * (height + 1) + r; the top bit of a column stays empty.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from ludus.dsl import kernel
from ludus.dsl.cache import loops_folder, telling_first_time

if TYPE_CHECKING:
    from numba.core.typing.context import Context
    from numba.core.typing.templates import Signature

    Generator = Callable[["CodeContext", ir.IRBuilder, Signature, Sequence[ir.Value]], ir.Value]
    """writes the instructions of a function"""

ILLEGAL = -100
WIDTH = 7
HEIGHT = 6
BOOK_PLIES = 12
BOOK_PATH = Path(__file__).with_name("connect4_book.npz")

_TABLE_BITS = 22
# Mirror images occur only near a symmetric position, so deeper in the tree mirroring is not worth its cost.
_MIRROR_PLIES = 12
_NO_GUARANTEE = -100
_HASH_FACTOR = -7046029254386353131
# A table entry, from its low bits: upper bound, lower bound (6 bits each, offset 32), effort (3 bits), full key (49).
_ENTRY_BITS = 15
_ENTRY_MASK = (1 << _ENTRY_BITS) - 1
# The search keeps a frame of numbers for every ply, and the counters in a last frame. Moves fill four rows of eight.
_MINE, _MASK, _MY_THREATS, _THEIR_THREATS, _MOVES, _KEY, _LOW, _HIGH, _BEST, _START, _COUNT, _NEXT = range(12)
_ORDER, _MOVE, _THREATS, _REPLIES, _FRAME_SIZE = 16, 24, 32, 40, 48
_NODES, _STORES = 0, 1
_COUNTERS = WIDTH * HEIGHT + 1
_OPEN = 100

# Tables and frames are separate arguments, because Numba would count references to the arrays of a tuple.
Words = npt.NDArray[np.int64]
# Decorator for functions that generate LLVM IR; compiled code calls them without the first argument.
_instructions: Callable[[Callable[..., tuple[Signature, Generator]]], Callable[..., int]] = intrinsic


class CodeContext(Protocol):
    """The part of Numba's code generation that is used here."""

    def make_array(self, kind: types.Type) -> Callable[[CodeContext, ir.IRBuilder, ir.Value], ir.Value]: ...
    def get_dummy_value(self) -> ir.Value: ...


class Board(NamedTuple):
    """The size of a board and its masks; rows are counted from 1 for 'odd' and 'even'."""

    width: int
    height: int
    stride: int
    squares: int
    inside: int
    bottom: int
    odd_rows: int
    even_rows: int


class Memory(NamedTuple):
    """The memory of a search: the transposition table (2^n entries), and a frame for every ply."""

    table: npt.NDArray[np.int64]
    frames: npt.NDArray[np.int64]


def make_board(width: int, height: int) -> Board:
    """Return the masks for a board; raise ValueError when it does not fit the 49 bits."""
    if not (1 <= width <= WIDTH and 1 <= height <= HEIGHT):
        raise ValueError(f"The board must be at most {WIDTH} wide and {HEIGHT} high, not {width} x {height}.")
    stride = height + 1
    bottom = sum(1 << column * stride for column in range(width))
    odd_rows = sum(bottom << row for row in range(0, height, 2))
    even_rows = sum(bottom << row for row in range(1, height, 2))
    inside = odd_rows | even_rows
    return Board(width, height, stride, width * height, inside, bottom, odd_rows, even_rows)


def make_memory(table_bits: int = _TABLE_BITS) -> Memory:
    """Allocate an empty table of 2**table_bits entries (8 bytes each) and the space for the search."""
    frames = np.zeros((WIDTH * HEIGHT + 2, _FRAME_SIZE), np.int64)
    return Memory(np.zeros(1 << table_bits, np.int64), frames)


@_instructions
def _count_bits(typing_context: Context, bits: types.Type) -> tuple[Signature, Generator]:
    def generate(
        context: CodeContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@_instructions
def _lowest_index(typing_context: Context, bits: types.Type) -> tuple[Signature, Generator]:
    def generate(
        context: CodeContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


def _four_directions(builder: ir.IRBuilder, bits: ir.Value, stride: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Spread the bitboard over four vector lanes, one per direction; return the lanes and the step of each."""
    word = ir.IntType(64)
    one = ir.Constant(word, 1)
    lanes = steps = ir.Constant(ir.VectorType(word, 4), ir.Undefined)
    for lane, step in enumerate((one, builder.sub(stride, one), stride, builder.add(stride, one))):
        position = ir.Constant(ir.IntType(32), lane)
        lanes = builder.insert_element(lanes, bits, position)
        steps = builder.insert_element(steps, step, position)
    return lanes, steps


def _join_directions(builder: ir.IRBuilder, lanes: ir.Value) -> ir.Value:
    """Return the union of the four lanes as one bitboard."""
    parts = [builder.extract_element(lanes, ir.Constant(ir.IntType(32), lane)) for lane in range(4)]
    return builder.or_(builder.or_(parts[0], parts[1]), builder.or_(parts[2], parts[3]))


@_instructions
def _line_completions(typing_context: Context, stones: types.Type, stride: types.Type) -> tuple[Signature, Generator]:
    """Every square (also taken ones and those off the board) that completes four in a line of the stones.

    Hand-written IR, because this is the hottest code of the search and Numba does not vectorize it.
    """

    def generate(
        context: CodeContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        lanes, step = _four_directions(builder, *arguments)
        double = builder.add(step, step)
        triple = builder.add(double, step)
        up_1, up_2, up_3 = (builder.shl(lanes, distance) for distance in (step, double, triple))
        down_1, down_2, down_3 = (builder.lshr(lanes, distance) for distance in (step, double, triple))
        above = builder.and_(builder.and_(up_1, up_2), builder.or_(up_3, down_1))
        below = builder.and_(builder.and_(down_1, down_2), builder.or_(down_3, up_1))
        return _join_directions(builder, builder.or_(above, below))

    return types.int64(types.int64, types.int64), generate


@_instructions
def _line_starts(typing_context: Context, stones: types.Type, stride: types.Type) -> tuple[Signature, Generator]:
    """The first square of every four in a line of the stones; 0 if there is none."""

    def generate(
        context: CodeContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        lanes, step = _four_directions(builder, *arguments)
        pairs = builder.and_(lanes, builder.lshr(lanes, step))
        return _join_directions(builder, builder.and_(pairs, builder.lshr(pairs, builder.add(step, step))))

    return types.int64(types.int64, types.int64), generate


@_instructions
def _prefetch(typing_context: Context, table: types.Type, index: types.Type) -> tuple[Signature, Generator]:
    """Prefetch table[index]; without it, a third of the search time is spent waiting for memory."""

    def generate(
        context: CodeContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte_pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte_pointer, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte_pointer], kind)
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), byte_pointer)
        builder.call(prefetch, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(table, index), generate


@kernel
def _mirror_key(key: int, board: Board) -> int:
    column_mask = (1 << board.stride) - 1
    mirrored = 0
    for _ in range(board.width):
        mirrored = (mirrored << board.stride) | (key & column_mask)
        key >>= board.stride
    return mirrored


@kernel
def _key(mine: int, mask: int, ply: int, board: Board) -> int:
    # Each column is encoded as its own stones below a leading one bit, so keys are unique.
    key = mine + mask + board.bottom
    if ply < _MIRROR_PLIES:
        key = min(key, _mirror_key(key, board))
    return key


@kernel
def _slot(key: int, table: Words) -> int:
    return ((key * _HASH_FACTOR) >> 20) & (table.size - 1)


@kernel
def _recall(key: int, table: Words) -> int:
    """Return the table's entry of a position, or 0; the key is stored in full, so a hit is certain."""
    slot = _slot(key, table)
    entry = table[slot]
    if entry & ~_ENTRY_MASK != key << _ENTRY_BITS:
        entry = table[slot ^ 1]
        if entry & ~_ENTRY_MASK != key << _ENTRY_BITS:
            entry = 0
    return entry


@kernel
def _store(key: int, low: int, high: int, nodes: int, table: Words, frames: Words) -> None:
    """Store the bounds: the first slot of a pair keeps the most expensive position, the second the latest."""
    effort = 0
    while nodes > 4 and effort < 7:
        nodes >>= 3
        effort += 1
    entry = (key << _ENTRY_BITS) | (effort << 12) | ((low + 32) << 6) | (high + 32)
    slot = _slot(key, table)
    held = table[slot]
    if held & ~_ENTRY_MASK == key << _ENTRY_BITS:
        table[slot] = entry
    elif effort >= (held >> 12) & 7:
        table[slot ^ 1] = held
        table[slot] = entry
    else:
        table[slot ^ 1] = entry
    frames[_COUNTERS, _STORES] += 1


@kernel
def _safe_moves(mask: int, their_threats: int, board: Board) -> int:
    """The moves after which the opponent cannot win at once, given that the side to move cannot win at once."""
    moves = (mask + board.bottom) & board.inside
    forced = moves & their_threats
    if forced != 0:
        if forced & (forced - 1) != 0:
            return 0
        moves = forced
    return moves & ~(their_threats >> 1)


@kernel
def _zugzwang_score(square: int, board: Board) -> int:
    # The loser fills every other column first; then only the squares above the winning one are left.
    row = _lowest_index(square) % board.stride + 1
    return (board.height - row + 2) // 2


@kernel
def _with_squares_above(squares: int, board: Board) -> int:
    for _ in range(board.height - 1):
        squares |= (squares << 1) & board.inside
    return squares


@kernel
def _second_player_guarantee(theirs: int, mask: int, my_threats: int, to_move: bool, board: Board) -> int:
    """A lower bound for the second player by answering in the same column, which gains the uncontested even squares.

    Contested are the even squares that can be played now; both sides take them in turn, so the first player may get
    any one of them, except a single one when the second player is to move and takes it.
    """
    contested = (mask + board.bottom) & board.even_rows
    kept = contested if not to_move or contested & (contested - 1) != 0 else 0
    wins = my_threats & board.even_rows & ~contested
    # The game is over before anyone plays above a winning square.
    theirs_later = board.odd_rows & ~mask & ~_with_squares_above(wins, board)
    if _line_starts(theirs | theirs_later | kept, board.stride) != 0:
        return _NO_GUARANTEE
    score = 0
    while wins != 0:
        score = max(score, _zugzwang_score(wins & -wins, board))
        wins &= wins - 1
    return score


@kernel
def _first_player_guarantee(theirs: int, mask: int, my_threats: int, to_move: bool, board: Board) -> int:
    """A lower bound for the first player by a threat on an odd square that cannot be played yet.

    Neither side wants to play below that square, which reverses the parity of the rest: now the first player answers in
    the same column, and in the end the second player must play below the threat.
    """
    playable = (mask + board.bottom) & board.inside
    threats = my_threats & board.odd_rows & ~playable
    while threats != 0:
        threat = threats & -threats
        threats &= threats - 1
        below = threat >> 1
        column = ((1 << board.height) - 1) << (_lowest_index(threat) // board.stride * board.stride)
        under = column & (below - 1)
        theirs_later = (board.odd_rows & ~mask & ~column) | (board.even_rows & ~mask & under) | below
        contested = playable & ((board.even_rows & ~column) | (board.odd_rows & under))
        kept = contested if not to_move or contested & (contested - 1) != 0 else 0
        if _line_starts(theirs | theirs_later | kept, board.stride) == 0:
            return _zugzwang_score(threat, board)
    return _NO_GUARANTEE


@kernel
def _parity_bounds(
    mine: int, mask: int, my_threats: int, their_threats: int, ply: int, alpha: int, board: Board
) -> tuple[int, int]:
    """Return bounds (low, high) by column parity if they may decide 'above alpha?'; only for boards of even height."""
    theirs = mask ^ mine
    low, high = _NO_GUARANTEE, -_NO_GUARANTEE
    # Skip bounds that cannot decide: a threat on row 3 is worth 2, on row 2 it is worth 3, and no threat 0.
    if ply & 1 == 0:
        if alpha <= 1 and my_threats & board.odd_rows != 0:
            low = _first_player_guarantee(theirs, mask, my_threats, True, board)
        if alpha >= 0 or (alpha >= -3 and their_threats & board.even_rows != 0):
            high = -_second_player_guarantee(mine, mask, their_threats, False, board)
    else:
        if alpha < 0 or (alpha <= 2 and my_threats & board.even_rows != 0):
            low = _second_player_guarantee(theirs, mask, my_threats, True, board)
        if alpha >= -2 and their_threats & board.odd_rows != 0:
            high = -_first_player_guarantee(mine, mask, their_threats, False, board)
    return low, high


@kernel
def _insert_move(frames: Words, ply: int, count: int, rank: int, slot: int) -> None:
    """Insert a move into the order, the highest rank first; equal ranks keep their order."""
    place = _ORDER + count
    while place > _ORDER and frames[ply, place - 1] >> 3 < rank:
        frames[ply, place] = frames[ply, place - 1]
        place -= 1
    frames[ply, place] = (rank << 3) | slot


@kernel
def _list_moves(ply: int, board: Board, table: Words, frames: Words) -> int:
    """Write the moves to the frame of this ply, best first; return their number, or -1 if one wins by force.

    Moves that make the most threats come first; a move just below an own threat wastes it, so it ranks lower.
    """
    mine, mask, my_threats = frames[ply, _MINE], frames[ply, _MASK], frames[ply, _MY_THREATS]
    column_mask = (1 << board.height) - 1
    count = 0
    for slot in range(board.width):
        # From the middle outwards (3, 2, 4, 1, ...): this order decides between moves of equal rank.
        column = (board.width >> 1) + ((slot + 1) >> 1) * (1 - 2 * (slot & 1))
        move = frames[ply, _MOVES] & (column_mask << (column * board.stride))
        if move == 0:
            continue
        after = mask | move
        threats = _line_completions(mine | move, board.stride) & board.inside & ~after
        replies = _safe_moves(after, threats, board)
        if replies == 0:
            return -1
        if ply + 1 >= _MIRROR_PLIES:
            _prefetch(table, _slot((mask ^ mine) + after + board.bottom, table))
        rank = _count_bits(threats) - 2 * _count_bits(my_threats & (move << 1)) + 8
        _insert_move(frames, ply, count, rank, slot)
        frames[ply, _MOVE + slot] = move
        frames[ply, _THREATS + slot] = threats
        frames[ply, _REPLIES + slot] = replies
        count += 1
    return count


@kernel
def _look(ply: int, alpha: int, board: Board, table: Words, frames: Words) -> int:
    """Return a bound if the position of this ply needs no search to answer 'above alpha?', else list its moves."""
    frames[_COUNTERS, _NODES] += 1
    left = board.squares - ply
    if left <= 2:
        return 0
    low, high = -((left - 2) // 2), (left - 1) // 2
    mine, mask = frames[ply, _MINE], frames[ply, _MASK]
    key = _key(mine, mask, ply, board)
    entry = _recall(key, table)
    if entry != 0:
        low, high = max(low, ((entry >> 6) & 63) - 32), min(high, (entry & 63) - 32)
    if low > alpha or high <= alpha:
        return low if low > alpha else high
    if board.height & 1 == 0:
        sure, limit = _parity_bounds(
            mine, mask, frames[ply, _MY_THREATS], frames[ply, _THEIR_THREATS], ply, alpha, board
        )
        if sure > alpha or limit <= alpha:
            return sure if sure > alpha else limit
    count = _list_moves(ply, board, table, frames)
    if count < 0:
        return (left - 1) // 2
    # No move wins by force within three plies, so the earliest win is one move later.
    high = min(high, (left - 3) // 2)
    if high <= alpha:
        return high
    frames[ply, _KEY], frames[ply, _LOW], frames[ply, _HIGH], frames[ply, _BEST] = key, low, high, -_OPEN
    frames[ply, _START], frames[ply, _COUNT], frames[ply, _NEXT] = frames[_COUNTERS, _NODES], count, 0
    return _OPEN


@kernel
def _play_next(ply: int, frames: Words) -> None:
    """Set the frame of the next ply to the position after the next move of this one."""
    slot = frames[ply, _ORDER + frames[ply, _NEXT]] & 7
    frames[ply, _NEXT] += 1
    move = frames[ply, _MOVE + slot]
    frames[ply + 1, _MINE] = frames[ply, _MASK] ^ frames[ply, _MINE]
    frames[ply + 1, _MASK] = frames[ply, _MASK] | move
    frames[ply + 1, _MY_THREATS] = frames[ply, _THEIR_THREATS] & ~move
    frames[ply + 1, _THEIR_THREATS] = frames[ply, _THREATS + slot]
    frames[ply + 1, _MOVES] = frames[ply, _REPLIES + slot]


@kernel
def _take_back(ply: int, score: int, alpha: int, table: Words, frames: Words) -> int:
    """Record the score of the move just searched; return the bound of this position, or _OPEN if moves are left."""
    best = max(frames[ply, _BEST], score)
    frames[ply, _BEST] = best
    if best <= alpha and frames[ply, _NEXT] < frames[ply, _COUNT]:
        return _OPEN
    low, high = frames[ply, _LOW], frames[ply, _HIGH]
    if best > alpha:
        low = max(low, best)
    else:
        high = min(high, best)
    _store(frames[ply, _KEY], low, high, frames[_COUNTERS, _NODES] - frames[ply, _START], table, frames)
    return best


@kernel
def _search(ply: int, alpha: int, board: Board, table: Words, frames: Words) -> int:
    """Answer 'is the score above alpha?' for the frame of this ply, which has safe moves and no move that wins at once.

    A result above alpha is a lower bound of the score, else it is an upper bound. The search is not recursive, because
    Numba cannot cache compiled recursion.
    """
    root = ply
    bound = _look(ply, alpha, board, table, frames)
    while bound == _OPEN or ply > root:
        if bound == _OPEN:
            _play_next(ply, frames)
            ply, alpha = ply + 1, -alpha - 1
            bound = _look(ply, alpha, board, table, frames)
        else:
            ply, alpha = ply - 1, -alpha - 1
            bound = _take_back(ply, -bound, alpha, table, frames)
    return bound


@kernel
def _question(mine: int, theirs: int, alpha: int, board: Board, table: Words, frames: Words) -> int:
    """Return a bound of the score on the same side of alpha as the score, for any unfinished position."""
    mask = mine | theirs
    ply = _count_bits(mask)
    my_threats = _line_completions(mine, board.stride) & board.inside & ~mask
    if my_threats & (mask + board.bottom) != 0:
        return (board.squares + 1 - ply) // 2
    their_threats = _line_completions(theirs, board.stride) & board.inside & ~mask
    moves = _safe_moves(mask, their_threats, board)
    if moves == 0:
        return -((board.squares - ply) // 2)
    frames[ply, _MINE], frames[ply, _MASK], frames[ply, _MOVES] = mine, mask, moves
    frames[ply, _MY_THREATS], frames[ply, _THEIR_THREATS] = my_threats, their_threats
    return _search(ply, alpha, board, table, frames)


@kernel
def _exact_score(mine: int, theirs: int, board: Board, table: Words, frames: Words) -> int:
    ply = _count_bits(mine | theirs)
    low, high = -((board.squares - ply) // 2), (board.squares + 1 - ply) // 2
    while low < high:
        # Find the winner first, then bisect the number of moves.
        alpha = 0 if low < 0 < high else (low + high) // 2
        bound = _question(mine, theirs, alpha, board, table, frames)
        if bound > alpha:
            low = bound
        else:
            high = bound
    return low


@kernel
def _column_move(mask: int, column: int, board: Board) -> int:
    column_mask = ((1 << board.height) - 1) << (column * board.stride)
    return (mask + board.bottom) & column_mask


@kernel
def _move_ends_game(mine: int, mask: int, move: int, board: Board) -> bool:
    return _line_starts(mine | move, board.stride) != 0 or mask | move == board.inside


@kernel
def _final_score(mine: int, mask: int, move: int, board: Board) -> int:
    """The score of a move that ends the game, for the side that makes it."""
    wins = _line_starts(mine | move, board.stride) != 0
    return (board.squares + 1 - _count_bits(mask)) // 2 if wins else 0


@kernel
def _score_columns(
    mine: int, theirs: int, board: Board, table: Words, frames: Words, scores: npt.NDArray[np.int32]
) -> None:
    mask = mine | theirs
    for column in range(board.width):
        move = _column_move(mask, column, board)
        if move == 0:
            scores[column] = ILLEGAL
        elif _move_ends_game(mine, mask, move, board):
            scores[column] = _final_score(mine, mask, move, board)
        else:
            scores[column] = -_exact_score(theirs, mine | move, board, table, frames)


@kernel
def _reaches(mine: int, theirs: int, column: int, score: int, board: Board, table: Words, frames: Words) -> bool:
    """Whether this column achieves at least the score for the side to move."""
    mask = mine | theirs
    move = _column_move(mask, column, board)
    if move == 0:
        return False
    if _move_ends_game(mine, mask, move, board):
        return _final_score(mine, mask, move, board) >= score
    return _question(theirs, mine | move, -score, board, table, frames) <= -score


@kernel
def _choose_columns(
    mine: int, theirs: int, board: Board, table: Words, frames: Words, chosen: npt.NDArray[np.bool_]
) -> None:
    """Mark the columns that keep the exact score."""
    score = _exact_score(mine, theirs, board, table, frames)
    for column in range(board.width):
        chosen[column] = _reaches(mine, theirs, column, score, board, table, frames)


def _compile(memory: Memory) -> None:
    """Compile all searches in advance, on a board of one square."""
    board, chosen, scores = make_board(1, 1), np.zeros(WIDTH, np.bool_), np.zeros(WIDTH, np.int32)
    with telling_first_time("the Connect Four solver", loops_folder() / "connect4_solver"):
        _exact_score(0, 0, board, *memory)
        _score_columns(0, 0, board, *memory, scores)
        _choose_columns(0, 0, board, *memory, chosen)


class _SharedMemory:
    """The memory of this process, created at its first use; a lock is held during each search."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._board: Board | None = None

    @contextmanager
    def lend(self, board: Board) -> Iterator[Memory]:
        with self._lock:
            if self._memory is None:
                self._memory = make_memory()
                _compile(self._memory)
            # Keys of another board mean other positions, and a table full of old positions slows the search.
            if board != self._board or self._memory.frames[_COUNTERS, _STORES] > self._memory.table.size:
                self._memory.table.fill(0)
                self._memory.frames[_COUNTERS, _STORES] = 0
            self._board = board
            yield self._memory

    def forget(self) -> None:
        with self._lock:
            self._memory = self._board = None


_shared_memory = _SharedMemory()


def forget() -> None:
    """Clear the transposition table; results stay the same, but are searched again."""
    _shared_memory.forget()


class BookEntry(NamedTuple):
    """An entry of the book: a best column for the side to move, and the exact score."""

    column: int
    score: int


class Book(NamedTuple):
    """Positions by their canonical keys, in ascending order, and an entry for each (columns as in the key)."""

    keys: Words
    columns: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int8]


def read_book(path: Path = BOOK_PATH) -> Book:
    """Read a book from its file; a missing file is an empty book."""
    if not path.exists():
        return Book(np.zeros(0, np.int64), np.zeros(0, np.int8), np.zeros(0, np.int8))
    with np.load(path, allow_pickle=False) as arrays:
        return Book(arrays["keys"], arrays["columns"], arrays["scores"])


def best_entry(mine: int, theirs: int, board: Board, memory: Memory) -> BookEntry:
    """Search a position for its score and the best column nearest to the middle (the left one of two)."""
    score = int(_exact_score(mine, theirs, board, *memory))
    columns = sorted(range(board.width), key=lambda column: abs(2 * column - board.width + 1))
    return BookEntry(next(column for column in columns if _reaches(mine, theirs, column, score, board, *memory)), score)


@cache
def _own_book() -> Book:
    return read_book()


def canonical_key(mine: int, theirs: int, board: Board) -> tuple[int, bool]:
    """Return the key that a position shares with its mirror image, and whether it belongs to the mirror image."""
    key = mine + (mine | theirs) + board.bottom
    mirrored = int(_mirror_key(key, board))
    return min(key, mirrored), mirrored < key


def book_entry(mine: int, theirs: int) -> BookEntry | None:
    """Return the entry of a position of the 7 x 6 board, or None if it is not in the book."""
    book = _own_book()
    key, mirrored = canonical_key(int(mine), int(theirs), make_board(WIDTH, HEIGHT))
    place = int(np.searchsorted(book.keys, key))
    if place == len(book.keys) or book.keys[place] != key:
        return None
    column = int(book.columns[place])
    return BookEntry(WIDTH - 1 - column if mirrored else column, int(book.scores[place]))


def has_line(stones: int, board: Board) -> bool:
    """Whether there are four in a line among the stones."""
    for step in (1, board.stride - 1, board.stride, board.stride + 1):
        pairs = stones & (stones >> step)
        if pairs & (pairs >> 2 * step):
            return True
    return False


def _check_position(mine: int, theirs: int, board: Board) -> None:
    """Raise ValueError unless the stones are a valid position of an unfinished game."""
    mask = mine | theirs
    if mine < 0 or theirs < 0 or mask & ~board.inside:
        raise ValueError(f"There are stones outside the board of {board.width} x {board.height}.")
    if mine & theirs:
        raise ValueError("The stones of the two sides overlap.")
    mine_count, theirs_count = mine.bit_count(), theirs.bit_count()
    if theirs_count - mine_count not in (0, 1):
        raise ValueError(
            f"The side to move has {mine_count} stones and the other side {theirs_count}: "
            "the other side must have as many or one more."
        )
    if (mask + board.bottom) & mask:
        raise ValueError("A stone floats: every stone must be on the floor or on another stone.")
    if has_line(mine, board) or has_line(theirs, board):
        raise ValueError("The game is over: there are four in a line.")
    if mask == board.inside:
        raise ValueError("The game is over: the board is full.")


def solve(mine: int, theirs: int, width: int = WIDTH, height: int = HEIGHT) -> int:
    """Return the exact score of the position for the side to move, by search.

    mine and theirs are the stones of the side to move and of the other side. The score is 0 for a draw; if the side
    to move wins, 1 for a win with its last stone, 2 with its last but one and so on; if it loses, the same negated.
    Before ply 12 of the full board this may take many seconds.
    """
    mine, theirs, board = int(mine), int(theirs), make_board(width, height)
    _check_position(mine, theirs, board)
    with _shared_memory.lend(board) as memory:
        return int(_exact_score(mine, theirs, board, *memory))


def score_moves(mine: int, theirs: int, width: int = WIDTH, height: int = HEIGHT) -> npt.NDArray[np.int32]:
    """Return the exact score of each column for the side to move, ILLEGAL for a full column; see solve()."""
    mine, theirs, board = int(mine), int(theirs), make_board(width, height)
    _check_position(mine, theirs, board)
    scores = np.empty(width, np.int32)
    with _shared_memory.lend(board) as memory:
        _score_columns(mine, theirs, board, *memory, scores)
    return scores


def best_moves(mine: int, theirs: int) -> npt.NDArray[np.bool_]:
    """Return the best columns on the 7 x 6 board: those of the fastest win, else a draw, else the slowest loss.

    Before ply 12 the book answers at once, with one column (or two that mirror each other), in every position that can
    arise when this side has followed the book so far. Other positions before ply 12 are searched, which is as exact
    but may take many seconds; from ply 12 on all best columns are found by search.
    """
    mine, theirs, board = int(mine), int(theirs), make_board(WIDTH, HEIGHT)
    _check_position(mine, theirs, board)
    chosen = np.zeros(WIDTH, np.bool_)
    entry = book_entry(mine, theirs) if (mine | theirs).bit_count() < BOOK_PLIES else None
    if entry is not None:
        chosen[entry.column] = True
        # In a symmetric position the mirrored column is equally good, and leads to mirrored positions of the book.
        key = mine + (mine | theirs) + board.bottom
        chosen[WIDTH - 1 - entry.column] |= _mirror_key(key, board) == key
        return chosen
    with _shared_memory.lend(board) as memory:
        _choose_columns(mine, theirs, board, *memory, chosen)
    return chosen
