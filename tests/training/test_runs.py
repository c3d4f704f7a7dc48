"""A run on disk: what lies in its folder, what its metrics say, which checkpoints stay, and what it learns."""

import os

import numpy as np
import pytest
from PIL import Image

from ludus.agents import checkpoint, trained
from ludus.evaluation import scores as evaluate
from ludus.evaluation.statistics import Interval
from ludus.rendering import plots
from ludus.training import config, course, loggers, resources, runs
from ludus.training.folder import CHECKPOINTS, list_runs, new_folder
from ludus.types import LudusError

NEVER, ALWAYS = 10**6, 0.0


def kept(folder):
    return [int(path.name) for path in checkpoint.list_checkpoints(folder / "checkpoints")]


def test_a_run_leaves_settings_metrics_checkpoints_and_a_picture(finished):
    assert {path.name for path in finished.iterdir()} == {"run.toml", "metrics.jsonl", "checkpoints", "score.png"}
    run = config.read(finished / "run.toml")
    assert (run.game, run.algorithm, run.steps, run.workers, run.chunk) == ("tictactoe", "q_learning", 12_000, 1, 2_000)
    with Image.open(finished / "score.png") as picture:
        assert picture.format == "PNG" and picture.width > 300


def test_every_chunk_is_a_line_and_the_score_is_taken_as_often_as_asked(finished):
    lines = loggers.read(finished / "metrics.jsonl")
    steps = [line["step"] for line in lines]
    assert steps == np.cumsum([line["decisions"] for line in lines]).tolist() and steps[-2] < 12_000 <= steps[-1]
    scored = [line["step"] for line in lines if "score" in line]
    assert scored == [next(step for step in steps if step >= mark) for mark in (4_000, 8_000, 12_000)]
    for line in lines:
        assert line["episode_return/seat0"] == -line["episode_return/seat1"] and 5 <= line["episode_length"] <= 9
        assert line.get("score_low", -1) <= line.get("score", 0) <= line.get("score_high", 1)


def test_every_line_tells_games_per_hour_the_mean_reward_and_the_memory(finished):
    lines, games = loggers.read(finished / "metrics.jsonl"), 0
    for line in lines:
        games += line["episodes"]
        assert line["games_per_hour"] == pytest.approx(3600 * games / line["seconds"])
        assert line["episodes"] >= 100 and line["mean_reward"] == line["episode_return/seat0"]
        assert resources.memory_used(os.getpid()) is None or 0.05 < line["memory_used"] < 100


def test_tensorboard_gets_the_same_metrics(trainer):
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    folder = trainer.whole(log=("tensorboard",), evaluations=0, steps=4_000)
    events = reading.EventAccumulator(str(folder / "tensorboard")).Reload()
    columns = loggers.columns(folder / "metrics.jsonl")
    assert set(events.Tags()["scalars"]) == columns.keys() - {"step", "time"}
    for name in {"games_per_hour", "mean_reward", "memory_used"} & columns.keys():
        values = [event.value for event in events.Scalars(name)]
        np.testing.assert_allclose(values, columns[name], rtol=1e-6)


def test_the_mean_reward_covers_a_hundred_episodes_and_continues(trainer):
    """Eight games of at most nine steps end in a chunk of 64 steps at most, so several chunks make a hundred."""
    settings = {"steps": 2_000, "chunk": 64, "evaluations": 0}
    folder, run = trainer.make(**settings)
    trainer.go(folder, run, chunks=12)
    assert trainer.go(folder, config.read(folder / "run.toml"), resume=True)[-1].finished
    columns = loggers.columns(folder / "metrics.jsonl")
    games, means = columns["episodes"], np.nan_to_num(columns["episode_return/seat0"])
    begun = np.flatnonzero(games)[0]
    assert np.isnan(columns["mean_reward"][:begun]).all()
    for end in range(begun + 1, len(games) + 1):
        ages = np.cumsum(games[:end][::-1])
        first = end - 1 - min(np.searchsorted(ages, 100), end - 1)
        expected = np.average(means[first:end], weights=games[first:end])
        assert columns["mean_reward"][end - 1] == pytest.approx(expected)
    assert games.max() < 50 and len(games) > 25


def test_the_checkpoint_tells_where_the_run_stands(finished):
    stored = checkpoint.load(checkpoint.newest(finished / "checkpoints"))
    lines = loggers.read(finished / "metrics.jsonl")
    assert stored.manifest.steps == lines[-1]["step"] == int(stored.arrays["learner"]["counters"][0])
    assert stored.manifest.version == len(lines)
    assert stored.manifest.score == lines[-1]["score"]
    assert stored.arrays["learner"]["counters"][1] == sum(line["episodes"] for line in lines)
    assert stored.manifest.algorithm["kind"] == "q_learning"
    visits = stored.arrays["params"]["visits"]
    assert visits.sum() - len(visits) == stored.manifest.steps  # a row begins with the visit that found it


