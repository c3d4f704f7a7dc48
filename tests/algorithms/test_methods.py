"""Every method against its equation in plain Python, against special cases of other methods, and on small games."""

import pathlib
import re
import shlex

import numpy as np
import pytest
import shelf

from ludus.algorithms.tabular import names
from ludus.cli.train import parted, run_of

RATE, DISCOUNT, EPSILON, TRACE = 0.3, 0.9, 0.4, 0.7
SETTINGS = {
    "learning_rate": str(RATE), "gamma": DISCOUNT, "exploration": str(EPSILON), "trace_decay": TRACE, "n_steps": 3,
    "planning_steps": 4, "priority_threshold": 0.01,
}  # fmt: skip
WALK, CUT_WALK = "walk(slip=20)", "walk(slip=20, horizon=6)"
STONES, CUT_STONES = "stones(pile=13, again=1)", "stones(pile=13, again=1, horizon=5)"
FIELD = {"walk": "place", "stones": "pile", "trio": "pile"}


@pytest.fixture(autouse=True, scope="module")
def small_games(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games")
    shelf.plant(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LUDUS_GAMES", str(folder))
        yield


class Reference:
    """Every method in plain Python: Q(s, a) as an array, -inf for illegal actions, and the traces of each desk."""

    def __init__(self, legal, seats):
        self.q = np.where(legal, np.float32(0), np.float32(-np.inf))
        self.legal, self.seats = legal, seats
        self.first, self.second = np.zeros(legal.shape, np.float32), np.zeros(legal.shape, np.float32)
        self.traces, self.histories, self.model, self.queue = {}, {}, {}, {}

    def reward(self, seen):
        return float(seen.rewards[seen.seat])

    def sign(self, seen):
        return -1.0 if self.seats == 2 and seen.next_seat != seen.seat else 1.0

    def best(self, place):
        return float(self.q[place].max())

    def after(self, seen):
        """The bootstrap value of SARSA."""
        if seen.following < 0:
            return 0.0
        return self.best(seen.following) if seen.ended else float(self.q[seen.following, seen.chosen])

    def move(self, place, action, target):
        old = float(self.q[place, action])
        self.q[place, action] = np.float32(old + RATE * (target - old))

    def one_step(self, seen, follows):
        self.move(seen.place, seen.action, self.reward(seen) + DISCOUNT * self.sign(seen) * follows)

    def q_learning(self, seen):
        self.one_step(seen, self.best(seen.following) if seen.following >= 0 else 0.0)

    def sarsa(self, seen):
        self.one_step(seen, self.after(seen))

    def expected_sarsa(self, seen):
        follows = 0.0
        if seen.following >= 0:
            values = self.q[seen.following][self.legal[seen.following]].astype(float)
            follows = (1 - EPSILON) * values.max() + EPSILON * values.mean()
        self.one_step(seen, follows)

    def double_q(self, seen):
        mine, other = (self.first, self.second) if seen.bits >> 63 else (self.second, self.first)
        target = self.reward(seen)
        if seen.following >= 0:
            favourite = int(np.where(self.legal[seen.following], mine[seen.following], -np.inf).argmax())
            target += DISCOUNT * self.sign(seen) * float(other[seen.following, favourite])
        at = seen.place, seen.action
        mine[at] = np.float32(float(mine[at]) + RATE * (target - float(mine[at])))
        self.q[at] = np.float32((float(self.first[at]) + float(self.second[at])) / 2)

    def from_seat(self, history, start, stop, follows):
        """The return of entries start .. stop-1 for the seat that acted first."""
        seat = history[start].seat
        total = sum(DISCOUNT**k * float(one.rewards[seat]) for k, one in enumerate(history[start:stop]))
        return total + DISCOUNT ** (stop - start) * (follows if history[stop - 1].next_seat == seat else -follows)

    def learn_returns(self, seen, steps):
        history = self.histories.setdefault(seen.desk, [])
        history.append(seen)
        follows, length = self.after(seen), len(history)
        if seen.ended:
            for start in range(length - 1, max(length - steps, 0) - 1, -1):
                self.move(history[start].place, history[start].action, self.from_seat(history, start, length, follows))
            history.clear()
        elif length >= steps:
            one = history[length - steps]
            self.move(one.place, one.action, self.from_seat(history, length - steps, length, follows))

    def n_step(self, seen):
        self.learn_returns(seen, 3)

    def monte_carlo(self, seen):
        self.learn_returns(seen, 512)

    def share(self, seen, follows, cut):
        """Update by a full matrix of eligibility traces, with the sign of the seat to move."""
        traces = self.traces.setdefault(seen.desk, np.zeros(self.q.shape))
        error = self.reward(seen) + DISCOUNT * self.sign(seen) * follows - float(self.q[seen.place, seen.action])
        traces[seen.place, seen.action] = 1.0
        some = traces != 0
        self.q[some] = (self.q[some].astype(float) + RATE * error * traces[some]).astype(np.float32)
        traces *= DISCOUNT * TRACE * self.sign(seen)
        traces[abs(traces) < 1e-4] = 0
        if seen.ended or cut:
            traces[:] = 0

    def sarsa_lambda(self, seen):
        self.share(seen, self.after(seen), cut=False)

    def q_lambda(self, seen):
        follows = self.best(seen.following) if seen.following >= 0 else 0.0
        self.share(seen, follows, cut=not seen.ended and self.after(seen) < follows)

    def imagine(self, place, action):
        reward, sign, following = self.model[place, action]
        self.move(place, action, reward + DISCOUNT * sign * (self.best(following) if following >= 0 else 0.0))

    def dyna_q(self, seen):
        self.model[seen.place, seen.action] = self.reward(seen), self.sign(seen), seen.following
        self.imagine(seen.place, seen.action)
        bits = seen.bits
        for _ in range(4):
            bits = shelf.mix(bits + shelf.GOLDEN)
            place = seen.found[(bits >> 32) * len(seen.found) >> 32]
            tried = [action for action in range(3) if (place, action) in self.model]
            if tried:
                self.imagine(place, tried[(bits & 0xFFFFFFFF) * len(tried) >> 32])

    def sweep(self, place, action):
        self.imagine(place, action)
        for pair, (reward, sign, following) in self.model.items():
            if following == place:
                error = abs(reward + DISCOUNT * sign * self.best(place) - float(self.q[pair]))
                if error > 0.01:
                    self.queue[pair] = max(error, self.queue.get(pair, 0.0))

    def prioritized_sweeping(self, seen):
        self.model[seen.place, seen.action] = self.reward(seen), self.sign(seen), seen.following
        self.sweep(seen.place, seen.action)
        for _ in range(4):
            if self.queue:
                pair = max(self.queue, key=self.queue.get)
                del self.queue[pair]
                self.sweep(*pair)


def legal_of(game):
    if game.startswith("walk"):
        return np.array([[place > 0, True, place % 2 == 1] for place in range(6)])
    if game.startswith("stones"):
        return np.array([[action < pile for action in range(3)] for pile in range(21)])
    return np.ones((14, 2), bool)


def compare(method, game, rows, steps):
    worker, table = shelf.new_worker(game, rows=rows, method=method, **SETTINGS)
    reference = Reference(legal_of(game), worker.spec.seats)
    count = 0
    for seen in shelf.watch(worker, table, steps, FIELD[game.partition("(")[0]]):
        getattr(reference, method)(seen)
        count += 1
    places = table.places
    assert sorted(places) == sorted(seen.found) and count > steps * rows // 3
    values = np.where(table.rows["values"] < -1e29, -np.inf, table.rows["values"])
    np.testing.assert_allclose(values[places], reference.q[places], rtol=0, atol=2e-6)
    assert np.abs(reference.q[places][reference.legal[places]]).max() > 0.1  # values have changed
    return table, reference


@pytest.mark.parametrize("game", [WALK, CUT_WALK, STONES, CUT_STONES])
@pytest.mark.parametrize("method", names("method"))
def test_a_method_equals_its_equation(method, game):
    compare(method, game, rows=1, steps=700)


@pytest.mark.parametrize("method", ["sarsa_lambda", "n_step", "prioritized_sweeping", "dyna_q"])
def test_rows_have_separate_trails_and_one_table(method):
    compare(method, STONES, rows=5, steps=150)


@pytest.mark.parametrize("method", ["q_learning", "n_step"])
def test_seats_with_separate_desks(method):
    """Each seat gets rewards while others move, and n_steps counts only its own steps."""
    compare(method, "trio", rows=2, steps=400)


def test_both_estimates_of_double_q_are_stored():
    table, reference = compare("double_q", WALK, rows=1, steps=300)
    np.testing.assert_array_equal(table.rows["first"], reference.first)
    np.testing.assert_array_equal(table.rows["second"], reference.second)
    assert (reference.first != reference.second).any()


def test_expected_sarsa_averages_over_the_policy_of_the_run():
    worker, table = shelf.new_worker(WALK, method="expected_sarsa", policy="boltzmann", **SETTINGS)
    reference = Reference(legal_of(WALK), 1)
    for seen in shelf.watch(worker, table, 500, "place"):
        follows = 0.0
        if seen.following >= 0:
            values = reference.q[seen.following][reference.legal[seen.following]].astype(float)
            weights = np.exp(values / EPSILON)  # the temperature here
            follows = float(weights @ values / weights.sum())
        reference.one_step(seen, follows)
    places = table.places
    values = np.where(table.rows["values"] < -1e29, -np.inf, table.rows["values"])
    np.testing.assert_allclose(values[places], reference.q[places], rtol=0, atol=2e-6)


@pytest.mark.parametrize(
    ("special", "settings", "plain"),
    [
        ("n_step", {"n_steps": 1}, "sarsa"),
        ("sarsa_lambda", {"trace_decay": 0.0}, "sarsa"),
        ("q_lambda", {"trace_decay": 0.0}, "q_learning"),
        ("dyna_q", {"planning_steps": 0}, "q_learning"),
        ("prioritized_sweeping", {"planning_steps": 0}, "q_learning"),
        ("expected_sarsa", {"exploration": "0.0"}, "q_learning"),
        ("n_step", {"n_steps": 64}, "monte_carlo"),  # games of stones are shorter
    ],
)
@pytest.mark.parametrize("game", [STONES, CUT_STONES])
def test_special_cases_equal_other_methods_to_the_last_bit(special, settings, plain, game):
    shared = SETTINGS | settings
    one = shelf.learned(game, 400, method=special, **shared)
    other = shelf.learned(game, 400, method=plain, **shared)
    assert one.rows["values"].tobytes() == other.rows["values"].tobytes()
    assert np.unique(one.rows["values"]).size > 10


def test_games_longer_than_the_trail_are_learned_from_their_last_steps():
    """The walk is truncated after 700 steps, the trail holds 512; learning rate 1 keeps only the newest return."""
    worker, table = shelf.new_worker(
        "walk(horizon=700, slip=100)", method="monte_carlo", learning_rate="1", exploration="1"
    )
    seen = list(shelf.watch(worker, table, 701, "place"))
    assert len(seen) == 700 and seen[-1].ended
    total, expected = 0.0, {}
    for one in reversed(seen[-512:]):
        total += float(one.rewards[0])
        expected[one.place, one.action] = total
    for (place, action), value in expected.items():
        assert table.rows["values"][place, action] == pytest.approx(value, rel=1e-6)


def test_lists_of_predecessors_follow_the_model():
    """After hundreds of changed outcomes, the list of each place holds exactly the pairs that lead to it."""
    worker, table = shelf.new_worker("walk(slip=50)", method="prioritized_sweeping", **SETTINGS)
    worker.learn(table, 500)
    memory, actions = worker.memory, 3
    for place in range(6):
        listed, number = [], int(memory["leading"][place])
        while number:
            assert number not in listed
            listed.append(number)
            number = int(memory["after"][(number - 1) // actions, (number - 1) % actions])
        leading = (memory["tried"] == 1) & (memory["following"] == place)
        assert sorted(number - 1 for number in listed) == np.flatnonzero(leading.ravel()).tolist()
    assert (memory["tried"] == 1).sum() > 8


def test_the_queue_returns_the_highest_priority_first():
    from ludus.algorithms.tabular import priorities
    from ludus.dsl import rule
    from ludus.dsl.rows import new_rows

    push, pop = priorities.push, priorities.pop

    @rule
    def run(memory, numbers, given, out):
        for k in range(len(numbers)):
            push(memory, 4, numbers[k], given[k])
        for k in range(len(out)):
            out[k] = pop(memory, 4)

    random = np.random.default_rng(3)
    for count in (1, 2, 3, 7, 40, 90):
        memory = new_rows(10, np.dtype(list(priorities.fields(4))))
        numbers, given, out = random.integers(0, 40, count), random.random(count), np.zeros(42, np.int64)
        run(memory, numbers, given, out)
        highest = {number: max(given[numbers == number]) for number in numbers.tolist()}
        expected = sorted(highest, key=highest.get, reverse=True)
        assert out.tolist() == expected + [-1] * (42 - len(expected))


LAKE, CLIFF = "gymnasium:FrozenLake-v1(is_slippery=False)", "gymnasium:CliffWalking-v1"


@pytest.mark.parametrize("method", names("method"))
def test_every_method_learns_the_optimal_walk(method):
    """Optimal play jumps from odd places, where that is legal, and steps from even ones."""
    rates = {"learning_rate": "linear(0.3, 0.01, 60000)", "exploration": "linear(1.0, 0.02, 60000)"}
    values = shelf.learned("walk", 8000, method=method, **rates).rows["values"]
    assert values[:5].argmax(axis=1).tolist() == [1, 2, 1, 2, 1]
    if method in ("q_learning", "q_lambda", "double_q", "dyna_q", "prioritized_sweeping"):
        np.testing.assert_allclose(values[:5].max(axis=1), [0.398, 0.548, 0.585, 0.761, 0.798], atol=1e-3)


@pytest.mark.parametrize("method", ["q_learning", "monte_carlo"])
def test_the_frozen_lake_is_solved(method):
    pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")
    rates = {"learning_rate": "linear(0.3, 0.01, 60000)", "exploration": "linear(1.0, 0.02, 60000)", "gamma": 0.95}
    path = shelf.greedy_path(shelf.learned(LAKE, 8000, method=method, **rates), LAKE)
    assert path[-1] == 15 and len(path) == 7


@pytest.mark.parametrize("method", names("method"))
def test_every_method_solves_nim_by_self_play(method):
    """The player who leaves a multiple of four wins; from such a pile all moves lose."""
    rates = {"learning_rate": "0.2", "exploration": "linear(1.0, 0.1, 40000)", "gamma": 0.95}
    values = shelf.learned("stones(pile=20)", 6000, method=method, **rates).rows["values"]
    for pile in range(1, 21):
        best = values[pile].argmax() + 1
        assert (best == pile % 4) if pile % 4 else (values[pile].max() < 0)
        assert (values[pile].max() > 0) == bool(pile % 4)


def test_q_learning_walks_along_the_cliff_and_sarsa_keeps_away_from_it():
    """Sutton and Barto, example 6.6: with exploration, the shortest path is not the best."""
    pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")
    rates = {"learning_rate": "linear(0.3, 0.02, 160000)", "exploration": "0.1"}
    edge = [36, *range(24, 36), 47]
    assert shelf.greedy_path(shelf.learned(CLIFF, 20_000, method="q_learning", **rates), CLIFF) == edge
    for method in ("sarsa", "expected_sarsa"):
        path = shelf.greedy_path(shelf.learned(CLIFF, 20_000, method=method, **rates), CLIFF)
        assert path[-1] == 47 and not set(path) & set(range(25, 35))


def test_double_q_has_no_maximisation_bias():
    """Sutton and Barto, example 6.7: ten actions have the mean -0.1, and the maximum of their estimates is positive."""
    settings = {"learning_rate": "0.1", "exploration": "1.0", "rows": 1}
    lured = {
        method: [shelf.learned("lure", 450, seed, method=method, **settings).rows["values"][0, 0] for seed in range(40)]
        for method in ("q_learning", "double_q")
    }
    assert np.mean(lured["q_learning"]) > 0.1
    assert -0.1 < np.mean(lured["double_q"]) < 0.0


def test_planning_methods_need_fewer_steps():
    """In the same 400 random steps, which reach the goal once, planning carries its value back to the start."""
    pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")
    settings = {"learning_rate": "1.0", "exploration": "1.0", "gamma": 0.95, "rows": 1, "planning_steps": 20}
    worth = {
        method: shelf.learned(LAKE, 400, 7, method=method, **settings).rows["values"][0].max()
        for method in ("q_learning", "dyna_q", "prioritized_sweeping")
    }
    assert worth["q_learning"] == 0
    assert worth["dyna_q"] == pytest.approx(0.95**5) and worth["prioritized_sweeping"] == pytest.approx(0.95**5)


ASPECTS = {("rnd", "ppo"), ("self_play", "ppo")}
"""pages about a part of an algorithm"""
DOCUMENTS = pathlib.Path(__file__).parents[2] / "docs" / "algorithms"


@pytest.mark.parametrize("page", sorted(DOCUMENTS.glob("*.md")), ids=lambda page: page.stem)
def test_documents_name_flags_and_pages_that_exist(page):
    text = page.read_text()
    for line in re.findall(r"^    ludus train (.*)$", text, re.MULTILINE):
        run = run_of(parted(shlex.split(line, comments=True))[1])
        assert page.stem in (run.algorithm, "exploration", "discretize") or (page.stem, run.algorithm) in ASPECTS
    for link in re.findall(r"\]\((?!https://)([^)]+)\)", text):
        assert (page.parent / link.partition("#")[0]).is_file()


def test_every_method_and_policy_has_a_page():
    missing = {*names("method"), "exploration"} - {page.stem for page in DOCUMENTS.glob("*.md")}
    assert not missing
    assert all(f"## {policy}" in (DOCUMENTS / "exploration.md").read_text() for policy in names("policy"))
