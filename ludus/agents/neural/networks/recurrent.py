"""The network for complex games: entities, a memory for every seat, and action tokens.

Encoder -> state -> memory of the seat to move -> policy and value. Over time only the memory is scanned.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from ludus.agents.neural.networks import kinds_of
from ludus.agents.neural.networks.encoders import Encoded, Encoder
from ludus.agents.neural.networks.heads import ILLEGAL, Actor, Critic, CrossCritic, FiLMActor, GaussianActor
from ludus.agents.neural.networks.layout import Layout, blank, check_shapes
from ludus.agents.neural.networks.memory import (
    Cell,
    State,
    cell_of,
    chosen,
    rnn_forward_2p,
    rnn_step_by_main,
    seat_of,
    state_of,
)
from ludus.agents.neural.networks.settings import ModelArgs
from ludus.agents.neural.networks.transformer import heads_for
from ludus.agents.protocol import Params
from ludus.types import Continuous, Discrete, LudusError

if TYPE_CHECKING:
    from ludus.agents.neural.networks import NetworkPolicy

Array = jax.Array


class RNNAgent(nn.Module):
    """Observation and memory to memory, policy and value; see `ModelArgs` for its settings."""

    layout: Layout
    args: ModelArgs
    outputs: int
    """number of value outputs; the first is for the player to move"""
    actions: Discrete | Continuous
    seats: int = 1
    stop_every: int = 0
    """steps after which gradients through the memory are stopped; 0 for never"""
    axis_name: str | None = None
    """the axis of devices over which a CrossCritic shares its statistics"""
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    def init_rnn_state(self, rows: int) -> tuple[State, ...]:
        """The initial memory for each seat; () for networks without memory."""
        args = self.args
        if args.rnn_type == "none" and not args.oppo_info:
            return ()
        empty = state_of(
            args.rnn_type, rows, args.rnn_channels, args.rwkv_head_size, args.memory_length, dtype=self.dtype
        )
        if args.oppo_info:
            # Besides its memory, the last output of each seat, because the critic sees all seats.
            empty = (empty, jnp.zeros((rows, args.rnn_channels), jnp.float32))
        return (empty,) * self.seats

    @nn.compact
    def __call__(
        self,
        x: Mapping[str, Array],
        rstate: tuple[State, ...] = (),
        done: Array | None = None,
        switch_or_main: Array | None = None,
        train: bool = False,
        legal: Array | None = None,
    ) -> tuple[tuple[State, ...], NetworkPolicy, Array, Array] | tuple[tuple[State, ...], NetworkPolicy, Array]:
        """(rstate, logits [B, A] or (mean, log deviation), value [B, outputs], valid [B]); no value with q_head.

        `B` is N, the rows of `rstate`, or T · N for T steps, ordered by time and then by row. `done` [B] marks steps
        that open a game. `switch_or_main` [B] is the seat to move; as booleans, whether it is the first of two seats,
        or with `switch` whether the steps of the other seat begin here, in sequences sorted by seat.
        """
        check_agent(self)
        batch = check_shapes(self.layout, x, self.args.oppo_info)
        encoded = self._encoder()(x, legal)
        rows = memory_rows(rstate, self.seats, batch)
        done = jnp.zeros(batch, bool) if done is None else jnp.asarray(done, bool)
        main = self._main(switch_or_main, rstate, batch)
        over_time = [part.reshape(batch // rows, rows, *part.shape[1:]) for part in (encoded.state, done, main)]
        rstate, remembered, from_others = self._remember(rstate, *over_time)
        known = remembered.reshape(batch, -1)
        known = jnp.concatenate([known, encoded.state], axis=-1) if self.args.rnn_shortcut else known
        policy = self._policy(known, encoded)
        if self.args.q_head:
            return rstate, policy, encoded.valid
        return rstate, policy, self._value(known, from_others, encoded, train), encoded.valid

    def _encoder(self) -> Encoder:
        out = self.args.rnn_channels if self.args.rnn_type == "rwkv" else self.args.num_channels
        choices = self.actions.n if isinstance(self.actions, Discrete) else 0
        return Encoder(self.layout, self.args.encoder, choices, out, **kinds_of(self), name="encoder")

    def _main(self, given: Array | None, rstate: tuple[State, ...], batch: int) -> Array:
        if given is None and len(rstate) > 1 and not self.args.switch:
            raise LudusError(f"there are {self.seats} memories; pass the seat to move (switch_or_main)")
        return jnp.zeros(batch, jnp.int32) if given is None else jnp.asarray(given)

    def _remember(
        self, rstate: tuple[State, ...], state: Array, done: Array, main: Array
    ) -> tuple[tuple[State, ...], Array, Array | None]:
        """Memory over time: [T, N, c] to the new rstate, [T, N, r], and with oppo_info outputs of the other seats."""
        args = self.args
        cell = cell_of(args.rnn_type, args.rnn_channels, args.rwkv_head_size, args.memory_length, **kinds_of(self))
        if not rstate:
            return rstate, cell((), state)[1], None
        if args.switch and main.dtype == bool:
            return *switched(cell, rstate, state, done, main), None
        outputs: tuple[Array, ...] = ()
        if args.oppo_info:
            rstate, outputs = tuple(own[0] for own in rstate), tuple(own[1] for own in rstate)
        if state.shape[0] == 1:
            rstate, now = rnn_step_by_main(cell, rstate, state[0], done[0], main[0])
            remembered = now[None]
        else:
            rstate, remembered = rnn_forward_2p(cell, rstate, state, done, main, self.stop_every)
        if not args.oppo_info:
            return rstate, remembered, None
        outputs, from_others = outputs_of_others(outputs, remembered, done, seat_of(main, self.seats))
        return tuple(zip(rstate, outputs, strict=True)), remembered, from_others

    def _policy(self, known: Array, encoded: Encoded) -> NetworkPolicy:
        if isinstance(self.actions, Continuous):
            return GaussianActor(len(self.actions.low), **kinds_of(self), name="actor")(known)
        channels = self.args.num_channels
        film = partial(FiLMActor, channels, heads_for(channels), self.args.noam)
        actor = (film if self.args.film else partial(Actor, channels))(**kinds_of(self), name="actor")
        return widened(actor(known, encoded.actions, encoded.legal), self.actions.n)

    def _value(self, known: Array, from_others: Array | None, encoded: Encoded, train: bool) -> Array:
        """[B, outputs], and one more column for intrinsic rewards with int_head."""
        if self.args.oppo_info:
            more = [part for part in (from_others, encoded.hidden) if part is not None]
            flat = [part.reshape(known.shape[0], -1).astype(known.dtype) for part in more]
            # With rnn_shortcut the state is already included.
            state = [] if self.args.rnn_shortcut else [encoded.state]
            known = jnp.concatenate([known, *flat, *state], axis=-1)
        value = self._critic(self.outputs, known, train, "critic")
        if not self.args.int_head:
            return value
        return jnp.concatenate([value, self._critic(1, known, train, "curiosity")], axis=-1)

    def _critic(self, outputs: int, known: Array, train: bool, name: str) -> Array:
        widths = (self.args.critic_width,) * self.args.critic_depth
        if self.args.batch_norm:
            critic = CrossCritic(widths, outputs, axis_name=self.axis_name, **kinds_of(self), name=name)
            return critic(known, train)
        return Critic(widths, outputs, **kinds_of(self), name=name)(known)


def folded(network: RNNAgent, variables: Params) -> Params:
    """The variables with precomputed projections of all ids, for many decisions with the same parameters.

    The outputs are the same, but faster; gradients do not flow into the projections.
    """
    return {**variables, **_projections(network, variables)}


@partial(jax.jit, static_argnums=0)
def _projections(network: RNNAgent, variables: Params) -> Params:
    rows = (blank(network.layout, 1), network.init_rnn_state(1))
    learned = {name: part for name, part in variables.items() if name != "folded"}
    return network.apply(learned, *rows, switch_or_main=jnp.zeros(1, jnp.int32), mutable=["folded"])[1]


def check_agent(agent: RNNAgent) -> None:
    """Raise LudusError if the settings do not suit the game."""
    args = agent.args
    if args.q_head and isinstance(agent.actions, Continuous):
        raise LudusError("q_head needs discrete actions, but this game's actions are continuous; turn it off")
    if args.oppo_info and agent.seats < 2 and not agent.layout.hidden:
        raise LudusError(
            "oppo_info shows the critic other seats or hidden fields, but this game has neither; turn it off"
        )
    if args.switch and agent.seats != 2:
        raise LudusError(f"switch is for sequences of two seats, but this game has {agent.seats}; turn it off")


def widened(logits: Array, actions: int) -> Array:
    """[B, A] logits for all actions; those whose tokens were cut off are illegal."""
    missing = actions - logits.shape[1]
    return jnp.pad(logits, ((0, 0), (0, missing)), constant_values=ILLEGAL) if missing else logits


def memory_rows(rstate: tuple[State, ...], seats: int, batch: int) -> int:
    """The number of rows of a memory; without a memory, the size of the batch. Raises LudusError if they do not fit."""
    leaves = jax.tree.leaves(rstate)
    if not leaves:
        return batch
    if len(rstate) != seats:
        raise LudusError(f"there are {len(rstate)} memories for {seats} seats; create them with init_rnn_state")
    rows = int(leaves[0].shape[0])
    if not rows or batch % rows:
        raise LudusError(f"a batch of {batch} is not a multiple of {rows} rows; use the same rows for both")
    return rows


def outputs_of_others(
    outputs: tuple[Array, ...], remembered: Array, done: Array, seat: Array
) -> tuple[tuple[Array, ...], Array]:
    """The last output of every seat, and at each step those of the others, from the next seat on: [T, N, (P-1) · r]."""

    def step(last: Array, now: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        output, done, seat = now
        last = jnp.where(done[None, :, None], 0.0, last)
        last = jnp.where((jnp.arange(seats)[:, None] == seat)[..., None], output.astype(last.dtype), last)
        order = (seat + jnp.arange(1, seats)[:, None]) % seats
        return last, jnp.take_along_axis(last, order[..., None], axis=0)

    seats = len(outputs)
    last, found = jax.lax.scan(step, jnp.stack(outputs), (remembered, done, seat))
    return tuple(last), jnp.moveaxis(found, 1, 2).reshape(*found.shape[:1], found.shape[2], -1)


def switched(
    cell: Cell, rstate: tuple[State, ...], x: Array, done: Array, switch: Array
) -> tuple[tuple[State, ...], Array]:
    """Memory over sequences with first one seat's steps and then the other's; `switch` marks where they change.

    `done` resets only the memory in use: the other seat's steps are elsewhere in the sequence, with their own `done`.
    """

    def step(
        cell: Cell, carry: tuple[State, State], now: tuple[Array, Array, Array]
    ) -> tuple[tuple[State, State], Array]:
        (own, other), (x, done, switch) = carry, now
        own, other = chosen(switch, other, own), chosen(switch, own, other)
        own = chosen(done, jax.tree.map(jnp.zeros_like, own), own)
        new, y = cell(own, x)
        return (chosen(jnp.ones_like(done), new, own), other), y

    scan = nn.scan(step, variable_broadcast="params", split_rngs={"params": False})
    (own, other), remembered = scan(cell, (rstate[0], rstate[1]), (x, done, switch))
    odd = switch.sum(axis=0) % 2 == 1
    return (chosen(odd, other, own), chosen(odd, own, other)), remembered
