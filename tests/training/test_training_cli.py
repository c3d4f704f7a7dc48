"""`ludus train`, `runs`, `evaluate`, `inspect`, `play` and `show` as a user meets them."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from ludus import cli
from ludus.agents import checkpoint
from ludus.evaluation import terminal
from ludus.training import config
from ludus.types import LudusError

SMALL = ("--steps", "6000", "--num-envs", "16", "--chunk", "2000", "--eval-games", "20", "--evaluations", "2")


@pytest.fixture
def ludus(capsys, monkeypatch, tmp_path):
    """A command here in this process, in an empty folder; returns what it printed."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        capsys.readouterr()
        cli.run(list(arguments))
        return capsys.readouterr().out

    return call


@pytest.fixture(scope="module")
def taxi(tmp_path_factory):
    """A short run of a game for one."""
    out = tmp_path_factory.mktemp("taxi")
    cli.run(["train", "gymnasium:Taxi-v4", *SMALL, "--out", str(out), "--json"])
    return out / "gymnasium-Taxi-v4-0001"


def words(text):
    """The text without its frame and its line ends."""
    return " ".join("".join(" " if letter in "│╭╮╰╯─" else letter for letter in text).split())


def in_a_process(*arguments, cwd=None):
    return subprocess.run([sys.executable, "-m", "ludus.cli", *arguments], capture_output=True, text=True, cwd=cwd)