def test_rates_follow_their_schedules(trainer):
    folder = trainer.whole(learning_rate="linear(0.5, 0.1, 8000)", exploration="exponential(1, 0, 0.001)")
    lines = loggers.read(folder / "metrics.jsonl")
    played = 2_000 * np.arange(1, len(lines) + 1)
    np.testing.assert_allclose([line["learning_rate"] for line in lines], np.maximum(0.5 - 0.4 * played / 8_000, 0.1))
    np.testing.assert_allclose([line["exploration"] for line in lines], np.exp(-0.001 * played))


@pytest.mark.parametrize("keep", [1, 3])
def test_the_newest_checkpoints_stay_and_the_best(trainer, monkeypatch, keep):
    scores = iter([0.1, 0.9, 0.3, 0.2, 0.4, 0.5, 0.6])
    monkeypatch.setattr(course, "take_score", lambda *facts: Interval(next(scores), 0.0, 1.0))
    folder, run = trainer.make(
        keep_checkpoints=keep, checkpoint_seconds=ALWAYS, evaluations=7, steps=14_000, chunk=2_400
    )
    steps = [report.steps for report in trainer.go(folder, run)]
    assert len(steps) == 7
    assert kept(folder) == [steps[1], *steps[-keep:]]
    assert checkpoint.best(folder / "checkpoints").name == f"{steps[1]:06d}"


def test_a_score_can_be_taken_against_a_rival(trainer):
    """Nobody beats the perfect player, whom a random one would not stop from scoring."""
    scores = [
        line["score"]
        for line in loggers.read(trainer.whole(eval_opponent="perfect") / "metrics.jsonl")
        if "score" in line
    ]
    assert scores and max(scores) <= 0.0


def test_a_rival_that_nobody_knows_is_missed_at_once(trainer):
    folder, run = trainer.make(eval_opponent="nobody")
    with pytest.raises(LudusError, match="nobody"):
        next(iter(trainer.go(folder, run)))


def test_checkpoints_wait_for_their_time(trainer):
    folder, run = trainer.make(checkpoint_seconds=NEVER, evaluations=0)
    steps = [report.steps for report in trainer.go(folder, run)]
    assert kept(folder) == steps[-1:]


def test_a_new_best_is_saved_at_once_under_its_own_score(trainer, monkeypatch):
    scores = iter([0.1, 0.9, 0.3])
    monkeypatch.setattr(course, "take_score", lambda *facts: Interval(next(scores), 0.0, 1.0))
    folder, run = trainer.make(checkpoint_seconds=NEVER, evaluations=3, steps=12_000, chunk=2_000, keep_checkpoints=9)
    reports = trainer.go(folder, run)
    saved = {
        int(path.name): checkpoint.read_manifest(path) for path in checkpoint.list_checkpoints(folder / CHECKPOINTS)
    }
    assert [manifest.score for manifest in saved.values()] == [0.1, 0.9, 0.3]
    assert all(report.score.estimate == saved[report.steps].score for report in reports if report.steps in saved)


def test_a_checkpoint_between_two_scores_has_none_of_its_own(trainer, monkeypatch):
    monkeypatch.setattr(course, "take_score", lambda *facts: Interval(0.5, 0.0, 1.0))
    folder, run = trainer.make(checkpoint_seconds=ALWAYS, evaluations=2, steps=12_000, chunk=2_000, keep_checkpoints=99)
    reports = trainer.go(folder, run)
    scored = [line["step"] for line in loggers.read(folder / "metrics.jsonl") if "score" in line]
    found = {step: checkpoint.read_manifest(folder / CHECKPOINTS / f"{step:06d}").score for step in kept(folder)}
    assert len(found) == len(reports) > len(scored)
    assert {step for step, score in found.items() if score is not None} == set(scored)


def test_a_run_is_trained_by_one_process_at_a_time(trainer):
    folder, run = trainer.make()
    first = runs.carry_out(folder, run)
    next(first)
    with pytest.raises(LudusError, match="being trained by another process"):
        next(runs.carry_out(folder, run, resume=True))
    first.close()
    assert trainer.go(folder, run, resume=True)[-1].finished


