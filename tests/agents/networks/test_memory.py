"""Memories: steps computed by hand, single steps compared with the scan, separate seats, truncated gradients."""

import functools
import math

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_cards import numbers

from ludus.agents.neural.networks import memory as m
from ludus.agents.neural.networks.transformer import EncoderLayer, RMSNorm
from ludus.types import LudusError

WIDTH, CHANNELS, HEAD, LENGTH, ROWS, TIME = 6, 8, 4, 5, 3, 9
every_kind = pytest.mark.parametrize("kind", m.MEMORIES)
remembering = pytest.mark.parametrize("kind", [kind for kind in m.MEMORIES if kind != "none"])
seeds = st.integers(0, 2**32 - 1)


class Player(nn.Module):
    """A cell inside a network, as in an agent."""

    kind: str
    dtype: type = jnp.float32

    def setup(self):
        self.cell = m.cell_of(self.kind, CHANNELS, HEAD, LENGTH, self.dtype)

    def step(self, rstate, x, done, main):
        return m.rnn_step_by_main(self.cell, rstate, x, done, main)

    def scan(self, rstate, x, done, main, stop_every=0):
        return m.rnn_forward_2p(self.cell, rstate, x, done, main, stop_every)


def filled(shapes):
    """Random parameters instead of the initial ones, because ones and zeros could hide errors."""

    def fill(leaf):
        noise = numbers(leaf.size, *leaf.shape)
        return 0.5 + 0.3 * noise if leaf.ndim < 2 else noise / math.sqrt(leaf.shape[-2])

    return jax.tree.map(fill, shapes)


def empty(kind, seats, dtype=jnp.float32):
    return tuple(m.state_of(kind, ROWS, CHANNELS, HEAD, LENGTH, dtype) for _ in range(seats))


def random_memory(kind, seats, seed):
    """Random memories, as in the middle of a game."""

    def fill(leaf):
        return numbers(seed, *leaf.shape) > 0 if leaf.dtype == bool else numbers(seed, *leaf.shape).astype(leaf.dtype)

    return jax.tree.map(fill, empty(kind, seats))


def steps_of(seed, seats):
    rng = np.random.default_rng(seed)
    done, seat = rng.random((TIME, ROWS)) < 0.2, rng.integers(0, seats, (TIME, ROWS))
    return numbers(seed, TIME, ROWS, WIDTH), done, seat


@functools.cache
def params_of(kind):
    inputs = (empty(kind, 1), *(part[0] for part in steps_of(0, 1)))
    shapes = jax.eval_shape(functools.partial(Player(kind).init, method="step"), jax.random.key(0), *inputs)
    return filled(shapes)


@functools.cache
def compiled(kind, method, dtype=jnp.float32):
    return jax.jit(functools.partial(Player(kind, dtype).apply, method=method), static_argnames="stop_every")


def same(ours, others):
    jax.tree.map(np.testing.assert_array_equal, ours, others)


def near(ours, others, atol=1e-5):
    jax.tree.map(functools.partial(np.testing.assert_allclose, atol=atol), ours, others)


@pytest.mark.parametrize(
    ("kind", "shapes"),
    [
        ("lstm", [(3, 8), (3, 8)]),
        ("gru", [(3, 8)]),
        ("rwkv", [(3, 8), (3, 2, 4, 4)]),
        ("transformer", [(3, 5, 8), (3, 5, 8), (3, 5)]),
        ("none", []),
    ],
)
def test_initial_memory_is_zero(kind, shapes):
    leaves = jax.tree.leaves(m.state_of(kind, 3, 8, 4, 5, jnp.bfloat16))
    assert [leaf.shape for leaf in leaves] == shapes
    assert not any(leaf.any() for leaf in leaves)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (("ltsm", 8), 'unknown memory "ltsm"; expected one of lstm, gru'),
        (("rwkv", 40), "cannot split 40 channels into heads of 32"),
        (("rwkv", 8, 0), "heads of 0"),
        (("transformer", 8, 4, 0), "memory of 0 steps is empty"),
    ],
)
def test_invalid_memories_raise(choice, message):
    with pytest.raises(LudusError, match=message):
        m.cell_of(*choice)
    with pytest.raises(LudusError, match=message):
        m.state_of(choice[0], 3, *choice[1:])


