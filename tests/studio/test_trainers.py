"""Trainer processes: control, crashes, and discovery by another studio."""

import json
import os
import signal

import pytest

from ludus.studio import Studio, trainers
from ludus.studio.refusal import Refusal
from ludus.training import control, trainer_process


def lines(served, name):
    path = served.out / name / "metrics.jsonl"
    return path.read_bytes().count(b"\n") if path.is_file() else 0


def going(summary):
    return summary["status"] == "training" and summary["steps"] > 0


def pid_of(served, name):
    return json.loads((served.out / name / "trainer.json").read_text())["pid"]


@pytest.fixture
def training(served):
    """The name of a run that has made its first steps."""
    name = served.begin()
    served.until(f"/api/runs/{name}", going)
    return name


def pause(served, name):
    served.post(f"/api/runs/{name}/pause")
    return served.until(f"/api/runs/{name}", lambda run: run["status"] == "paused")


def test_a_run_pauses_steps_and_resumes(served, training):
    paused = pause(served, training)
    newest = paused["checkpoints"][-1]
    assert newest["steps"] == paused["steps"], "a paused run has saved its present state"
    before = lines(served, training)
    for number in (1, 2):
        served.post(f"/api/runs/{training}/step")
        served.until(
            f"/api/runs/{training}", lambda run, then=paused: run["status"] == "paused" and run["steps"] > then["steps"]
        )
        served.until(f"/api/runs/{training}", lambda run, wanted=before + number: lines(served, training) >= wanted)
        assert lines(served, training) == before + number, "exactly one update"
        paused = served.until(f"/api/runs/{training}", lambda run: run["status"] == "paused")
    served.post(f"/api/runs/{training}/resume")
    served.until(f"/api/runs/{training}", lambda run: going(run) and run["steps"] > paused["steps"])
    assert lines(served, training) > before + 2


def test_a_paused_run_can_be_stopped(served, training):
    paused = pause(served, training)
    served.post(f"/api/runs/{training}/stop")
    stopped = served.until(f"/api/runs/{training}", lambda run: run["status"] == "stopped")
    assert stopped["steps"] == paused["steps"] and stopped["sentence"] is None
    assert not (served.out / training / "trainer.json").exists()


def test_a_stopped_run_is_continued(served, training):
    served.post(f"/api/runs/{training}/stop")
    served.post(f"/api/runs/{training}/stop")  # a second request has no effect
    stopped = served.until(f"/api/runs/{training}", lambda run: run["status"] == "stopped")
    assert stopped["checkpoints"][-1]["steps"] == stopped["steps"], "it saved before it ended"
    served.post(f"/api/runs/{training}/continue", {"steps": 10**9 + 1})
    more = served.until(f"/api/runs/{training}", lambda run: going(run) and run["steps"] > stopped["steps"])
    assert more["of"] == 10**9 + 1 and more["settings"]["steps"] == 10**9 + 1


def test_impossible_commands_are_refused_with_a_message(served, training):
    for action in ("continue", "pause", "step", "save", "stop"):
        answer = served.client.post(f"/api/runs/{training}/{action}", json={})
        assert answer.status_code == (409 if action == "continue" else 200), answer.text
    served.until(f"/api/runs/{training}", lambda run: run["status"] == "stopped")
    for action in ("pause", "step", "save", "stop"):
        assert served.post(f"/api/runs/{training}/{action}", status=409)["sentence"]
    assert served.post(f"/api/runs/{training}/continue", {"steps": 5}, 422)["field"] == "steps"


def test_a_checkpoint_is_saved_on_request(served):
    name = served.begin(values={"checkpoint_seconds": 1e6, "evaluations": 0})
    served.until(f"/api/runs/{name}", going)
    assert served.get(f"/api/runs/{name}")["checkpoints"] == []
    served.post(f"/api/runs/{name}/save")
    served.until(f"/api/runs/{name}", lambda run: len(run["checkpoints"]) == 1 and run["status"] == "training")


def test_a_killed_trainer_is_reported_and_can_be_continued(served, training):
    served.until(f"/api/runs/{training}", lambda run: run["checkpoints"])
    os.kill(pid_of(served, training), signal.SIGKILL)
    failed = served.until(f"/api/runs/{training}", lambda run: run["status"] == "failed")
    assert "killed" in failed["sentence"] and "continue" in failed["sentence"]
    saved = failed["checkpoints"][-1]["steps"]
    served.post(f"/api/runs/{training}/continue")
    again = served.until(f"/api/runs/{training}", lambda run: going(run) and run["steps"] > saved)
    assert again["sentence"] is None


