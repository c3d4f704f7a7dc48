"""Training with the list and NumPy forms gives the same bytes as the compiled loop."""

import numpy as np
import pytest

from ludus.algorithms.protocol import Desk
from ludus.algorithms.tabular import Tabular
from ludus.algorithms.tabular.forms.worker import FormWorker
from ludus.algorithms.tabular.worker import Worker
from ludus.bridges import open_pool
from ludus.types import LudusError

FORMS = ("list", "numpy")
EACH = pytest.mark.parametrize("form", FORMS)
SCHEDULES = {"learning_rate": "linear(0.5, 0.0, 1500)", "exploration": "exponential(0.9, 0.1, 0.003)"}


def learn(form, game, rows, steps, number=0, workers=1, **settings):
    """A table after several calls of `learn`, and their tallies."""
    algorithm = Tabular(form=form, **settings)
    kind = Worker if form == "compiled" else FormWorker
    worker = kind(open_pool(game, rows, seed=3, threads=1), algorithm, Desk(5, number, workers, 1))
    table = worker.new_table()
    tallies = [worker.learn(table, count).tolist() for count in steps]
    assert worker.time == sum(steps)
    worker.close()
    return table, tallies


def content(table):
    return table.rows.tobytes(), table.known.tobytes(), table.used.tobytes()


def assert_same(game, rows, steps, **settings):
    expected, tallies = learn("compiled", game, rows, steps, **settings)
    assert len(expected) > 1
    for form in FORMS:
        table, mine = learn(form, game, rows, steps, **settings)
        assert mine == tallies
        assert content(table) == content(expected)
    return expected, tallies


GAMES = (
    "tictactoe", "gymnasium:FrozenLake-v1", "gymnasium:Taxi-v4(max_episode_steps=5)", "gymnasium:CliffWalking-v1",
    "gymnasium:Blackjack-v1",
)  # fmt: skip


@pytest.mark.parametrize("rows", [1, 7, 64])
@pytest.mark.parametrize("game", GAMES)
def test_forms_give_the_same_bytes_as_the_compiled_loop(game, rows):
    steps = (1, 0, 600 // rows, 1200 // rows)
    _, tallies = assert_same(game, rows, steps, gamma=0.97, **SCHEDULES)
    assert sum(tally[2] for tally in tallies) > 0.5 * rows * sum(steps)


@pytest.mark.parametrize("settings", [{}, {"tables": "seat"}, {"number": 1, "workers": 3, **SCHEDULES}])
def test_forms_give_the_same_bytes_with_other_settings(settings):
    assert_same("tictactoe", 5, (300,), **settings)


def test_truncated_games_are_bootstrapped():
    """With a limit of five steps, only bootstrapping gives returns of more than five steps."""
    far, _ = learn("list", "gymnasium:Taxi-v4(max_episode_steps=5)", 8, (2000,), gamma=1.0, exploration="1.0")
    values = far.rows["values"][far.places]
    assert values.min() < -25  # the return of five steps is rarely below that: -1 for each, or -10 for some


@EACH
@pytest.mark.parametrize("game", ["tictactoe", "gymnasium:Taxi-v4(max_episode_steps=5)"])
def test_resuming_is_exact(form, game):
    algorithm = Tabular(form=form, **SCHEDULES)
    worker = FormWorker(open_pool(game, 6, seed=1, threads=1), algorithm, Desk(9, 0, 1, 1))
    table = worker.new_table()
    worker.learn(table, 83)
    saved, twin_table = worker.state(), table.copy()
    twin = FormWorker(open_pool(game, 6, seed=2, threads=1), algorithm, Desk(9, 0, 1, 1))
    twin.restore(saved)
    assert {name: part.tobytes() for name, part in twin.state().items()} == {
        name: part.tobytes() for name, part in saved.items()
    }
    tallies = [one.learn(into, 140).tolist() for one, into in ((worker, table), (twin, twin_table))]
    assert tallies[0] == tallies[1]
    assert content(table) == content(twin_table)
    assert twin.time == 223


@EACH
def test_a_restored_table_can_be_trained_further(form):
    worker = FormWorker(open_pool("tictactoe", 3, seed=1, threads=1), Tabular(form=form), Desk(2, 0, 1, 1))
    table = worker.new_table()
    worker.learn(table, 50)
    again = type(table).from_state(table.state(), table.actions)
    assert content(again) == content(table)
    known = len(again)
    worker.learn(again, 50)
    assert len(again) > known and again.known[:known].tolist() == table.known[:known].tolist()
    assert len(set(again.known[: len(again)].tolist())) == len(again)


@EACH
def test_unsupported_games_and_forms_raise_an_error(form):
    for game, message in [
        ("goofspiel", "use form=compiled"), ("connect4", "too many positions.*use form=compiled"),
        ("car", "continuous actions"), ("cartpole", "train on discretize:"),
    ]:  # fmt: skip
        with pytest.raises(LudusError, match=message):
            FormWorker(open_pool(game, 2, threads=1), Tabular(form=form), Desk(0, 0, 1, 1))
    with pytest.raises(LudusError, match="form=compiled has its own worker"):
        FormWorker(open_pool("tictactoe", 2, threads=1), Tabular(), Desk(0, 0, 1, 1))


@EACH
def test_states_that_do_not_fit_raise_an_error(form):
    worker = FormWorker(open_pool("tictactoe", 2, threads=1), Tabular(form=form), Desk(0, 0, 1, 1))
    with pytest.raises(LudusError, match=r"it has no .*places"):
        worker.restore({name: part for name, part in worker.state().items() if name != "places"})
    worker.restore({"time": np.array([3])})  # the state of a lost worker
    assert worker.time == 3
    larger = FormWorker(open_pool("tictactoe", 3, threads=1), Tabular(form=form), Desk(0, 0, 1, 1))
    with pytest.raises(LudusError, match="another number of rows"):
        worker.restore(larger.state())