@every_kind
def test_parameters_are_the_same_by_step_and_by_scan(kind):
    x, done, seat = steps_of(0, 2)
    by_scan = jax.eval_shape(
        functools.partial(Player(kind).init, method="scan"), jax.random.key(0), empty(kind, 2), x, done, seat
    )
    assert jax.tree.map(lambda leaf: leaf.shape, by_scan) == jax.tree.map(lambda leaf: leaf.shape, params_of(kind))


def test_scan_initialises_parameters():
    x, done, seat = steps_of(0, 2)
    player = Player("lstm")
    params = jax.jit(functools.partial(player.init, method="scan"))(jax.random.key(0), empty("lstm", 2), x, done, seat)
    for recurrent in np.split(params["params"]["cell"]["recurrent"]["kernel"], 4, axis=1):
        np.testing.assert_allclose(recurrent @ recurrent.T, np.eye(CHANNELS), atol=1e-5)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_a_step_of_lstm_by_hand():
    params = params_of("lstm")["params"]["cell"]
    (c, h), x = random_memory("lstm", 1, 1)[0], numbers(2, ROWS, WIDTH)

    def gate(number):
        part = slice(number * CHANNELS, (number + 1) * CHANNELS)
        inward, recurrent = params["input"]["kernel"][:, part], params["recurrent"]
        return x @ inward + h @ recurrent["kernel"][:, part] + recurrent["bias"][part]

    new_c = sigmoid(gate(1)) * c + sigmoid(gate(0)) * np.tanh(gate(2))
    new_h = sigmoid(gate(3)) * np.tanh(new_c)
    state, y = jax.jit(m.cell_of("lstm", CHANNELS).apply)({"params": params}, (c, h), x)
    near((state, y), ((new_c, new_h), new_h))


def test_initial_lstm_gates_keep_the_state():
    cell = m.cell_of("lstm", 256, length=64)
    bias = cell.init(jax.random.key(0), m.state_of("lstm", 1, 256), jnp.zeros((1, 4)))["params"]["recurrent"]["bias"]
    take, keep, new, out = np.split(bias, 4)
    np.testing.assert_array_equal(take, -keep)
    assert np.all((keep >= 0.0) & (keep <= np.log(63.0)))
    assert not new.any() and not out.any()
    # A quarter of the channels keep more than a third of their state for thirty steps.
    assert np.mean(sigmoid(keep) ** 30 > 0.35) > 0.25


def test_a_step_of_gru_by_hand():
    params = params_of("gru")["params"]["cell"]
    h, x = random_memory("gru", 1, 1)[0], numbers(2, ROWS, WIDTH)

    def part(name, x):
        return x @ params[name]["kernel"] + params[name].get("bias", 0.0)

    reset, update = sigmoid(part("ir", x) + part("hr", h)), sigmoid(part("iz", x) + part("hz", h))
    new = (1 - update) * np.tanh(part("in", x) + reset * part("hn", h)) + update * h
    near(jax.jit(m.cell_of("gru", CHANNELS).apply)({"params": params}, h, x), (new, new))


