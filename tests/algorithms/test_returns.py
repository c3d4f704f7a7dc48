"""Returns: values by hand, plain loops, and that nothing leaks from one game to another."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus.algorithms import returns
from ludus.pool import Pool
from ludus.types import LudusError

T, N, P = 9, 4, 2
GAMMA, TRACE = 0.9, 0.7
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=25)
plain_and_jit = pytest.mark.parametrize("compiled", [False, True], ids=["plain", "jit"])

# The same compiled functions for every example: shapes never change.
gae = jax.jit(returns.gae)
monte_carlo = jax.jit(returns.discounted_returns)
vtrace = jax.jit(returns.vtrace)
upgo = jax.jit(returns.upgo)
own_values = jax.jit(returns.own_values)
parallel_gae = jax.jit(functools.partial(returns.gae, parallel=True))
parallel_monte_carlo = jax.jit(functools.partial(returns.discounted_returns, parallel=True))


def column(*numbers):
    """[T, 1] of one row."""
    return np.array(numbers, np.float32)[:, None]


def solo(*numbers):
    """[T, 1, 1] of one row and one seat."""
    return column(*numbers)[..., None]


# One row, one seat, six steps: a game that terminates at step 2, then one that is truncated at step 5.
TWO_GAMES = {
    "reward": solo(0, 1, 2, 0, 3, 4),
    "discount": column(1, 1, 0, 1, 1, 1),
    "first": np.array([1, 0, 0, 1, 0, 0], bool)[:, None],
    "value": solo(10, 20, 30, 40, 50, 60),
}


def random_steps(seed):
    """T+1 steps of N rows that follow the table of docs/architecture.md and start anywhere in a game."""
    rng = np.random.default_rng(seed)
    reward = rng.normal(size=(T + 1, N, P))
    discount, first = np.ones((T + 1, N)), np.zeros((T + 1, N), bool)
    over = rng.random(N) < 0.3
    for t in range(T + 1):
        first[t] = over
        ends, cut = rng.random(N) < 0.35, rng.random(N) < 0.5
        over = ends & ~first[t]
        discount[t] = np.where(over & ~cut, 0.0, 1.0)
        reward[t][first[t]] = 0.0
    seat = rng.integers(0, P, (T + 1, N))
    value = rng.normal(size=(T + 1, N, P))
    return {"reward": reward, "discount": discount, "first": first, "value": value}, seat, rng


def loop(fill):
    """[T, N, P] of `fill(t, n, p)`, computed backwards in time."""
    answer = np.zeros((T, N, P))
    for t in reversed(range(T)):
        for n in range(N):
            for p in range(P):
                answer[t, n, p] = fill(t, n, p)
    return answer


def last_step_of_game(steps, t, n):
    """The step where the game of step t ends, or the rollout does."""
    k = t
    while k < T and not steps["first"][k + 1, n]:
        k += 1
    return k


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


def test_valid_steps_and_the_seat_that_acted():
    assert returns.valid_steps(TWO_GAMES["first"])[:, 0].tolist() == [True, True, False, True, True]
    per_seat = np.arange(8.0).reshape(2, 2, 2)  # [T=2, N=2, P=2]
    seat = np.array([[0, 1], [1, 0], [1, 1]], np.int8)  # of the steps, one more than of decisions
    assert returns.acting(per_seat, seat).tolist() == [[0, 3], [5, 6]]
    assert returns.acting(per_seat, seat[:2]).tolist() == [[0, 3], [5, 6]]
    ratio = np.array([[2.0, 3.0], [4.0, 5.0]])
    expected = [[[2, 1], [1, 3]], [[1, 4], [5, 1]]]
    assert returns.seat_ratios(ratio, seat, 2).tolist() == expected


@plain_and_jit
def test_returns_by_hand(compiled):
    function = monte_carlo if compiled else returns.discounted_returns
    got = function(**TWO_GAMES, gamma=0.5)[:, 0, 0]
    # t=4: 4 + .5×60 (truncated)   t=3: 3 + .5×34   t=2: a game starts: V = 30   t=1: 2 (over)   t=0: 1 + .5×2
    np.testing.assert_allclose(got, [2, 2, 30, 20, 34], rtol=1e-6)


@plain_and_jit
@pytest.mark.parametrize("parallel", [False, True])
def test_gae_by_hand(compiled, parallel):
    function = functools.partial(returns.gae, **TWO_GAMES, parallel=parallel)
    got = (jax.jit(function) if compiled else function)(gamma=0.5, lambda_=0.5)[:, 0, 0]
    # δ: 1 + .5×20 - 10 = 1;  2 - 20 = -18 (over);  0 (no decision);  3 + .5×50 - 40 = -12;  4 + .5×60 - 50 = -16
    # A4 = -16;  A3 = -12 + .25×-16 = -16;  A2 = 0;  A1 = -18;  A0 = 1 + .25×-18 = -3.5
    np.testing.assert_allclose(got, [-3.5, -18, 0, -16, -16], rtol=1e-6)


@plain_and_jit
def test_vtrace_by_hand(compiled):
    function = vtrace if compiled else returns.vtrace
    ratio = solo(0.5, 2, 7, 0.25, 4)
    got = function(**TWO_GAMES, ratio=ratio, gamma=0.5)
    # ρ = c = min(1, ratio): .5, 1, (0: no decision), .25, 1; δ as in the test of GAE: 1, -18, 0, -12, -16
    # v - V: t4 = 1×-16;  t3 = .25×-12 + .5×.25×-16 = -5;  t2 = 0;  t1 = -18;  t0 = .5×1 + .5×.5×-18 = -4
    np.testing.assert_allclose(got.target[:, 0, 0], [6, 2, 30, 35, 34], rtol=1e-6)
    # t4: 4 + .5×60 - 50;  t3: 3 + .5×34 - 40;  t1: 2 - 20;  t0: 1 + .5×2 - 10
    np.testing.assert_allclose(got.advantage[:, 0, 0], [-8, -18, 0, -20, -16], rtol=1e-6)
    np.testing.assert_allclose(got.weight[:, 0, 0], [0.5, 1, 0, 0.25, 1], rtol=1e-6)


@plain_and_jit
def test_upgo_by_hand(compiled):
    function = upgo if compiled else returns.upgo
    steps = {
        "reward": solo(0, 1, 1, 1, 1),
        "discount": column(1, 1, 1, 1, 0),
        "first": np.zeros((5, 1), bool),
        "value": solo(0, 5, 1, 3, 9),
    }
    got = function(**steps, seat=np.zeros((5, 1), np.int8), gamma=1.0)[:, 0, 0]
    # G3 = 1 (over).  Step 3: Q = 1 < V = 3, a bad move, so G2 = 1 + V3 = 4.
    # Step 2: Q = 1 + 3 = 4 ≥ V = 1, so G1 = 1 + G2 = 5.  Step 1: Q = 1 + 1 = 2 < V = 5, so G0 = 1 + V1 = 6.
    np.testing.assert_allclose(got, [6, 5, 4, 1])


def test_upgo_ignores_the_decisions_of_other_seats():
    value = np.zeros((5, 1, 2), np.float32)
    value[:, 0, 0] = [0, 2, 1, 5, 7]
    reward = np.zeros((5, 1, 2), np.float32)
    reward[4, 0] = [4, -4]
    seat = np.array([[0], [1], [0], [1], [0]], np.int8)
    discount = column(1, 1, 1, 1, 0)
    got = returns.upgo(reward, discount, np.zeros((5, 1), bool), value, seat, 1.0)[:, 0]
    # Seat 0 acts at steps 0 and 2. Its Q at step 2 extends to the end, 4 ≥ V2 = 1, although the reply at step 3 was
    # worse than V3 = 5: all of its returns are 4.
    assert got[:, 0].tolist() == [4, 4, 4, 4]
    # Seat 1 acts at steps 1 and 3. At step 3 Q = -4 < V3 = 0: the critic's 0 before it, the real return after it.
    assert got[:, 1].tolist() == [0, 0, 0, -4]


def test_missing_steps_raise_an_error():
    short = {**TWO_GAMES, "value": TWO_GAMES["value"][:-1]}
    with pytest.raises(LudusError, match=r"value \(5, 1, 1\) must both be \[T\+1, N, P\]"):
        returns.gae(**short, gamma=1.0, lambda_=1.0)
    with pytest.raises(LudusError, match="a value for each of them"):
        returns.discounted_returns(**{**TWO_GAMES, "discount": column(1, 1)}, gamma=1.0)


@few
@given(seeds)
def test_gae_with_trace_one_is_monte_carlo_and_with_zero_one_step(seed):
    with jax.enable_x64(True):
        steps, _, _ = random_steps(seed)
        value = steps["value"]
        close(gae(**steps, gamma=GAMMA, lambda_=1.0), monte_carlo(**steps, gamma=GAMMA) - value[:-1])
        error = steps["reward"][1:] + GAMMA * steps["discount"][1:, :, None] * value[1:] - value[:-1]
        error[steps["first"][1:]] = 0.0
        close(gae(**steps, gamma=GAMMA, lambda_=0.0), error)


@few
@given(seeds)
def test_monte_carlo_and_gae_equal_sums_over_later_steps(seed):
    with jax.enable_x64(True):
        steps, _, _ = random_steps(seed)
        reward, discount, value = steps["reward"], steps["discount"], steps["value"]

        def total(t, n, p):
            k = last_step_of_game(steps, t, n)
            after = 0.0 if k > t and discount[k, n] == 0 else value[k, n, p]
            return sum(GAMMA ** (u - t - 1) * reward[u, n, p] for u in range(t + 1, k + 1)) + GAMMA ** (k - t) * after

        def advantage(t, n, p):
            k, answer = last_step_of_game(steps, t, n), 0.0
            for u in range(t, k):
                error = reward[u + 1, n, p] + GAMMA * discount[u + 1, n] * value[u + 1, n, p] - value[u, n, p]
                answer += (GAMMA * TRACE) ** (u - t) * error
            return answer

        close(monte_carlo(**steps, gamma=GAMMA), loop(total))
        close(gae(**steps, gamma=GAMMA, lambda_=TRACE), loop(advantage))


@few
@given(seeds)
def test_the_parallel_form_is_the_same(seed):
    with jax.enable_x64(True):
        steps, _, _ = random_steps(seed)
        close(parallel_gae(**steps, gamma=GAMMA, lambda_=TRACE), gae(**steps, gamma=GAMMA, lambda_=TRACE))
        close(parallel_monte_carlo(**steps, gamma=GAMMA), monte_carlo(**steps, gamma=GAMMA))


@few
@given(seeds)
def test_vtrace_on_policy_is_gae(seed):
    with jax.enable_x64(True):
        steps, _, _ = random_steps(seed)
        ones = np.ones((T, N, 1))
        got = vtrace(**steps, ratio=ones, gamma=GAMMA)
        close(got.target, monte_carlo(**steps, gamma=GAMMA))
        close(got.advantage, gae(**steps, gamma=GAMMA, lambda_=1.0))
        half = vtrace(**steps, ratio=ones, gamma=GAMMA, lambda_=TRACE)
        close(half.target, gae(**steps, gamma=GAMMA, lambda_=TRACE) + steps["value"][:-1])


@few
@given(seeds)
def test_vtrace_equals_its_definition(seed):
    """The sum of Espeholt et al., equation 1: v_s = V_s + Σ_t γ^(t-s) (Π c_i) ρ_t δ_t, in two plain loops."""
    with jax.enable_x64(True):
        steps, seat, rng = random_steps(seed)
        ratio = np.exp(rng.normal(size=(T, N)))
        got = vtrace(
            **steps, ratio=returns.seat_ratios(ratio, seat, P), gamma=GAMMA, lambda_=TRACE, rho_clip=1.5, c_clip=1.1
        )
        reward, discount, value = steps["reward"], steps["discount"], steps["value"]

        def of_seat(t, n, p):
            return ratio[t, n] if seat[t, n] == p else 1.0

        def target(s, n, p):
            answer, product = value[s, n, p], 1.0
            for t in range(s, last_step_of_game(steps, s, n)):
                error = reward[t + 1, n, p] + GAMMA * discount[t + 1, n] * value[t + 1, n, p] - value[t, n, p]
                answer += product * min(1.5, of_seat(t, n, p)) * error
                product *= GAMMA * TRACE * min(1.1, of_seat(t, n, p))
            return answer

        targets = loop(target)

        def advantage(t, n, p):
            if steps["first"][t + 1, n]:
                return 0.0
            after = targets[t + 1, n, p] if t + 1 < T else value[T, n, p]
            return reward[t + 1, n, p] + GAMMA * discount[t + 1, n] * after - value[t, n, p]

        close(got.target, targets)
        close(got.advantage, loop(advantage))


@few
@given(seeds)
def test_upgo_equals_a_forward_loop(seed):
    """From each decision to the seat's first decision below its value, or the end; Q: to the seat's next decision."""
    with jax.enable_x64(True):
        steps, seat, _ = random_steps(seed)
        reward, discount, value = steps["reward"], steps["discount"], steps["value"]

        def walk(t, n, p, stops):
            k, answer, weight = last_step_of_game(steps, t, n), 0.0, 1.0
            for u in range(t + 1, k + 1):
                answer += weight * reward[u, n, p]
                weight *= GAMMA * discount[u, n]
                if u == k or stops(u):
                    return answer + weight * value[u, n, p]
            return value[t, n, p]

        def expected_return(t, n, p):
            def own(u):
                return seat[u, n] == p

            return walk(t, n, p, lambda u: own(u) and walk(u, n, p, own) < value[u, n, p])

        close(upgo(**steps, seat=seat, gamma=GAMMA), loop(expected_return))


@few
@given(seeds)
def test_own_turns_only_skips_the_decisions_of_other_seats(seed):
    """From each decision to the next of the same seat in the same game, or to the end of the game or rollout."""
    with jax.enable_x64(True):
        steps, seat, _ = random_steps(seed)
        value = own_values(**steps, seat=seat, gamma=GAMMA)
        lambda_ = jnp.where(returns.acts(seat[:-1], P), TRACE, 1.0)
        got = np.asarray(gae(**{**steps, "value": value}, gamma=GAMMA, lambda_=lambda_))

        def advantage(t, n, p):
            last, u, reward, weight = last_step_of_game(steps, t, n), t + 1, 0.0, 1.0
            if t >= last:
                return 0.0  # the next step starts a new game
            while True:
                reward, weight = reward + weight * steps["reward"][u, n, p], weight * GAMMA * steps["discount"][u, n]
                if u == last or seat[u, n] == p:
                    break
                u += 1
            further = advantage(u, n, p) if u < last else 0.0
            bootstrap = steps["value"][t if u == T and seat[u, n] != p else u, n, p]
            return reward + weight * (bootstrap + TRACE * further) - steps["value"][t, n, p]

        for t, n in np.ndindex(T, N):
            close(got[t, n, seat[t, n]], advantage(t, n, seat[t, n]))


def all_results(steps, seat, ratio):
    """All results of this module for a rollout, by name."""
    corrected = vtrace(**steps, ratio=returns.seat_ratios(ratio, seat, P), gamma=GAMMA)
    return {
        "returns": monte_carlo(**steps, gamma=GAMMA),
        "gae": gae(**steps, gamma=GAMMA, lambda_=TRACE),
        "gae in parallel": parallel_gae(**steps, gamma=GAMMA, lambda_=TRACE),
        "upgo": upgo(**steps, seat=seat, gamma=GAMMA),
        **corrected._asdict(),
    }


@settings(max_examples=15)
@given(seeds, st.sampled_from([1e6, np.inf, np.nan]))
def test_nothing_leaks_from_game_to_game(seed, poison):
    steps, seat, rng = random_steps(seed)
    steps = {name: np.asarray(array, bool if name == "first" else np.float32) for name, array in steps.items()}
    ratio = np.exp(rng.normal(size=(T, N))).astype(np.float32)
    game = np.cumsum(steps["first"], axis=0)  # [T+1, N] numbered within the row
    n = int(rng.integers(N))
    victim = np.zeros((T + 1, N), bool)
    victim[:, n] = game[:, n] == rng.integers(game[-1, n] + 1)
    dirty = {**steps, "reward": steps["reward"].copy(), "value": steps["value"].copy()}
    dirty["reward"][victim] += poison
    dirty["value"][victim] += poison
    dirty_ratio = np.where(victim[:-1], np.float32(poison), ratio)
    before, after = all_results(steps, seat, ratio), all_results(dirty, np.where(victim, 1 - seat, seat), dirty_ratio)
    for name, array in before.items():
        elsewhere = np.asarray(array)[~victim[:-1]]
        assert np.isfinite(elsewhere).all(), name
        assert elsewhere.tobytes() == np.asarray(after[name])[~victim[:-1]].tobytes(), name


@few
@given(seeds)
def test_the_value_after_termination_is_never_read(seed):
    steps, seat, rng = random_steps(seed)
    steps["value"][steps["discount"] == 0] = np.nan
    results = all_results(steps, seat, np.exp(rng.normal(size=(T, N))))
    decided = ~steps["first"][1:]
    for name, array in results.items():
        assert np.isfinite(np.asarray(array)[decided]).all(), name


@few
@given(seeds)
def test_zero_sum_seats_mirror_each_other(seed):
    steps, _, rng = random_steps(seed)
    for name in ("reward", "value"):
        steps[name][..., 1] = -steps[name][..., 0]
    shared = vtrace(**steps, ratio=np.exp(rng.normal(size=(T, N, 1))), gamma=GAMMA)
    results = [monte_carlo(**steps, gamma=GAMMA), gae(**steps, gamma=GAMMA, lambda_=TRACE), *shared[:2]]
    for array in results:
        np.testing.assert_array_equal(array[..., 0], -array[..., 1])


def test_no_gradient_flows_through():
    steps, seat, _ = random_steps(1)

    def total(value):
        results = all_results({**steps, "value": value}, seat, jnp.ones((T, N)))
        return sum(array.sum() for array in results.values())

    assert not np.any(jax.grad(total)(jnp.asarray(steps["value"])))


def rollout_of(name, steps):
    """Random play of a real pool: stacked reward, discount, first and seat."""
    pool = Pool(name, 6, 3)
    seen = [pool.step]
    for t in range(steps):
        seen.append(pool.advance(pool.random_actions(t)))
    fields = ("reward", "discount", "first", "seat")
    return {field: np.stack([np.array(getattr(step, field)) for step in seen]) for field in fields}


def test_every_step_of_a_real_game_gets_its_result():
    steps = rollout_of("tictactoe", 60)
    seat = steps.pop("seat")
    value = np.zeros_like(steps["reward"])
    got = np.asarray(monte_carlo(**steps, value=value, gamma=1.0))
    ends = np.argwhere(steps["discount"] == 0)
    assert len(ends) > 30 and (steps["reward"] != 0).any()
    for k, n in ends:
        opening = max(t for t in range(k) if steps["first"][t, n] or t == 0)
        assert (got[opening:k, n] == steps["reward"][k, n]).all()
        # The winner made the last move, so the return of the seat that moved is never below 0.
        assert returns.acting(got, seat)[k - 1, n] >= 0


def test_a_truncated_real_game_is_bootstrapped_from_the_critic():
    steps = rollout_of("cartpole(horizon=4)", 30)
    steps.pop("seat")
    value = np.full_like(steps["reward"], 10.0)
    got = np.asarray(monte_carlo(**steps, value=value, gamma=1.0))
    ends = [(k, n) for k, n in np.argwhere(steps["first"]) if k > 4]
    assert len(ends) > 10
    for k, n in ends:  # the start after a game of four steps of reward 1: 4 + 10, 3 + 10, ..., and V itself
        assert got[k - 5 : k, n, 0].tolist() == [14, 13, 12, 11, 10]
