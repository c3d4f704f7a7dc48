"""Several processes that train one run, and actors on devices of their own; `distributed_scenes.py` is what they do."""

import json
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from small_runs import wait_until

from ludus import checkpoint, cli, devices
from ludus.algorithms.ppo import PPO
from ludus.runtimes import meeting
from ludus.types import LudusError

pytest.importorskip("jax", reason="needs JAX: pip install 'ludus[deep]'")
SCENES = pathlib.Path(__file__).with_name("distributed_scenes.py")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def begin(*command):
    return subprocess.Popen(
        [sys.executable, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(processes):
    """What they said and how they ended; nobody stays behind."""
    try:
        return [(*process.communicate(timeout=300), process.returncode) for process in processes]
    finally:
        for process in processes:
            process.kill()


def play(scene, out, cores=1, processes=2):
    """Play a scene in several processes to its end."""
    port = free_port()
    return ended([begin(SCENES, scene, out, cores, port, processes, number) for number in range(processes)])


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """What three updates of two processes left in each, and what they leave in one that plays for both."""
    out = tmp_path_factory.mktemp("distributed")
    told = play("together", out / "together") + ended([begin(SCENES, "alone", out / "alone", 2)])
    assert [code for *_, code in told] == [0, 0, 0], told
    return [dict(np.load(out / name)) for name in ("together.0.npz", "together.1.npz", "alone.0.npz")]


def test_all_processes_learn_the_same_to_the_bit(learned):
    first, second, _ = learned
    names = [name for name in first if name.startswith("params/")]
    assert names
    assert all(np.array_equal(first[name], second[name]) for name in names)


def test_two_processes_learn_what_one_does(learned):
    first, _, alone = learned
    names = [name for name in alone if name.startswith("params/")]
    assert all(np.allclose(first[name], alone[name], rtol=0, atol=1e-5) for name in names)


def test_every_process_plays_games_of_its_own(learned):
    first, second, alone = learned
    assert not np.array_equal(first["rows"], second["rows"])
    assert np.allclose(np.hstack([first["rows"], second["rows"]]), alone["rows"], atol=1e-5)


def test_steps_and_games_are_those_of_all_processes(learned):
    first, second, alone = learned
    assert np.array_equal(first["counts"], alone["counts"])
    assert np.array_equal(second["counts"], alone["counts"])


def test_every_process_knows_the_actors_of_all(learned):
    first, second, alone = learned
    actors = {name for name in alone if name.startswith("worker_")}
    assert {name.split("/")[0] for name in actors} == {"worker_0", "worker_1"}
    assert {name for name in first if name.startswith("worker_")} == actors
    assert all(np.array_equal(first[name], second[name]) for name in actors)
    assert not np.array_equal(first["worker_0/states"], first["worker_1/states"])


def test_a_run_is_stopped_by_any_process_and_goes_on_exactly(tmp_path):
    told = play("resuming", tmp_path)
    assert [code for *_, code in told] == [0, 0], told
    whole, halves = (checkpoint.list_checkpoints(tmp_path / name / "checkpoints") for name in ("whole", "halves"))
    assert len(halves) == len(whole) + 1
    one, other = (checkpoint.load(found[-1]).arrays for found in (whole, halves))
    assert set(one) == set(other) > {"worker_0", "worker_1"}
    for group, arrays in one.items():
        assert all(np.array_equal(array, other[group][name]) for name, array in arrays.items()), group


@pytest.mark.parametrize("scene", ["death", "error"])
def test_what_was_learned_outlives_a_process(scene, tmp_path):
    (_, told, code), (_, _, other) = play(scene, tmp_path)
    assert code == 1
    assert other != 0
    assert "ludus: process 1 has ended before its time" in told
    assert checkpoint.list_checkpoints(tmp_path / "lost" / "checkpoints")


def test_without_process_0_the_others_end(tmp_path):
    (_, told, code), (_, heard, other) = play("keeper", tmp_path)
    assert (code, other) == (1, 1), told + heard
    assert "ludus: there is no room" in told
    assert "ludus: process 0 has ended before its time" in heard


def test_the_command_line_ends_all_processes_at_once(tmp_path):
    told = f"-m ludus.cli train cartpole --algorithm ppo --out {tmp_path} --rows 8 --pieces 1 --devices 1 --length 8"
    told += f" --steps {10**9} --evaluations 0 --games 2 --json --coordinator 127.0.0.1:{free_port()} --processes 2"
    words = [*told.split(), "--process"]
    pair = [begin(*words, number) for number in (0, 1)]
    metrics = tmp_path / "cartpole-0001" / "metrics.jsonl"

    def learned():
        return metrics.is_file() and metrics.read_text().count("\n") > 2

    try:
        assert wait_until(lambda: learned() or any(process.poll() is not None for process in pair), 240)
        assert learned()
        pair[1].send_signal(signal.SIGINT)
    finally:
        if not metrics.is_file():
            pair[0].kill()
            pair[1].kill()
        (out, errors, code), (silence, other_errors, other) = ended(pair)
    assert (code, other, silence) == (0, 0, ""), errors + other_errors
    facts = json.loads(out)
    assert facts["steps"] > 0
    assert not facts["finished"]
    assert pathlib.Path(facts["checkpoint"]).is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["cartpole-0001"]
    assert "coordinator" not in (metrics.parent / "run.toml").read_text()


def test_actors_on_devices_of_their_own_play_the_same(tmp_path):
    out = tmp_path / "actors"
    told = ended([begin(SCENES, "actors", out, 4)])
    assert told[0][2] == 0, told
    assert out.read_text() == "acting on [0, 1], learning on [2, 3]"
    assert np.load(f"{out}.npz")["same"].all()


def test_devices_that_are_not_there_are_a_sentence():
    there = len(devices.learners(0))
    with pytest.raises(LudusError, match=f"99 devices were asked for; this process has {there}"):
        devices.learners(99)
    with pytest.raises(LudusError, match=f"1 devices and {there} for actors alone were asked for"):
        devices.learners(0, there)
    with pytest.raises(LudusError, match="actor_devices is 0 or more"):
        PPO(actor_devices=-1)


def test_one_process_gathers_what_it_says():
    array = np.arange(3)
    assert devices.gathered({"a": array})[0]["a"] is array


@pytest.mark.parametrize("coordinator", ["", "here", "here:", ":4000", "here:port", "here:0", "here:65536", "here:-1"])
def test_what_is_no_coordinator_is_a_sentence(coordinator):
    with pytest.raises(LudusError, match="is no coordinator"), meeting.together(coordinator, 2, 0, ""):
        pass


def test_a_process_has_one_of_the_numbers():
    for process in (-1, 2):
        with pytest.raises(LudusError, match="number 0 to 1"), meeting.together("127.0.0.1:4000", 2, process, ""):
            pass


def test_addresses_are_read():
    assert meeting.address_of("192.168.0.7:4000") == ("192.168.0.7", 4000)
    assert meeting.address_of("[::1]:4000") == ("::1", 4000)


def test_a_coordinator_that_is_not_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(meeting, "WAIT_SECONDS", 0.5)
    words = f"train cartpole --algorithm ppo --coordinator 127.0.0.1:{free_port()} --processes 2 --process 1"
    with pytest.raises(LudusError, match=r"no coordinator at .* within 0\.5 s"):
        cli.run(words.split())


def test_processes_that_do_not_come_are_a_sentence(monkeypatch):
    monkeypatch.setattr(meeting, "WAIT_SECONDS", 0.2)
    with pytest.raises(LudusError, match=r"waited 0\.2 s for process 1, 2 of 3 in vain"):
        meeting.expect("127.0.0.1", free_port(), 3, "mark")


def test_a_port_that_is_taken_is_a_sentence():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(LudusError, match="cannot listen at"),
    ):
        meeting.expect("127.0.0.1", server.getsockname()[1], 2, "mark")


def calling(port, process, mark):
    """In a thread, so that it can be expected: a call, and the sentence that refuses it."""
    heard = []

    def call():
        try:
            meeting.call("127.0.0.1", port, process, mark).close()
        except LudusError as error:
            heard.append(str(error))

    thread = threading.Thread(target=call)
    thread.start()
    return thread, heard


def test_those_who_call_are_met_and_strangers_are_not():
    port = free_port()

    def stranger():
        with meeting._called("127.0.0.1", port, time.monotonic() + 60) as line:
            line.sendall(b"GET / HTTP/1.1\n")
            seen.append(line.recv(1))

    seen = []
    visit = threading.Thread(target=stranger)
    visit.start()
    callers = []

    def call_after_the_stranger():
        visit.join()
        callers.append(meeting.call("127.0.0.1", port, 1, "mark"))

    thread = threading.Thread(target=call_after_the_stranger)
    thread.start()
    met = meeting.expect("127.0.0.1", port, 2, "mark")
    thread.join()
    assert seen == [b""]
    assert list(met) == [1]
    callers[0].close()
    assert meeting._gone(met[1]), "whoever leaves is known to"
    met[1].close()


def test_other_settings_are_a_sentence_for_both():
    port = free_port()
    thread, heard = calling(port, 1, "another")
    with pytest.raises(LudusError, match="process 1 has other settings"):
        meeting.expect("127.0.0.1", port, 2, "mark")
    thread.join()
    assert heard == ["process 1 has other settings; give all processes the same command, but for --process"]


def test_the_same_number_twice_is_a_sentence():
    port = free_port()
    callers = [calling(port, 1, "mark") for _ in range(2)]
    with pytest.raises(LudusError, match="process 1 was started twice"):
        meeting.expect("127.0.0.1", port, 3, "mark")
    for thread, _ in callers:
        thread.join()
    first, second = sorted(heard[0] for _, heard in callers)
    assert "did not begin" in first
    assert "started twice" in second


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ("cartpole --algorithm ppo --processes 2", "must know where process 0 runs"),
        (
            "tictactoe --algorithm q_learning --coordinator here:1 --processes 2",
            "q_learning has no use for --coordinator",
        ),
    ],
)
def test_flags_that_do_not_go_together_are_a_sentence(flags, sentence):
    with pytest.raises(LudusError, match=sentence):
        cli.run(["train", *flags.split()])