def test_a_new_studio_finds_the_running_trainer(served, training):
    other = Studio(served.out)
    (found,) = other.runs_feed.summaries()
    assert (found["name"], found["status"]) == (training, "training")
    other.trainers.send(other.shelf.run(training), "pause")
    served.until(f"/api/runs/{training}", lambda run: run["status"] == "paused")
    other.trainers.stop(other.shelf.run(training))
    served.until(f"/api/runs/{training}", lambda run: run["status"] == "stopped")


def test_a_command_sent_before_the_trainer_is_ready_is_executed(served):
    name = served.begin()
    served.post(f"/api/runs/{name}/pause")
    served.until(f"/api/runs/{name}", lambda run: run["status"] == "paused")
    assert lines(served, name) == 1


def test_a_command_for_an_earlier_trainer_is_ignored(served, training):
    pause(served, training)
    os.kill(pid_of(served, training), signal.SIGKILL)
    served.until(f"/api/runs/{training}", lambda run: run["status"] == "failed")
    served.post(f"/api/runs/{training}/resume")
    served.until(f"/api/runs/{training}", lambda run: going(run) and lines(served, training) > 2)


def test_a_run_that_cannot_start_fails_with_the_error_message(served):
    name = served.begin(algorithm="dyna_q", values={"workers": 3})
    failed = served.until(f"/api/runs/{name}", lambda run: run["status"] == "failed")
    assert "cannot be merged" in failed["sentence"] and "Traceback" not in failed["sentence"]
    assert any("cannot be merged" in line for line in served.get(f"/api/runs/{name}/log")["lines"])


def test_a_damaged_checkpoint_is_reported(served, training):
    served.post(f"/api/runs/{training}/stop")
    run = served.until(f"/api/runs/{training}", lambda run: run["status"] == "stopped")
    for file in (served.out / training / "checkpoints" / run["checkpoints"][-1]["name"]).glob("params*"):
        file.write_bytes(b"garbage")
    served.post(f"/api/runs/{training}/continue")
    failed = served.until(f"/api/runs/{training}", lambda run: run["status"] == "failed")
    assert "params.safetensors" in failed["sentence"]
    with pytest.raises(Exception, match="truncated or changed"):
        served.studio.shelf.agent(f"run:{training}", "tictactoe")


def test_a_run_finishes(served):
    name = served.begin(values={"steps": 60_000})
    done = served.until(f"/api/runs/{name}", lambda run: run["status"] == "finished")
    assert done["steps"] >= done["of"] == 60_000 and done["steps_per_second"] is None and done["left"] is None
    assert done["low"] <= done["score"] <= done["high"]
    assert served.post(f"/api/runs/{name}/continue", status=422)["field"] == "steps"


def test_ppo_trains_cartpole(served):
    name = served.begin(game="cartpole", algorithm="ppo", values={"steps": 2_000, "chunk": 0, "num_envs": 8,
        "rollout_length": 16, "num_minibatches": 1, "gradient_accumulation": 1, "mlp.width": 8, "runtime": "local",
        "devices": 1, "learning_rate": "0.001", "ent_coef": "0.01"})  # fmt: skip
    done = served.until(f"/api/runs/{name}", lambda run: run["status"] in ("finished", "failed"))
    assert done["status"] == "finished", done["sentence"]
    assert done["settings"]["mlp.width"] == 8 and done["settings"]["chunk"] == 128


def test_a_run_is_deleted_only_when_confirmed_and_not_training(served, training):
    home = served.out / training
    assert served.client.delete(f"/api/runs/{training}?confirm={training}").status_code == 409
    served.post(f"/api/runs/{training}/stop")
    served.until(f"/api/runs/{training}", lambda run: run["status"] == "stopped")
    for confirm in ("", "?confirm=other", "?confirm=../x"):
        answer = served.client.delete(f"/api/runs/{training}{confirm}")
        assert answer.status_code == 409 and answer.json()["field"] == "confirm" and home.is_dir()
    assert served.client.delete(f"/api/runs/{training}?confirm={training}").json() == {"deleted": training}
    assert not home.exists() and served.get("/api/runs") == []


def test_the_number_of_trainers_is_limited(served, training, monkeypatch):
    monkeypatch.setattr(trainers, "MOST_TRAINERS", 1)
    with pytest.raises(Refusal, match="being trained, the maximum"):
        served.studio.trainers.begin(served.studio.runs_feed.ledgers[training].run)


def test_a_log_is_shortened_while_it_is_written(tmp_path):
    path = tmp_path / control.LOG
    with path.open("ab") as log:
        for number in range(40_000):
            log.write(f"line {number} of the long log of a trainer\n".encode())
        log.flush()
        trainer_process.shorten_log(tmp_path)
        assert path.stat().st_size <= trainer_process.KEPT_LOG
        log.write(b"last line\n")
    text = path.read_text().splitlines()
    assert text[-1] == "last line" and text[-2].startswith("line 39999 ") and text[0].startswith("line ")
