"""What a decision was worth: returns, GAE, V-trace and UPGO, for every seat, backwards through time.

Decision t leads from step t to step t+1, and what it brought stands there: T decisions between T+1 steps, time first,
[T+1, N, P] for P seats. Nothing crosses from one game into the next (`valid_steps`), and no gradient flows through.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from ludus.types import LudusError

Array = jax.Array


def valid_steps(first: Array) -> Array:
    """Which decisions are decisions: `first` [T+1, N] to booleans [T, N].

    After the last step of a game the row opens a new one whatever is answered, so decision t counts unless step t+1 is
    `first`. In a rollout where step k is the last of its game:

    | step k      | reward[k] | discount[k] | decision k-1 (the last move)   | decision k (opens the next game)     |
    |-------------|-----------|-------------|--------------------------------|--------------------------------------|
    | truly over  | earned    | 0           | counts: r - V[k-1]             | weight 0, advantage 0, target V[k]   |
    | cut off     | earned    | 1           | counts: r + γ V[k] - V[k-1]    | weight 0, advantage 0, target V[k]   |

    V[k] is the last thing that belongs to the old game, and as advantage k is 0 nothing comes through from beyond. The
    opening step k+1 has reward 0 and discount 1, neither of which anyone reads; decision k+1 is the new game's first.
    """
    return jnp.logical_not(jnp.asarray(first, bool)[1:])


def acting(per_seat: Array, seat: Array) -> Array:
    """The number of the seat that acted, [T, N, P] to [T, N]; `seat` is [T, N] or the steps' own [T+1, N]."""
    index = jnp.asarray(seat, jnp.int32)[: per_seat.shape[0], :, None]
    return jnp.take_along_axis(per_seat, index, axis=-1)[..., 0]


def acts(seat: Array, seats: int) -> Array:
    """Whether each seat is the one to act: [T, N] to booleans [T, N, P]."""
    return jnp.asarray(seat, jnp.int32)[..., None] == jnp.arange(seats)


def seat_ratios(ratio: Array, seat: Array, seats: int) -> Array:
    """π(a) / μ(a) of each decision, [T, N], as each seat sees it, [T, N, P]: 1 for the seats that did not act.

    What the others do is part of the world, as it was met. To ask instead what each seat would get if all of them
    changed to π together, give V-trace `ratio[..., None]`.
    """
    return jnp.where(acts(seat[: ratio.shape[0]], seats), ratio[..., None], 1.0)


class Transitions(NamedTuple):
    """What T decisions led from and to."""

    reward: Array
    """[T, N, P] what it brought to each seat"""
    keep: Array
    """[T, N, 1] γ times the discount of the step after it: how much of the future counts"""
    valid: Array
    """[T, N, 1] whether it was a decision"""
    value: Array
    """[T, N, P] predicted before it"""
    following: Array
    """[T, N, P] predicted after it"""

    @property
    def error(self) -> Array:
        """[T, N, P] the one-step error δ_t = r_{t+1} + γ_{t+1} V_{t+1} - V_t; 0 where nothing was decided."""
        return jnp.where(self.valid, self.reward + kept(self.keep, self.following) - self.value, 0.0)


def transitions(reward: Array, discount: Array, first: Array, value: Array, gamma: float | Array) -> Transitions:
    """Steps as transitions; the shapes are checked, for a missing step would broadcast in silence."""
    wide, narrow = jnp.shape(reward), jnp.shape(discount)
    if len(wide) != 3 or jnp.shape(value) != wide or narrow != wide[:2] or jnp.shape(first) != narrow:
        raise LudusError(
            f"reward {wide} and value {jnp.shape(value)} must both be [T+1, N, P], discount {narrow} and first "
            f"{jnp.shape(first)} both [T+1, N]: give all T+1 steps, and a value for each of them"
        )
    reward, discount, value = jnp.asarray(reward), jnp.asarray(discount), jnp.asarray(value)
    valid = valid_steps(first)[..., None]
    return Transitions(reward[1:], gamma * discount[1:, :, None], valid, value[:-1], value[1:])