def rwkv_by_hand(p, last, products, x):
    """RWKV-6's time mixing for one row of x, head by head."""
    x = x @ p["in"]["kernel"]
    seen = x + (last - x) * p["mix"]
    hidden = np.tanh(seen @ p["mix_down"]["kernel"]).reshape(5, m.LORA)
    r, k, v, w, g = (x + (last - x) * (p["mixes"][i] + hidden[i] @ p["mix_up"][i]) for i in range(5))
    r, k, v, g = (part @ p[name]["kernel"] for part, name in ((r, "receptance"), (k, "key"), (v, "value"), (g, "gate")))
    w = np.exp(-np.exp(p["decay"] + np.tanh(w @ p["decay_down"]["kernel"]) @ p["decay_up"]["kernel"]))
    kept, read = np.empty_like(products), np.empty(CHANNELS)
    for head in range(CHANNELS // HEAD):
        own = slice(head * HEAD, head * HEAD + HEAD)
        new = np.outer(k[own], v[own])
        mixed = r[own] @ (products[head] + np.diag(p["bonus"][own]) @ new)
        read[own] = (mixed - mixed.mean()) / np.sqrt(mixed.var() + 64e-5)
        kept[head] = np.diag(w[own]) @ products[head] + new
    read = read * p["norm"]["scale"] + p["norm"]["bias"]
    return (x, kept), (read * g * sigmoid(g)) @ p["out"]["kernel"]


def test_steps_of_rwkv_by_hand():
    params = params_of("rwkv")["params"]["cell"]
    step = jax.jit(m.cell_of("rwkv", CHANNELS, HEAD).apply)
    state = m.state_of("rwkv", ROWS, CHANNELS, HEAD)
    by_hand = [(np.zeros(CHANNELS), np.zeros((CHANNELS // HEAD, HEAD, HEAD)))] * ROWS
    for time in range(3):
        x = numbers(time, ROWS, WIDTH)
        state, y = step({"params": params}, state, x)
        steps = [rwkv_by_hand(params, *by_hand[row], x[row]) for row in range(ROWS)]
        by_hand = [kept for kept, _ in steps]
        near(y, np.stack([output for _, output in steps]), atol=1e-4)
    near(state, tuple(np.stack(part) for part in zip(*by_hand, strict=True)), atol=1e-4)


def test_rwkv_has_no_projection_if_the_width_fits():
    state, x = m.state_of("rwkv", ROWS, CHANNELS, HEAD), numbers(0, ROWS, CHANNELS)
    cell = m.cell_of("rwkv", CHANNELS, HEAD)
    assert "in" not in jax.eval_shape(cell.init, jax.random.key(0), state, x)["params"]


def test_rwkv_is_initialised_with_slow_and_fast_channels():
    kept = np.exp(-np.exp(m.from_slow_to_fast(jax.random.key(0), (64,))))
    assert kept[0] > 0.997 and 0.65 < kept[-1] < 0.7 and (np.diff(kept) < 0).all()


def test_transformer_memory_equals_an_encoder_layer_over_the_last_steps():
    params = params_of("transformer")["params"]["cell"]
    step = jax.jit(m.cell_of("transformer", CHANNELS, length=LENGTH).apply)
    state, past = m.state_of("transformer", ROWS, CHANNELS, length=LENGTH), numbers(1, TIME, ROWS, WIDTH)
    attention = {"query_key_value": params["query_key_value"], "out": params["out"]}
    shared = {name: params[name] for name in ("attention_norm", "mlp_norm", "mlp")}
    layer = jax.jit(EncoderLayer(CHANNELS, 2, rope=True).apply)
    tokens = np.zeros((ROWS, LENGTH, CHANNELS), np.float32)
    for time in range(TIME):
        state, y = step({"params": params}, state, past[time])
        tokens = np.concatenate([tokens[:, 1:], (past[time] @ params["project"]["kernel"])[:, None]], axis=1)
        there = np.broadcast_to(np.arange(LENGTH) >= LENGTH - 1 - time, (ROWS, LENGTH))
        newest = layer({"params": shared | {"attention": attention}}, tokens, there)[:, -1]
        near(y, RMSNorm().apply({"params": params["norm"]}, newest))


def test_no_memory_repeats_or_projects():
    x = numbers(0, ROWS, 4)
    repeats, projects = m.cell_of("none", 12), m.cell_of("none", 6)
    state, y = repeats.apply({}, (), x)
    assert state == () and not jax.eval_shape(repeats.init, jax.random.key(0), (), x)
    same(y, np.concatenate([x, x, x], axis=-1))
    kernel, bias = numbers(1, 4, 6), numbers(2, 6)
    near(projects.apply({"params": {"Dense_0": {"kernel": kernel, "bias": bias}}}, (), x)[1], x @ kernel + bias)


def by_steps(kind, rstate, x, done, main):
    outputs = []
    for time in range(len(x)):
        rstate, y = compiled(kind, "step")(params_of(kind), rstate, x[time], done[time], main[time])
        outputs.append(y)
    return rstate, np.stack(outputs)


@every_kind
@given(seed=seeds, seats=st.integers(1, 3))
@settings(max_examples=20)
def test_single_steps_equal_the_scan(kind, seed, seats):
    x, done, seat = steps_of(seed, seats + 1)
    # One seat has no memory: it is below or above all others.
    inputs = (random_memory(kind, seats, seed), x, done, seat - seed % 2)
    near(compiled(kind, "scan")(params_of(kind), *inputs), by_steps(kind, *inputs))


@every_kind
def test_each_seat_remembers_its_own_steps_of_its_own_game_only(kind):
    """Every output equals that of a single memory that saw only this seat's steps since the game began."""
    x, done, seat = steps_of(5, 3)
    _, outputs = compiled(kind, "scan")(params_of(kind), empty(kind, 3), x, done, seat)
    step = compiled(kind, "step")
    for row in range(ROWS):
        alone = [empty(kind, 1)] * 3
        for time in range(TIME):
            if done[time, row]:
                alone = [empty(kind, 1)] * 3
            own = seat[time, row]
            same_x = np.repeat(x[time, row][None], ROWS, axis=0)
            alone[own], y = step(params_of(kind), alone[own], same_x, np.zeros(ROWS, bool), np.zeros(ROWS, int))
            near(outputs[time, row], y[0])


@remembering
def test_memories_of_other_seats_are_unchanged(kind):
    before, x, seat = random_memory(kind, 3, 1), numbers(2, ROWS, WIDTH), np.array([0, 1, 2])
    after, _ = compiled(kind, "step")(params_of(kind), before, x, np.zeros(ROWS, bool), seat)
    for number, (ours, theirs) in enumerate(zip(after, before, strict=True)):
        pairs = zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True)
        changed = [np.asarray(our != their).reshape(ROWS, -1).any(axis=1) for our, their in pairs]
        np.testing.assert_array_equal(np.any(changed, axis=0), seat == number)


@remembering
def test_new_game_resets_all_memories_before_the_step(kind):
    x, seat = numbers(2, ROWS, WIDTH), np.array([0, 1, 1])
    step = compiled(kind, "step")
    fresh = step(params_of(kind), empty(kind, 2), x, np.zeros(ROWS, bool), seat)
    same(step(params_of(kind), random_memory(kind, 2, 1), x, np.ones(ROWS, bool), seat), fresh)
    _, remembered = step(params_of(kind), random_memory(kind, 2, 1), x, np.zeros(ROWS, bool), seat)
    assert not np.allclose(remembered, fresh[1], atol=1e-3)


@every_kind
def test_seats_may_have_a_small_integer_type(kind):
    x, done, seat = steps_of(3, 2)
    scan = compiled(kind, "scan")
    rstate = random_memory(kind, 2, 3)
    same(scan(params_of(kind), rstate, x, done, seat.astype(np.uint8)), scan(params_of(kind), rstate, x, done, seat))


@every_kind
def test_main_is_true_for_the_first_of_two(kind):
    x, done, seat = steps_of(3, 2)
    scan = compiled(kind, "scan")
    rstate = random_memory(kind, 2, 3)
    same(scan(params_of(kind), rstate, x, done, seat == 0), scan(params_of(kind), rstate, x, done, seat))


def test_booleans_are_rejected_for_three_seats():
    x, done, seat = steps_of(3, 3)
    with pytest.raises(LudusError, match="there are 3 memories"):
        Player("lstm").apply(params_of("lstm"), empty("lstm", 3), x, done, seat == 0, method="scan")


@functools.cache
def gradient_of(kind):
    """The gradient of the output at time 7 with respect to all inputs and the initial memory."""

    def answer(moving, rstate, x, done, seat, stop_every):
        rstate = jax.tree.map(lambda leaf, change: leaf if leaf.dtype == bool else leaf + change, rstate, moving[0])
        scan = functools.partial(Player(kind).apply, method="scan")
        return jnp.sum(scan(params_of(kind), rstate, x + moving[1], done, seat, stop_every)[1][7] ** 2)

    return jax.jit(jax.grad(answer), static_argnums=5)


@remembering
@pytest.mark.parametrize(("stop_every", "opens"), [(0, 0), (3, 6), (4, 4)])
def test_gradients_stop_only_at_multiples(kind, stop_every, opens):
    x, seat, done = numbers(0, TIME, ROWS, WIDTH), np.zeros((TIME, ROWS), int), np.zeros((TIME, ROWS), bool)
    rstate = empty(kind, 1)
    moving = (jax.tree.map(lambda leaf: jnp.zeros(leaf.shape), rstate), jnp.zeros_like(x))
    to_state, to_x = gradient_of(kind)(moving, rstate, x, done, seat, stop_every)
    assert np.isfinite(to_x).all()
    reached = np.abs(to_x).sum(axis=(1, 2)) > 0
    oldest = max(opens, 7 + 1 - LENGTH) if kind == "transformer" else opens
    np.testing.assert_array_equal(reached, (np.arange(TIME) >= oldest) & (np.arange(TIME) <= 7))
    if stop_every:
        assert not any(leaf.any() for leaf in jax.tree.leaves(to_state))
    elif kind != "transformer":
        assert any(leaf.any() for leaf in jax.tree.leaves(to_state))


@remembering
def test_stopping_gradients_does_not_change_outputs(kind):
    inputs = (random_memory(kind, 2, 1), *steps_of(4, 2))
    near(
        compiled(kind, "scan")(params_of(kind), *inputs, stop_every=2),
        compiled(kind, "scan")(params_of(kind), *inputs),
        1e-6,
    )


@every_kind
def test_gradients_are_finite_and_reach_all_parameters(kind):
    x, done, seat = steps_of(6, 2)

    def loss(params):
        return jnp.sum(Player(kind).apply(params, empty(kind, 2), x, done, seat, method="scan")[1] ** 2)

    leaves = jax.tree.leaves(jax.jit(jax.grad(loss))(params_of(kind)))
    assert leaves and all(np.isfinite(leaf).all() and leaf.any() for leaf in leaves)


@every_kind
def test_compiled_step_equals_plain_step(kind):
    x, done, seat = (part[0] for part in steps_of(7, 2))
    plain = Player(kind).apply(params_of(kind), random_memory(kind, 2, 1), x, done, seat, method="step")
    near(compiled(kind, "step")(params_of(kind), random_memory(kind, 2, 1), x, done, seat), plain)


@every_kind
def test_bfloat16_is_close_and_keeps_its_types(kind):
    x, done, seat = steps_of(8, 2)
    state, outputs = compiled(kind, "scan", jnp.bfloat16)(params_of(kind), empty(kind, 2, jnp.bfloat16), x, done, seat)
    same(
        jax.tree.map(lambda leaf: leaf.dtype, state),
        jax.tree.map(lambda leaf: leaf.dtype, empty(kind, 2, jnp.bfloat16)),
    )
    _, exact = compiled(kind, "scan")(params_of(kind), empty(kind, 2), x, done, seat)
    assert np.abs(np.asarray(outputs, np.float32) - exact).mean() < 0.03 * np.abs(exact).mean()


@pytest.mark.parametrize("kind", ["lstm", "gru", "rwkv"])
def test_accumulators_are_float32(kind):
    accumulator = jax.tree.leaves(m.state_of(kind, ROWS, CHANNELS, HEAD, dtype=jnp.bfloat16))[-1]
    assert accumulator.dtype == jnp.float32
