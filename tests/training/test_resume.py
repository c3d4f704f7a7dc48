"""A run that was stopped and resumed ends in exactly what it would have ended in: every array, every metric."""

import pytest

from ludus.agents import checkpoint
from ludus.algorithms import tabular
from ludus.training import config

RUNTIMES = ({"runtime": "local"}, {"runtime": "threads", "workers": 2})
GAMES = ("tictactoe", "gymnasium:Taxi-v4", "connect4", "goofspiel")
METHODS = tabular.names("method")


def mergeable(method):
    return tabular.Tabular(method=method).mergeable


def interrupted(trainer, chunks, **settings):
    """A run that was stopped after so many chunks, each time, and resumed until it ended."""
    folder, run = trainer.make(**settings)
    last = trainer.go(folder, run, chunks)[-1]
    while not last.finished:
        last = trainer.go(folder, config.read(folder / "run.toml"), chunks, resume=True)[-1]
    return folder


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime["runtime"])
@pytest.mark.parametrize("game", GAMES)
def test_every_game_goes_on_exactly(trainer, same_arrays, told, game, runtime):
    settings = {
        "game": game,
        "learning_rate": "linear(0.5, 0.1, 9000)",
        "exploration": "linear(1, 0.1, 9000)",
    } | runtime
    whole, parts = trainer.whole(**settings), interrupted(trainer, 1, **settings)
    same_arrays(whole, parts)
    assert told(whole) == told(parts)
    assert len(told(whole)) >= 2


@pytest.mark.parametrize(
    ("game", "method"),
    [("goofspiel", method) for method in METHODS]
    + [("tictactoe", method) for method in ("n_step", "q_lambda", "prioritized_sweeping")],
)
def test_every_method_goes_on_exactly(trainer, same_arrays, told, game, method):
    """Hashed positions at several desks; numbered ones with a trail, with traces, with a model."""
    runtime = RUNTIMES[mergeable(method)]
    settings = {"game": game, "algorithm": method, "chunk": 1_000, "steps": 8_000} | runtime
    whole, parts = trainer.whole(**settings), interrupted(trainer, 2, **settings)
    same_arrays(whole, parts)
    assert told(whole) == told(parts)


@pytest.mark.parametrize("policy", tabular.names("policy"))
def test_every_policy_goes_on_exactly(trainer, same_arrays, policy):
    settings = {"policy": policy, "runtime": "threads", "workers": 2}
    same_arrays(trainer.whole(**settings), interrupted(trainer, 1, **settings))


@pytest.mark.parametrize(
    "settings", [{"tables": "seat"}, {"form": "numpy"}, {"form": "list"}, {"num_envs": 50, "chunk": 1}], ids=str
)
def test_other_settings_go_on_exactly(trainer, same_arrays, told, settings):
    settings = {"steps": 1_000, "chunk": 300, "runtime": "threads", "workers": 2} | settings
    whole, parts = trainer.whole(**settings), interrupted(trainer, 1, **settings)
    same_arrays(whole, parts)
    assert told(whole) == told(parts)


def test_a_hashed_table_that_has_to_grow_goes_on_exactly(trainer, same_arrays):
    """More positions than a fresh table has room for: rows keep their places when the table grows or is read back."""
    settings = {"game": "connect4", "steps": 30_000, "chunk": 4_000, "num_envs": 64, "runtime": "threads", "workers": 2}
    whole, parts = trainer.whole(**settings), interrupted(trainer, 1, **settings)
    assert len(checkpoint.load(checkpoint.newest(whole / "checkpoints")).arrays["params"]["known"]) > 2 * 4096
    same_arrays(whole, parts)


def test_a_run_can_be_made_longer(trainer, same_arrays):
    whole = trainer.whole(steps=12_000)
    folder, run = trainer.make(steps=5_000)
    trainer.go(folder, run)
    assert trainer.go(folder, run, steps=12_000, resume=True)[-1].finished
    same_arrays(whole, folder)


def test_a_longer_run_stays_longer(trainer, same_arrays):
    """Stopped in its longer part, it goes on to the new end without being told again."""
    whole = trainer.whole(steps=12_000)
    folder, run = trainer.make(steps=5_000)
    trainer.go(folder, run)

    assert not trainer.go(folder, run, chunks=1, steps=12_000, resume=True)[-1].finished
    assert config.read(folder / "run.toml").steps == 12_000
    assert trainer.go(folder, config.read(folder / "run.toml"), resume=True)[-1].finished
    same_arrays(whole, folder)


@pytest.mark.parametrize("algorithm", ["q_learning", "value_iteration"])
def test_a_finished_run_is_left_as_it_is(trainer, contents, algorithm):
    """Also one that was finished before all its steps were made, because no plan is better than its own."""
    steps = 6_000 if algorithm == "q_learning" else 10**9
    folder, run = trainer.make(algorithm=algorithm, steps=steps)
    last = trainer.go(folder, run)[-1]
    before = contents(folder)
    (again,) = trainer.go(folder, run, resume=True)
    assert again.finished and (again.steps, again.score, again.saved) == (last.steps, last.score, last.saved)
    assert contents(folder) == before


def test_fewer_steps_than_were_made_change_nothing(trainer, finished, contents):
    before = contents(finished)
    (again,) = trainer.go(finished, config.read(finished / "run.toml"), steps=100, resume=True)
    assert again.finished and contents(finished) == before


def test_a_run_that_never_saved_begins_again(trainer, same_arrays, told):
    """Killed before its first checkpoint: what it wrote of its metrics is forgotten."""
    whole = trainer.whole()
    folder, run = trainer.make()
    (folder / "metrics.jsonl").write_text('{"step": 1999, "time": 1.0, "score": 0.5}\n{"step": 3')
    trainer.go(folder, run, resume=True)
    same_arrays(whole, folder)
    assert told(whole) == told(folder)


def test_the_same_seed_ends_the_same_and_another_does_not(trainer, learned, same_arrays):
    one, other = trainer.whole(seed=5), trainer.whole(seed=6)
    same_arrays(one, trainer.whole(seed=5))
    assert learned(one)["params/values"].tobytes() != learned(other)["params/values"].tobytes()


def test_the_time_of_all_sittings_adds_up(trainer):
    folder, run = trainer.make()
    first = trainer.go(folder, run, chunks=2)[-1]
    reports = trainer.go(folder, run, resume=True)
    assert reports[0].seconds > first.seconds
    assert reports[-1].scores[: len(first.scores)] == first.scores