def kept(keep: Array, future: Array) -> Array:
    """keep × future, where a game that is over has no future, not even one that is NaN."""
    return jnp.where(keep == 0, 0.0, keep * future)


def accumulate(increment: Array, keep: Array, last: Array, parallel: bool = False) -> Array:
    """x_t = increment_t + keep_t x_{t+1} backwards from x_T = last: [T, ...], [T, ...] and [...] to [T, ...].

    `parallel` computes the same in log T steps instead of T, for devices with cores to spare.
    """
    keep = jnp.broadcast_to(keep, increment.shape)
    if parallel:
        ends = jnp.concatenate([increment, last[None]]), jnp.concatenate([keep, jnp.zeros_like(last)[None]])
        return jax.lax.associative_scan(_joined, ends, reverse=True)[0][:-1]

    def total(after: Array, here: tuple[Array, Array]) -> tuple[Array, Array]:
        now = here[0] + kept(here[1], after)
        return now, now

    return jax.lax.scan(total, last, (increment, keep), reverse=True)[1]


def _joined(later: tuple[Array, Array], earlier: tuple[Array, Array]) -> tuple[Array, Array]:
    """Two stretches of x → increment + keep x as one."""
    return earlier[0] + kept(earlier[1], later[0]), earlier[1] * later[1]


def discounted_returns(
    reward: Array, discount: Array, first: Array, value: Array, gamma: float | Array, parallel: bool = False
) -> Array:
    """Monte Carlo returns G_t = r_{t+1} + γ_{t+1} G_{t+1}, [T, N, P], where γ_{t+1} = γ discount_{t+1}.

    Where the rollout ends, or a game is cut off, the value of the step stands for what is not seen: G_k = V_k. Without
    a critic give zeros.
    """
    moves = transitions(reward, discount, first, value, gamma)
    increment = jnp.where(moves.valid, moves.reward, moves.value)
    keep = jnp.where(moves.valid, moves.keep, 0.0)
    return jax.lax.stop_gradient(accumulate(increment, keep, moves.following[-1], parallel))


def gae(
    reward: Array,
    discount: Array,
    first: Array,
    value: Array,
    gamma: float | Array,
    lambda_: float | Array,
    parallel: bool = False,
) -> Array:
    """Generalised advantage estimation, A_t = δ_t + γ_{t+1} λ A_{t+1}, [T, N, P]; λ is `lambda_`.

    reward and value are [T+1, N, P], discount and first [T+1, N], as `Step` has them;
    δ_t = r_{t+1} + γ_{t+1} V_{t+1} - V_t. What the critic should have said, the λ-return, is A_t + V_t. Every seat has
    its chain through all steps, whoever acts; the policy learns from that of the seat that acted (`acting`).
    Schulman et al. 2015, https://arxiv.org/abs/1506.02438
    """
    moves = transitions(reward, discount, first, value, gamma)
    keep = jnp.where(moves.valid, lambda_ * moves.keep, 0.0)
    return jax.lax.stop_gradient(accumulate(moves.error, keep, jnp.zeros_like(moves.value[0]), parallel))


def own_values(reward: Array, discount: Array, first: Array, value: Array, seat: Array, gamma: float | Array) -> Array:
    """Values [T+1, N, P] in which every seat is heard at its own decisions alone.

    Where another seat acts (`seat` [T+1, N]), the value of a seat is what its next own decision says, V_t = r_{t+1} +
    γ_{t+1} V_{t+1}: its chain then runs from one decision of its own to the next. Others judge a position by what they
    alone know, and a critic judges them by how they play: with either, it would seem worth something to hand over the
    move. Where the rollout ends before the next own decision, what the last one said still stands.
    """
    moves = transitions(reward, discount, first, value, gamma)
    deciding = acts(seat, moves.value.shape[-1])
    others = moves.valid & ~deciding[:-1]
    increment = jnp.where(others, moves.reward, moves.value)
    last = last_said(jnp.asarray(value), deciding | jnp.asarray(first, bool)[..., None])
    found = accumulate(increment, jnp.where(others, moves.keep, 0.0), last)
    return jnp.concatenate([found, last[None]])


