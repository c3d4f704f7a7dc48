"""Memories: recurrent cells from (state, x) to (state, y), with one state per seat of a game.

The state of a cell is zero before the first step. States that accumulate over time are float32 for any `dtype`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike, DTypeLike
from numpy.typing import NDArray

from ludus.agents.neural.networks import Dtypes, kinds_of
from ludus.agents.neural.networks.initializers import orthogonal
from ludus.agents.neural.networks.transformer import GLU, RMSNorm, attend, head_width, heads_for, rotary
from ludus.types import LudusError, PyTree

Array = jax.Array
State = PyTree
"""arrays with one row per game"""


class Cell(Protocol):
    """A Flax module that steps a memory: (state, x [N, c]) to (state, y [N, channels])."""

    def __call__(self, state: State, x: Array, /) -> tuple[State, Array]: ...


MEMORIES = ("lstm", "gru", "rwkv", "transformer", "none")

LORA = 32
"""rank of the low-rank matrices that make RWKV's mixing and decay depend on the data"""


def cell_of(
    kind: str,
    channels: int,
    head_size: int = 32,
    length: int = 64,
    dtype: DTypeLike = jnp.float32,
    param_dtype: DTypeLike = jnp.float32,
) -> Cell:
    """The cell of a kind: (state, x [N, c]) to (state, y [N, channels]); `state_of` gives its initial state."""
    check_memory(kind, channels, head_size, length)
    kinds: Dtypes = {"dtype": dtype, "param_dtype": param_dtype}
    if kind == "lstm":
        return LSTM(channels, length, **kinds)
    if kind == "gru":
        return nn.GRUCell(channels, recurrent_kernel_init=orthogonal(), **kinds)
    if kind == "rwkv":
        return RWKV(channels, head_size, **kinds)
    if kind == "transformer":
        return History(channels, **kinds)
    return Memoryless(channels, **kinds)