def test_two_trainings_from_the_shell(tmp_path):
    first = in_a_process("train", "tictactoe", "--algorithm", "q_learning", *SMALL, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert re.fullmatch(r"runs/tictactoe-0001: [67],\d{3} steps in [\d.]+ s, score .*\n", first.stdout)
    assert re.search(r"tictactoe-0001: steps [67],\d{3} of 6,000", first.stderr)
    second = in_a_process("train", "tictactoe", *SMALL, "--seed", "3", "--json", cwd=tmp_path)
    facts = json.loads(second.stdout)
    assert second.returncode == 0 and len(second.stdout.splitlines()) == 1
    assert facts["run"] == "runs/tictactoe-0002" and facts["finished"] is True and facts["steps"] >= 6000
    assert facts["score"]["low"] <= facts["score"]["estimate"] <= facts["score"]["high"]
    for name in ("tictactoe-0001", "tictactoe-0002"):
        folder = tmp_path / "runs" / name
        assert {path.name for path in folder.iterdir()} == {"run.toml", "metrics.jsonl", "checkpoints", "score.png"}
    run = config.read(tmp_path / "runs" / "tictactoe-0002" / "run.toml")
    assert (run.seed, run.num_envs, run.steps) == (3, 16, 6000)
    assert run.settings == config.resolve("tictactoe").settings  # what no flag touched is the preset's
    assert (tmp_path / facts["checkpoint"]).is_dir()


def test_flags_may_come_before_the_game(ludus, tmp_path):
    ludus("train", "--steps", "6000", *SMALL[2:], "--learning-rate=0.25", "tictactoe", "--json")
    run = config.read(tmp_path / "runs" / "tictactoe-0001" / "run.toml")
    preset = config.resolve("tictactoe")
    assert run.game == "tictactoe" and run.steps == 6000 and run.settings.learning_rate == "0.25"
    assert run.settings.exploration == preset.settings.exploration


def test_help_shows_what_the_preset_says(ludus, capsys, tmp_path, monkeypatch):
    (tmp_path / "tictactoe.toml").write_text('steps = 4242\n[sarsa]\nexploration = "0.77"\n')
    monkeypatch.setattr(config, "PRESETS", tmp_path)
    for arguments in (("tictactoe", "--help"), ("--help", "tictactoe"), ("--num-envs", "7", "tictactoe", "-h")):
        with pytest.raises(SystemExit) as left:
            cli.run(["train", *arguments])
        shown = words(capsys.readouterr().out)
        assert left.value.code == 0
        assert "(default: 4242)" in shown and "0.77" not in shown
    with pytest.raises(SystemExit):
        cli.run(["train", "tictactoe", "--algorithm=sarsa", "--help"])
    assert "(default: 0.77)" in words(capsys.readouterr().out)
    with pytest.raises(SystemExit):
        cli.run(["train", "--help"])
    assert "--learning-rate" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("train",), "no game given"),
        (("train", "chess"), 'unknown game "chess"'),
        (
            ("train", "tictactoe", "--algorithm", "q_lerning"),
            'unknown algorithm "q_lerning"; did you mean "q_learning"?',
        ),
        (("train", "tictactoe", "--runtime=cloud"), 'unknown runtime "cloud"; known are local, mpi, '),
        (("train", "tictactoe", "--runtime", "single"), 'the runtime "single" is now called "local"'),
        (("train", "tictactoe", "--algorithm", "dyna_q", "--runtime", "threads", "--workers", "2"), "--runtime local"),
        (("train", "--resume", "runs/none"), '"runs/none" is not the folder of a run'),
        (("evaluate", "runs/none"), 'there is no run "runs/none"'),
        (("inspect", "runs/none"), 'there is no run "runs/none"'),
        (("play", "tictactoe", "--against", "runs/none"), 'there is no run "runs/none"'),
        (("show", "tictactoe", "--agent", "runs/none"), 'there is no run "runs/none"'),
        (("runs", "none-0001"), 'there is no run "none-0001" in "runs"'),
        (("train", "tictactoe", "--policy=bold"), 'unknown policy "bold"; known are'),
        (("train", "tictactoe", "--learning-rate=fast"), '"fast" in the schedule "fast" is not a number'),
    ],
)
def test_mistakes_are_sentences(ludus, tmp_path, arguments, sentence):
    with pytest.raises(LudusError) as refused:
        ludus(*arguments)
    assert sentence in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("flag", "sentence"),
    [
        ("--learning-rat=1", "--learning-rat"),
        ("--steps=many", "--steps"),
        ("--steps=0", "steps must be 1 or more, not 0"),
        ("--checkpoint-seconds=inf", "checkpoint_seconds must be 0 or more, not inf"),
    ],
)
def test_flags_that_make_no_sense_end_with_code_2(ludus, capsys, tmp_path, flag, sentence):
    with pytest.raises(SystemExit) as left:
        ludus("train", "tictactoe", flag)
    assert left.value.code == 2 and sentence in words(capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_is_one_sentence_on_the_error_stream(tmp_path):
    (tmp_path / "file").write_text("")
    done = in_a_process("train", "tictactoe", "--out", "file/runs", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith('ludus: cannot make a folder for the run in "file/runs"')
    assert len(done.stderr.splitlines()) == 1


def test_a_preset_with_an_unknown_key_is_a_sentence(ludus, tmp_path, monkeypatch):
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "tictactoe.toml").write_text("step = 5\n")
    monkeypatch.setattr(config, "PRESETS", tmp_path / "presets")
    with pytest.raises(
        LudusError, match=r'the preset tictactoe\.toml has an unknown setting "step"; did you mean "steps"'
    ):
        ludus("train", "tictactoe")


def test_resume_goes_on_or_says_that_there_is_nothing_to_do(ludus, finished, tmp_path):
    folder = str(shutil.copytree(finished, tmp_path / finished.name))
    assert "the run was already finished; extend it with --steps" in ludus("train", "--resume", folder)
    assert json.loads(ludus("train", "--resume", folder, "--json"))["finished"] is True
    facts = json.loads(ludus("train", "--resume", folder, "--steps", "16000", "--json"))
    assert facts["steps"] >= 16_000
    assert config.read(tmp_path / finished.name / "run.toml").steps == 16_000
    with pytest.raises(SystemExit) as left:
        ludus("train", "--resume", folder, "--seed", "3")
    assert left.value.code == 2


def test_runs_lists_and_draws(ludus, finished, taxi, tmp_path):
    out = tmp_path / "all"
    for run in (finished, taxi):
        shutil.copytree(run, out / run.name)
    text = ludus("runs", "--out", str(out), "--plot", str(tmp_path / "scores.png"))
    assert [line.split()[0] for line in text.splitlines()] == [taxi.name, finished.name]
    assert (tmp_path / "scores.png").read_bytes().startswith(b"\x89PNG")
    facts = json.loads(ludus("runs", finished.name, "--out", str(out), "--json"))["runs"]
    assert [run["name"] for run in facts] == [finished.name] and facts[0]["algorithm"] == "q_learning"
    assert facts[0]["low"] <= facts[0]["score"] <= facts[0]["high"]
    assert 'no runs in "nowhere" yet' in ludus("runs", "--out", "nowhere")
    assert json.loads(ludus("runs", "--out", "nowhere", "--json")) == {"runs": []}
    with pytest.raises(LudusError, match=r"\.png"):
        ludus("runs", "--out", str(out), "--plot", str(tmp_path / "scores.bmp"))


def test_runs_that_cannot_be_read_are_told_of(ludus, tmp_path):
    (tmp_path / "runs" / "odd-0001").mkdir(parents=True)
    (tmp_path / "runs" / "odd-0001" / "run.toml").write_text("rows = ")
    text = ludus("runs")
    assert "odd-0001" in text and "cannot read the settings" in text
    ludus("runs", "--plot", "scores.png")


def test_evaluate_one_seat(ludus, taxi):
    facts = json.loads(ludus("evaluate", str(taxi), "--games", "50", "--json"))
    assert facts["game"] == "gymnasium:Taxi-v4" and facts["games"] == 50 and 1 <= facts["length"] <= 200
    assert facts["score"]["low"] <= facts["score"]["estimate"] <= facts["score"]["high"]
    assert "over 50 games" in ludus("evaluate", str(taxi), "--games", "50")
    assert facts["score"] == json.loads(ludus("evaluate", str(taxi), "--games", "50", "--json"))["score"]


def test_evaluate_two_seats(ludus, finished):
    facts = json.loads(ludus("evaluate", str(finished), "--games", "40", "--json"))
    assert facts["against"] == "random" and facts["wins"] + facts["draws"] + facts["losses"] == 40
    perfect = json.loads(ludus("evaluate", str(finished), "--games", "40", "--against", "perfect", "--json"))
    assert perfect["wins"] == 0 and perfect["score"]["estimate"] <= 0
    itself = json.loads(ludus("evaluate", str(finished), "--games", "40", "--against", str(finished), "--json"))
    assert itself["wins"] + itself["draws"] + itself["losses"] == 40
    text = ludus("evaluate", str(finished), "--games", "40", "--against", "perfect")
    assert "against perfect: 0 won" in text


def test_evaluate_every_line_of_play(ludus, finished, taxi):
    facts = json.loads(ludus("evaluate", str(finished), "--lines", "--json"))
    assert [seat["seat"] for seat in facts["seats"]] == [0, 1]
    assert facts["worst"] == min(seat["worst"] for seat in facts["seats"]) == -1  # after so few steps
    text = ludus("evaluate", str(finished), "--lines")
    assert "seat 0: " in text and "lost by " in text
    with pytest.raises(LudusError):
        ludus("evaluate", str(taxi), "--lines")


@pytest.mark.parametrize("games", ["0", "-2", "7"])
def test_evaluate_with_an_odd_number_of_games(ludus, finished, games):
    with pytest.raises(LudusError, match=games):
        ludus("evaluate", str(finished), "--games", games)


def test_evaluate_against_somebody_who_plays_another_game(ludus, finished, taxi):
    with pytest.raises(LudusError, match="this checkpoint is for gymnasium:Taxi-v4, not tictactoe"):
        ludus("evaluate", str(finished), "--against", str(taxi))


def test_inspect_tells_the_values_of_a_position(ludus, finished):
    opening = json.loads(ludus("inspect", str(finished), "--json"))
    assert opening["game"] == "tictactoe" and opening["positions"] <= opening["rows"] == 3**9
    assert opening["visits"] == opening["steps"]
    assert len(opening["position"]["values"]) == 9 and opening["position"]["seat"] == 0
    later = json.loads(ludus("inspect", str(finished), "--moves", "b2", "a1", "--json"))["position"]
    assert len(later["values"]) == 7 and {"b2", "a1"}.isdisjoint(later["values"]) and later["known"]
    text = ludus("inspect", str(finished), "--moves", "b2", "a1")
    shown = [line.split() for line in text.splitlines() if line.startswith("  ") and line.split()[0] in later["values"]]
    values = [float(value) for _, value in shown[-7:]]
    assert values == sorted(values, reverse=True)
    by_number = checkpoint.newest(finished / "checkpoints")
    assert json.loads(ludus("inspect", str(by_number), "--json")) == opening


def test_play_against_what_was_trained(finished):
    heard, answers = [], ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"] * 5
    result = terminal.play("tictactoe", str(finished), 0, 1, lambda prompt: answers.pop(0), heard.append)
    assert result in (1.0, 0.0, -1.0)
    assert any(line.startswith("seat 1 plays") for line in heard)


def test_show_what_was_trained(ludus, finished, taxi, tmp_path):
    facts = json.loads(ludus("show", "tictactoe", "--agent", str(finished), "--out", "game.png", "--json"))
    assert facts["games"] == 1 and facts["returns"][0] in (1.0, 0.0, -1.0) and (tmp_path / "game.png").is_file()
    with pytest.raises(LudusError, match="this checkpoint is for"):
        ludus("show", "tictactoe", "--agent", str(taxi))


def test_every_algorithm_can_be_asked_for_its_flags(ludus, capsys):
    for name, flag in (("value_iteration", "--tolerance"), ("n_step", "--n-steps")):
        with pytest.raises(SystemExit):
            cli.run(["train", "tictactoe", "--algorithm", name, "--help"])
        shown = words(capsys.readouterr().out)
        assert flag in shown and f"(default: {name})" in shown


def test_a_plan_is_a_run_like_any_other(ludus, tmp_path):
    facts = json.loads(
        ludus("train", "gymnasium:Taxi-v4", "--algorithm", "policy_iteration", "--gamma", "0.9", "--json")
    )
    assert facts["finished"] is True and os.path.isdir(facts["checkpoint"])
    assert "the run was already finished" in ludus("train", "--resume", facts["run"])
    assert json.loads(ludus("evaluate", facts["run"], "--games", "50", "--json"))["score"]["estimate"] > 5
