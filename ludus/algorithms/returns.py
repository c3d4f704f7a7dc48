"""Returns and advantages of every seat: discounted returns, GAE, V-trace and UPGO, computed backwards through time.

A rollout has T decisions between T+1 steps. Decision t leads from step t to step t+1, which holds its reward. Arrays
are [T+1, N, P]: time, rows, seats. No return crosses from one game into the next (`valid_steps`), and the results have
no gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from ludus.types import LudusError

Array = jax.Array


def valid_steps(first: Array) -> Array:
    """The decisions that are learned from: `first` [T+1, N] to booleans [T, N].

    After the last step of a game the row starts a new game and ignores its action, so decision t is valid unless step
    t+1 is `first`. In a rollout where step k is the last step of its game:

    | step k      | reward[k] | discount[k] | decision k-1 (the last move)   | decision k (starts the next game)    |
    |-------------|-----------|-------------|--------------------------------|--------------------------------------|
    | terminated  | r         | 0           | valid, δ = r - V[k-1]          | weight 0, advantage 0, target V[k]   |
    | truncated   | r         | 1           | valid, δ = r + γ V[k] - V[k-1] | weight 0, advantage 0, target V[k]   |

    V[k] is the last value of the old game. Advantage k is 0, so later games do not affect earlier decisions. Step k+1
    has reward 0 and discount 1, which are not used; decision k+1 is the first of the new game.
    """
    return jnp.logical_not(jnp.asarray(first, bool)[1:])


def acting(per_seat: Array, seat: Array) -> Array:
    """The values of the seat that acted, [T, N, P] to [T, N]; `seat` is [T, N], or [T+1, N] as in the steps."""
    index = jnp.asarray(seat, jnp.int32)[: per_seat.shape[0], :, None]
    return jnp.take_along_axis(per_seat, index, axis=-1)[..., 0]


def acts(seat: Array, seats: int) -> Array:
    """Whether each seat is the one to act: [T, N] to booleans [T, N, P]."""
    return jnp.asarray(seat, jnp.int32)[..., None] == jnp.arange(seats)


def seat_ratios(ratio: Array, seat: Array, seats: int) -> Array:
    """Importance ratios π(a) / μ(a) by seat: [T, N] to [T, N, P], with 1 for the seats that did not act.

    Decisions of other seats are treated as part of the environment. To estimate returns for the case that all seats
    change to π together, pass `ratio[..., None]` to V-trace instead.
    """
    return jnp.where(acts(seat[: ratio.shape[0]], seats), ratio[..., None], 1.0)


class Transitions(NamedTuple):
    """The transitions of T decisions."""

    reward: Array
    """[T, N, P] reward of each seat"""
    keep: Array
    """[T, N, 1] γ times the discount of the next step"""
    valid: Array
    """[T, N, 1] False where the row only starts a new game; see `valid_steps`"""
    value: Array
    """[T, N, P] predicted before the decision"""
    following: Array
    """[T, N, P] predicted after the decision"""

    @property
    def error(self) -> Array:
        """[T, N, P] TD error δ_t = r_{t+1} + γ_{t+1} V_{t+1} - V_t; 0 where the decision is not valid."""
        return jnp.where(self.valid, self.reward + kept(self.keep, self.following) - self.value, 0.0)


def transitions(reward: Array, discount: Array, first: Array, value: Array, gamma: float | Array) -> Transitions:
    """Steps as transitions; shapes are checked, because a missing step would be broadcast without an error."""
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
    """keep × future, and 0 where keep is 0, even if the future value is NaN or infinite."""
    return jnp.where(keep == 0, 0.0, keep * future)


def accumulate(increment: Array, keep: Array, last: Array, parallel: bool = False) -> Array:
    """x_t = increment_t + keep_t x_{t+1} backwards from x_T = last: [T, ...], [T, ...] and [...] to [T, ...].

    `parallel` uses an associative scan of depth log T instead of T sequential steps, which is faster on devices with
    idle cores.
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
    """The composition of two maps x → increment + keep x."""
    return earlier[0] + kept(earlier[1], later[0]), earlier[1] * later[1]