def state_of(
    kind: str, rows: int, channels: int, head_size: int = 32, length: int = 64, dtype: DTypeLike = jnp.float32
) -> State:
    """The initial state for `rows` rows."""
    check_memory(kind, channels, head_size, length)
    exact = jnp.promote_types(dtype, jnp.float32)
    if kind == "lstm":
        return (jnp.zeros((rows, channels), exact), jnp.zeros((rows, channels), exact))
    if kind == "gru":
        return jnp.zeros((rows, channels), exact)
    if kind == "rwkv":
        products = jnp.zeros((rows, channels // head_size, head_size, head_size), exact)
        return (jnp.zeros((rows, channels), dtype), products)
    if kind == "transformer":
        past = jnp.zeros((rows, length, channels), dtype)
        return (past, jnp.zeros_like(past), jnp.zeros((rows, length), bool))
    return ()


def check_memory(kind: str, channels: int, head_size: int, length: int) -> None:
    """Raise LudusError for an invalid memory."""
    if kind not in MEMORIES:
        raise LudusError(f'unknown memory "{kind}"; expected one of {", ".join(MEMORIES)}')
    if kind == "rwkv" and (head_size < 1 or channels % head_size):
        raise LudusError(
            f"rwkv cannot split {channels} channels into heads of {head_size}; use a multiple of {head_size} channels"
        )
    if kind == "transformer" and length < 1:
        raise LudusError(f"a transformer memory of {length} steps is empty; choose a length of at least 1")


class LSTM(nn.Module):
    """Long short-term memory whose gates are initialized to remember for up to `length` steps.

    With the usual initialization gates are half open, and after thirty steps only a billionth of the state is left.
    Tallec and Ollivier 2018, https://arxiv.org/abs/1804.11188
    """

    channels: int
    length: int = 64
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, state: State, x: Array) -> tuple[State, Array]:
        cell, hidden = state
        dense = partial(nn.Dense, 4 * self.channels, **kinds_of(self))
        seen = dense(use_bias=False, name="input")(x)
        recalled = dense(kernel_init=_four_orthogonal, bias_init=self._biases, name="recurrent")(hidden)
        gate, forget, new, out = jnp.split((seen + recalled).astype(cell.dtype), 4, axis=-1)
        cell = nn.sigmoid(forget) * cell + nn.sigmoid(gate) * jnp.tanh(new)
        hidden = nn.sigmoid(out) * jnp.tanh(cell)
        return (cell, hidden), hidden

    def _biases(self, key: Array, shape: tuple[int, ...], dtype: DTypeLike = jnp.float32) -> Array:
        """log u for the forget gate, with u between 1 and the length; -log u for the input gate, 0 for the others."""
        keeping = jnp.log(jax.random.uniform(key, (self.channels,), minval=1.0, maxval=max(2.0, self.length - 1.0)))
        rest = jnp.zeros(2 * self.channels)
        return jnp.concatenate([-keeping, keeping, rest]).astype(dtype)


def _four_orthogonal(key: Array, shape: tuple[int, ...], dtype: DTypeLike = jnp.float32) -> Array:
    """An orthogonal matrix for each gate."""
    rows, columns = shape
    each = [orthogonal()(part, (rows, columns // 4), dtype) for part in jax.random.split(key, 4)]
    return jnp.concatenate(each, axis=1)


class Memoryless(nn.Module):
    """x, repeated to the width of a memory, or projected if that is not a multiple of its width."""

    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, state: State, x: Array) -> tuple[State, Array]:
        times, rest = divmod(self.channels, x.shape[-1])
        if rest:
            return state, nn.Dense(self.channels, **kinds_of(self))(x)
        return state, jnp.tile(x, times)


class History(nn.Module):
    """One noam layer in which the newest input attends to the last ones, whose keys and values are the state.

    The state is keys and values [N, length, channels], the newest last, and which of them are set [N, length].
    """

    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    def setup(self) -> None:
        dense = partial(nn.Dense, use_bias=False, **kinds_of(self))
        self.project, self.query_key_value, self.out = (dense(n * self.channels) for n in (1, 3, 1))
        self.attention_norm, self.mlp_norm, self.norm = (RMSNorm(**kinds_of(self)) for _ in range(3))
        self.mlp = GLU(self.channels, 2 * self.channels, **kinds_of(self))

    def __call__(self, state: State, x: Array) -> tuple[State, Array]:
        x, (query, *new) = self._project(x)
        state = tuple(shifted(past, newest) for past, newest in zip(state, (*new, jnp.ones(len(x), bool)), strict=True))
        keys, values, there = state
        places = jnp.arange(keys.shape[1])
        query, keys = rotary(self._heads(query[:, None]), places[-1:]), rotary(self._heads(keys), places)
        return state, self._output(x, attend(query, keys, self._heads(values), there)[:, 0])

    def over_time(
        self, rstate: tuple[State, ...], x: Array, done: Array, seat: Array, stop_every: int = 0
    ) -> tuple[tuple[State, ...], Array]:
        """`rnn_forward_2p` without a scan: keys and values do not depend on outputs, so steps run in parallel."""
        x, (query, *new) = self._project(x.swapaxes(0, 1))
        *past, there = (jnp.concatenate(parts, axis=1) for parts in zip(*rstate, strict=True))
        keys, values = (jnp.concatenate([old, now.astype(old.dtype)], 1) for old, now in zip(past, new, strict=True))
        length, steps = rstate[0][0].shape[1], x.shape[1]
        tape = tape_of(jnp.asarray(done, bool).T, seat.T, there, len(rstate))
        query, turned = rotary(self._heads(query), tape.place[:, -steps:]), rotary(self._heads(keys), tape.place)
        recalled = recall(query, turned, self._heads(values), seen(tape, length), same_block(tape, stop_every))
        after = tuple(last_of(tape, number, length, keys, values) for number in range(len(rstate)))
        return after, self._output(x, recalled).swapaxes(0, 1)

    def _project(self, x: Array) -> tuple[Array, list[Array]]:
        x = self.project(x)
        return x, jnp.split(self.query_key_value(self.attention_norm(x)), 3, axis=-1)

    def _output(self, x: Array, recalled: Array) -> Array:
        x = x + self.out(recalled.reshape(x.shape))
        return self.norm(x + self.mlp(self.mlp_norm(x)))

    def _heads(self, x: Array) -> Array:
        heads = heads_for(self.channels)
        return x.astype(self.dtype).reshape(*x.shape[:-1], heads, head_width(self.channels, heads))


def shifted(past: Array, newest: Array) -> Array:
    """[N, length, ...] without the oldest element, and with the newest [N, ...] at the end."""
    return jnp.concatenate([past[:, 1:], newest[:, None].astype(past.dtype)], axis=1)


class Tape(NamedTuple):
    """The inputs of all seats of every row in order: P memories of `length`, then T steps; K in total."""

    reader: Array
    """[N, T] the seat whose memory the step reads"""
    owner: Array
    """[N, K] the seat whose memory stores the input; -1 for none"""
    game: Array
    """[N, K] the number of its game, 0 for earlier inputs"""
    place: Array
    """[N, K] the number of steps of its owner before it; negative for earlier inputs"""
    there: Array
    """[N, K] whether the input exists"""


def tape_of(done: Array, seat: Array, there: Array, seats: int) -> Tape:
    """The tape of steps [N, T] after memories, of which the elements `there` [N, P · length] are set."""
    rows, held = there.shape
    known = (seat >= 0) & (seat < seats)
    reader = jnp.where(known, seat, 0)
    own = (jnp.where(known, seat, -1)[..., None] == jnp.arange(seats)).astype(jnp.int32)
    place = jnp.take_along_axis(jnp.cumsum(own, axis=1) - own, reader[..., None], axis=-1)[..., 0]

    def after(memories: ArrayLike, steps: Array) -> Array:
        return jnp.concatenate([jnp.broadcast_to(jnp.asarray(memories, steps.dtype), (rows, held)), steps], axis=1)

    slots = np.arange(held) % (held // seats) - held // seats
    owner, game = (
        after(np.arange(held) // (held // seats), jnp.where(known, seat, -1)),
        after(0, jnp.cumsum(done, axis=1)),
    )
    return Tape(reader, owner, game, after(slots, place), after(there, jnp.ones_like(known)))


def seen(tape: Tape, length: int) -> Array:
    """[N, T, K] the inputs that a step attends to: itself, and its seat's last steps in this game."""
    steps, total = tape.reader.shape[1], tape.owner.shape[1]
    distance = tape.place[:, -steps:, None] - tape.place[:, None]
    recent = (distance > 0) & (distance < length) & tape.there[:, None]
    same_game = tape.game[:, -steps:, None] == tape.game[:, None]
    itself = np.eye(steps, total, total - steps, dtype=bool)
    return (recent & same_game & (tape.reader[..., None] == tape.owner[:, None])) | itself


def same_block(tape: Tape, stop_every: int) -> Array | None:
    """[T, K] the inputs through which gradients flow; None for all."""
    if stop_every <= 0:
        return None
    steps, total = tape.reader.shape[1], tape.owner.shape[1]
    block = np.concatenate([np.full(total - steps, -1), np.arange(steps) // stop_every])
    return jnp.asarray(block[-steps:, None] == block)


def recall(query: Array, key: Array, value: Array, seen: Array, live: Array | None) -> Array:
    """Attention [N, T, H, d] to inputs `seen` [N, T, K]; gradients reach keys and values only if `live` [T, K]."""

    def scores_of(key: Array) -> Array:
        return jnp.einsum("nthd,nkhd->nhtk", query, key, preferred_element_type=jnp.float32)

    def mixed(weights: Array, value: Array) -> Array:
        return jnp.einsum("nhtk,nkhd->nthd", weights.astype(value.dtype), value)

    scores = scores_of(key)
    if live is not None:
        scores = jnp.where(live, scores, scores_of(jax.lax.stop_gradient(key)))
    weights = jax.nn.softmax(jnp.where(seen[:, None], scores * query.shape[-1] ** -0.5, -jnp.inf), axis=-1)
    if live is None:
        return mixed(weights, value)
    return mixed(weights * live, value) + mixed(weights * ~live, jax.lax.stop_gradient(value))


def last_of(tape: Tape, number: int, length: int, keys: Array, values: Array) -> State:
    """The memory of a seat at the end of the tape."""
    own = tape.owner == number
    made = jnp.max(jnp.where(own, tape.place, -1), axis=1) + 1
    places = made[:, None] - length + jnp.arange(length)
    index = jnp.argmax(own[:, None] & (tape.place[:, None] == places[..., None]), axis=-1)

    def kept(x: Array) -> Array:
        return jnp.take_along_axis(x, index.reshape(index.shape + (1,) * (x.ndim - 2)), axis=1)

    fresh = kept(tape.game) == tape.game[:, -1:]
    return (*(jnp.where(fresh[..., None], kept(x), 0) for x in (keys, values)), fresh & kept(tape.there))


class RWKV(nn.Module):
    """The time mixing of RWKV-6: a matrix per head, S ← diag(w) S + k vᵀ, read by r (S + diag(u) k vᵀ), w from x.

    Each of r, k, v, w and the gate has its own mixture of this x and the last one. Peng et al. 2024,
    https://arxiv.org/abs/2404.05892
    """

    channels: int
    head_size: int = 32
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, state: State, x: Array) -> tuple[State, Array]:
        last, products = state
        dense = partial(nn.Dense, self.channels, use_bias=False, **kinds_of(self))
        if x.shape[-1] != self.channels:
            x = dense(name="in")(x)
        x = x.astype(self.dtype)
        for_receptance, for_key, for_value, for_decay, for_gate = self._mixtures(x, last.astype(self.dtype))
        receptance = self._heads(dense(name="receptance")(for_receptance))
        key, value = self._heads(dense(name="key")(for_key)), self._heads(dense(name="value")(for_value))
        bonus = self._heads(self._own("bonus", zigzag, (self.channels,)))
        new = key[..., :, None] * value[..., None, :]
        read = jnp.einsum("nhk,nhkv->nhv", receptance, products + bonus[..., None] * new)
        products = self._heads(self._decay(for_decay))[..., None] * products + new
        # The ε of RWKV, which keeps heads with small values from being amplified to noise.
        norm = nn.GroupNorm(
            self.channels // self.head_size, epsilon=64e-5, use_fast_variance=False, **kinds_of(self), name="norm"
        )
        y = norm(read.reshape(x.shape)) * nn.swish(dense(name="gate")(for_gate))
        return (x.astype(last.dtype), products), dense(name="out")(y)

    def _mixtures(self, x: Array, last: Array) -> tuple[Array, ...]:
        """x + (last - x) · (μ + tanh((x + (last - x) · μ₀) A) B), for each of five μ, A and B: data-dependent lerps."""
        change = last - x
        seen = x + change * self._own("mix", falling, (self.channels,)).astype(self.dtype)
        hidden = nn.Dense(5 * LORA, False, self.dtype, self.param_dtype, kernel_init=tiny, name="mix_down")(seen)
        hidden = nn.tanh(hidden).reshape(*x.shape[:-1], 5, LORA)
        up = self._own("mix_up", tiny, (5, LORA, self.channels)).astype(self.dtype)
        share = self._own("mixes", falling, (5, self.channels)).astype(self.dtype)
        share = share + jnp.einsum("nil,ilc->nic", hidden, up)
        return tuple(x + change * share[:, i] for i in range(5))

    def _decay(self, x: Array) -> Array:
        """exp(-exp(ω + tanh(x A) B)), between 0 and 1: the decay of every channel."""
        dense = partial(nn.Dense, use_bias=False, **kinds_of(self), kernel_init=tiny)
        change = dense(self.channels, name="decay_up")(nn.tanh(dense(LORA, name="decay_down")(x)))
        usual = self._own("decay", from_slow_to_fast, (self.channels,)).astype(jnp.float32)
        return jnp.exp(-jnp.exp(usual + change.astype(jnp.float32)))

    def _heads(self, x: Array) -> Array:
        return x.astype(jnp.float32).reshape(*x.shape[:-1], -1, self.head_size)

    def _own(self, name: str, initial: Callable[..., Array], shape: tuple[int, ...]) -> Array:
        return self.param(name, initial, shape, self.param_dtype)


tiny = nn.initializers.uniform(1e-2)


def _ramp(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """0 at the first channel, 1 at the last."""
    return np.broadcast_to(np.arange(shape[-1]) / max(1, shape[-1] - 1), shape)


def falling(key: Array, shape: tuple[int, ...], dtype: DTypeLike = jnp.float32) -> Array:
    """Initial weights of the last x: 1 for the first channel, falling to 0 for the last."""
    return jnp.asarray(1.0 - _ramp(shape), dtype)


def zigzag(key: Array, shape: tuple[int, ...], dtype: DTypeLike = jnp.float32) -> Array:
    """Initial weights of about 0.5 for the newest input, slightly different by channel to break symmetry."""
    return jnp.asarray(0.5 + 0.1 * (np.arange(shape[-1]) % 3 - 1), dtype)


def from_slow_to_fast(key: Array, shape: tuple[int, ...], dtype: DTypeLike = jnp.float32) -> Array:
    """Initial decays of 0.998 to 0.69 per step: some channels remember hundreds of steps, some a few."""
    return jnp.asarray(-6.0 + 5.0 * _ramp(shape) ** 0.7, dtype)


def rnn_step_by_main(
    cell: Cell, rstate: tuple[State, ...], x: Array, done: Array, main: Array
) -> tuple[tuple[State, ...], Array]:
    """One step [N, c] of the memory of the seat that acts; if `done`, all memories of the row are reset before.

    `main` is the seat [N], or for two seats whether the first one acts. `done` means that this step opens a new game.
    For a seat without memory (-1) the first memory is read and none is changed.
    """
    seat = seat_of(main, len(rstate))
    rstate = chosen(jnp.asarray(done, bool), jax.tree.map(jnp.zeros_like, rstate), rstate)
    own = rstate[0]
    for number, other in enumerate(rstate[1:], start=1):
        own = chosen(seat == number, other, own)
    new, y = cell(own, x)
    return tuple(chosen(seat == number, new, old) for number, old in enumerate(rstate)), y


def rnn_forward_2p(
    cell: Cell, rstate: tuple[State, ...], x: Array, done: Array, main: Array, stop_every: int = 0
) -> tuple[tuple[State, ...], Array]:
    """`rnn_step_by_main` over time, [T, N, c] to [T, N, channels], for any number of seats.

    With `stop_every` k > 0, gradients through the memory are stopped at steps 0, k, 2k, ...
    """
    if not jax.tree.leaves(rstate):
        return rstate, cell((), x)[1]
    if isinstance(cell, History):
        return cell.over_time(rstate, x, done, seat_of(main, len(rstate)), stop_every)
    times = jnp.arange(x.shape[0])
    cut = times % stop_every == 0 if stop_every > 0 else jnp.zeros_like(times, bool)

    def step(cell: Cell, rstate: tuple[State, ...], now: tuple[Array, ...]) -> tuple[tuple[State, ...], Array]:
        x, done, main, cut = now
        if stop_every > 0:
            rstate = chosen(cut, jax.lax.stop_gradient(rstate), rstate)
        return rnn_step_by_main(cell, rstate, x, done, main)

    # Steps are recomputed for the gradient (remat), which is cheaper than storing T memories.
    scan = nn.scan(nn.remat(step, prevent_cse=False), variable_broadcast="params", split_rngs={"params": False})
    return scan(cell, rstate, (x, done, main, cut))


def seat_of(main: Array, seats: int) -> Array:
    """The seat that acts, from its number or, for two seats, from whether it is the first."""
    main = jnp.asarray(main)
    if main.dtype != bool:
        return main.astype(jnp.int32)
    if seats != 2:
        raise LudusError(
            f"booleans can only distinguish two seats, but there are {seats} memories; pass the seat's number"
        )
    return jnp.where(main, 0, 1)


def chosen(which: Array, ours: State, others: State) -> State:
    """For each leaf, `ours` if `which` [N] is true, else `others`, with the dtypes of `others`."""

    def choose(our: Array, other: Array) -> Array:
        return jnp.where(which.reshape(which.shape + (1,) * (other.ndim - which.ndim)), our.astype(other.dtype), other)

    return jax.tree.map(choose, ours, others)