def test_reports_tell_of_the_run_as_it_goes(trainer):
    folder, run = trainer.make()
    reports = trainer.go(folder, run)
    assert [report.finished for report in reports] == [False] * (len(reports) - 1) + [True]
    assert [report.steps for report in reports] == [line["step"] for line in loggers.read(folder / "metrics.jsonl")]
    assert reports[0].score is None and reports[-1].score is not None and len(reports[-1].scores) == 3
    assert [report.saved is None for report in reports] == [report.score is None for report in reports]
    assert all(report.rate > 0 for report in reports)


def test_whoever_stops_listening_ends_the_run(trainer):
    """The generator is closed in the middle: workers and files are closed, and the run can be resumed."""
    folder, run = trainer.make(checkpoint_seconds=ALWAYS, runtime="threads", workers=2)
    reports = runs.carry_out(folder, run)
    first = next(reports)
    reports.close()
    assert kept(folder) == [first.steps]
    assert trainer.go(folder, run, resume=True)[-1].finished


def test_few_steps_are_few_steps(trainer):
    """A chunk is never longer than the part between two evaluations, and never too short to learn anything in it."""
    _, run = trainer.make(chunk=0, steps=5_000, evaluations=0)
    assert run.chunk == 5_000
    _, run = trainer.make(chunk=0, steps=5_000, evaluations=2)
    assert run.chunk == 2_500
    _, run = trainer.make(chunk=0, steps=5_000, evaluations=0, runtime="threads", workers=2)
    assert run.chunk == 2_500
    _, run = trainer.make(chunk=1, num_envs=10)
    assert run.chunk == 30
    folder, run = trainer.make(chunk=1, num_envs=1, steps=1, eval_games=2)
    assert trainer.go(folder, run)[-1].finished


def test_folders_are_numbered_one_after_the_other(tmp_path):
    assert [new_folder(tmp_path, "gymnasium:Taxi-v4(is_rainy=true)").name for _ in range(2)] == [
        "gymnasium-Taxi-v4-0001", "gymnasium-Taxi-v4-0002",
    ]  # fmt: skip
    (tmp_path / "connect4-0041").mkdir()
    (tmp_path / "connect4-9").mkdir()
    assert new_folder(tmp_path, "connect4").name == "connect4-0042"
    (tmp_path / "connect4-9999").write_text("a file takes a number too")
    assert new_folder(tmp_path, "connect4").name == "connect4-10000"
    assert new_folder(tmp_path, "../../..").parent == tmp_path


def test_runs_are_listed_as_they_stand(trainer, finished):
    assert list_runs(trainer.out) == []
    folder, run = trainer.make()
    (fresh,) = list_runs(trainer.out)
    assert (fresh.steps, fresh.of, fresh.score, fresh.checkpoints) == (0, 12_000, None, 0)
    trainer.go(folder, run, chunks=2)
    (stopped,) = list_runs(trainer.out)
    assert 0 < stopped.steps < 12_000 and stopped.checkpoints == 1 and stopped.seconds > 0
    (whole,) = list_runs(finished.parent)
    assert whole.steps >= 12_000 and whole.low <= whole.score <= whole.high


def test_a_run_that_cannot_be_read_does_not_hide_the_others(trainer, finished):
    one, _ = trainer.make()
    two, _ = trainer.make()
    three, _ = trainer.make()
    (one / "run.toml").write_text("rows = ")
    (two / "metrics.jsonl").write_text("scribble\n{}\n")
    summaries = list_runs(trainer.out)
    assert [summary.name for summary in summaries] == [one.name, two.name, three.name]
    assert [summary.game.startswith("unreadable: ") for summary in summaries] == [True, True, False]


def test_the_picture_shows_the_scores(finished):
    series = runs.score_series(finished)
    lines = [line for line in loggers.read(finished / "metrics.jsonl") if "score" in line]
    assert np.asarray(series.x).tolist() == [line["step"] for line in lines]
    assert np.asarray(series.y).tolist() == [line["score"] for line in lines]
    assert np.asarray(series.low).tolist() == [line["score_low"] for line in lines]
    assert isinstance(series, plots.Series) and series.name == finished.name


@pytest.mark.parametrize(
    "runtime", [{"runtime": "local"}, {"runtime": "threads", "workers": 2}], ids=["local", "threads"]
)
def test_the_preset_of_tic_tac_toe_learns_to_play_perfectly(trainer, runtime):
    preset = config.to_dict(config.resolve("tictactoe", "q_learning"))
    folder, run = runs.start(config.from_dict(preset | runtime | {"evaluations": 2}, "the test"), trainer.out)
    assert trainer.go(folder, run)[-1].finished
    agent = trained.load(folder)
    assert evaluate.exhaustive("tictactoe", agent, agent.params).worst == 0