def discounted_returns(
    reward: Array, discount: Array, first: Array, value: Array, gamma: float | Array, parallel: bool = False
) -> Array:
    """Monte Carlo returns G_t = r_{t+1} + γ_{t+1} G_{t+1}, [T, N, P], where γ_{t+1} = γ discount_{t+1}.

    At the end of the rollout and after a truncation the return is bootstrapped from the value: G_k = V_k. Without a
    critic, pass zeros as values.
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

    reward and value are [T+1, N, P], discount and first [T+1, N], as in `Step`; δ_t = r_{t+1} + γ_{t+1} V_{t+1} - V_t.
    The target of the critic, the λ-return, is A_t + V_t. Advantages of each seat are accumulated over all steps,
    including those of other seats; the policy learns from the advantages of the seat that acted (`acting`).
    Schulman et al. 2015, https://arxiv.org/abs/1506.02438
    """
    moves = transitions(reward, discount, first, value, gamma)
    keep = jnp.where(moves.valid, lambda_ * moves.keep, 0.0)
    return jax.lax.stop_gradient(accumulate(moves.error, keep, jnp.zeros_like(moves.value[0]), parallel))


def own_values(reward: Array, discount: Array, first: Array, value: Array, seat: Array, gamma: float | Array) -> Array:
    """Values [T+1, N, P] that use the critic only at a seat's own decisions.

    Where another seat acts (`seat` [T+1, N]), the value of a seat is computed from its next own decision,
    V_t = r_{t+1} + γ_{t+1} V_{t+1}, so its TD errors span from one own decision to the next. The critic's values at the
    decisions of other seats depend on what those seats know and on how they play; with these values, passing the turn
    could appear to be an advantage. If the rollout ends before the next own decision, the latest own value is used.
    """
    moves = transitions(reward, discount, first, value, gamma)
    deciding = acts(seat, moves.value.shape[-1])
    others = moves.valid & ~deciding[:-1]
    increment = jnp.where(others, moves.reward, moves.value)
    last = latest_value(jnp.asarray(value), deciding | jnp.asarray(first, bool)[..., None])
    found = accumulate(increment, jnp.where(others, moves.keep, 0.0), last)
    return jnp.concatenate([found, last[None]])


def latest_value(value: Array, used: Array) -> Array:
    """The last of the values [T+1, …] that `used` marks, or the first value if it marks none."""

    def latest(before: Array, now: tuple[Array, Array]) -> tuple[Array, None]:
        return jnp.where(now[1], now[0], before), None

    return jax.lax.scan(latest, value[0], (value, used))[0]


class VTrace(NamedTuple):
    """The result of V-trace for T decisions, each [T, N, P]."""

    target: Array
    """v_t, the target of the critic"""
    advantage: Array
    """r_{t+1} + γ_{t+1} v_{t+1} - V_t, not multiplied by ρ_t, because a surrogate loss contains the ratio itself"""
    weight: Array
    """ρ_t, the weight of the advantage in a plain policy gradient; 0 where the decision is not valid"""


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

    `ratio` π/μ is [T, N, P] from `seat_ratios`, or [T, N, 1] to use it for all seats. ρ̄ determines the policy whose
    value is learned, c̄ how far errors propagate back. Espeholt et al. 2018, https://arxiv.org/abs/1802.01561
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

    The return of a seat follows the rollout as long as its own decisions were at least as good as the critic expected,
    and is bootstrapped from the critic at the first worse one, so that a late mistake does not lower the returns of
    earlier decisions. Q spans from one decision of the seat to its next: at decisions of other seats (`seat` [T+1, N])
    both G and Q continue, so that mistakes of opponents are not credited to this seat. Vinyals et al. 2019,
    https://doi.org/10.1038/s41586-019-1724-z
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