def last_said(value: Array, heard: Array) -> Array:
    """The newest of [T+1, …] values that are heard, or the first of all."""

    def listen(before: Array, now: tuple[Array, Array]) -> tuple[Array, None]:
        return jnp.where(now[1], now[0], before), None

    return jax.lax.scan(listen, value[0], (value, heard))[0]


class VTrace(NamedTuple):
    """What V-trace says of T decisions, each [T, N, P]."""

    target: Array
    """v_t, what the critic should have said"""
    advantage: Array
    """r_{t+1} + γ_{t+1} v_{t+1} - V_t, not yet weighted: a surrogate loss has the ratio in itself"""
    weight: Array
    """ρ_t, the weight of the advantage in a plain policy gradient; 0 where nothing was decided"""


def vtrace(
    reward: Array,
    discount: Array,
    first: Array,
    value: Array,
    ratio: Array,
    gamma: float | Array,
    lambda_: float | Array = 1.0,
    rho_clip: float = 1.0,
    c_clip: float = 1.0,
) -> VTrace:
    """V-trace: v_t = V_t + ρ_t δ_t + γ_{t+1} c_t (v_{t+1} - V_{t+1}), with ρ = min(ρ̄, π/μ) and c = λ min(c̄, π/μ).

    `ratio` π/μ is [T, N, P] from `seat_ratios`, or [T, N, 1] to share it among the seats. ρ̄ chooses the policy that is
    valued, c̄ how far errors travel back. Espeholt et al. 2018, https://arxiv.org/abs/1802.01561
    """
    moves = transitions(reward, discount, first, value, gamma)
    ratio = jnp.where(moves.valid, ratio, 0.0)
    weight = jnp.broadcast_to(jnp.minimum(rho_clip, ratio), moves.value.shape)
    last = jnp.zeros_like(moves.value[:1])
    keep = moves.keep * lambda_ * jnp.minimum(c_clip, ratio)
    surprise = accumulate(weight * moves.error, keep, last[0])
    following = moves.following + jnp.concatenate([surprise[1:], last])
    advantage = moves._replace(following=following).error
    return VTrace(*jax.lax.stop_gradient((moves.value + surprise, advantage, weight)))


def upgo(reward: Array, discount: Array, first: Array, value: Array, seat: Array, gamma: float | Array) -> Array:
    """Upgoing returns: G_t = r_{t+1} + γ_{t+1} (G_{t+1} if Q_{t+1} ≥ V_{t+1} else V_{t+1}), [T, N, P].

    A seat follows what really happened while its own decisions turned out at least as good as expected, and falls back
    on the critic at its first worse one, so that a late mistake does not blame the moves before it. Q runs from one
    decision of the seat to its next: at the moves of others (`seat` [T+1, N] tells) both G and Q go on, for their
    mistakes are no merit of ours. Vinyals et al. 2019, https://doi.org/10.1038/s41586-019-1724-z
    """
    moves = transitions(reward, discount, first, value, gamma)
    own = acts(seat, moves.value.shape[-1])[1:]

    def returns(after: tuple[Array, Array], here: tuple[Transitions, Array]) -> tuple[tuple[Array, Array], Array]:
        move, decides = here
        better = jnp.where(decides & (after[1] < move.following), move.following, after[0])
        expected = jnp.where(decides, move.following, after[1])
        pair = [
            jnp.where(move.valid, move.reward + kept(move.keep, future), move.value) for future in (better, expected)
        ]
        return (pair[0], pair[1]), pair[0]

    last = moves.following[-1]
    return jax.lax.stop_gradient(jax.lax.scan(returns, (last, last), (moves, own), reverse=True)[1])
