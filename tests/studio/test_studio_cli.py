"""`ludus studio`: start, restart, network, port and missing packages."""

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from ludus.cli import studio as command
from ludus.server import listening
from ludus.studio.process import StudioProcess
from ludus.types import LudusError

LUDUS = [sys.executable, "-m", "ludus.cli", "studio", "--no-open"]


def test_trainers_continue_while_the_studio_restarts(tmp_path):
    with StudioProcess(tmp_path / "runs") as process:
        with pytest.raises(urllib.error.HTTPError) as caught:
            process.post("/api/rooms", {"game": "duel(deck1=/etc/hostname)"})
        assert "decks are not read from files" in caught.value.read().decode()
        boot = process.get("/api/studio")["boot"]
        run = {"game": "tictactoe", "algorithm": "q_learning", "values": {"steps": 10**9, "chunk": 20_000}}
        name = process.post("/api/runs", run)["run"]
        before = process.wait(f"/api/runs/{name}", lambda run: run["steps"] > 0, "it trains")
        child = process.process
        process.stop()
        assert child.returncode in (0, -signal.SIGTERM), "a clean end"
        process.start()
        assert process.get("/api/studio")["boot"] != boot
        after = process.wait(f"/api/runs/{name}", lambda run: run["steps"] > before["steps"], "it continues")
        assert after["status"] == "training"
        process.post(f"/api/runs/{name}/stop")
        process.wait(f"/api/runs/{name}", lambda run: run["status"] == "stopped", "it stopped")


def test_a_studio_on_the_network_needs_a_token(tmp_path):
    child = subprocess.Popen(
        [*LUDUS, "--host", "127.0.0.1", "--port", "0", "--out", str(tmp_path), "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = json.loads(child.stdout.readline())["studio"]
        bare, _, token = address.partition("?token=")
        assert len(token) >= 32
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{bare}api/studio", timeout=60)
        assert refused.value.code == 401
        refused.value.close()
        request = urllib.request.Request(f"{bare}api/studio", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["version"]
    finally:
        child.terminate()
        child.wait(60)
        child.stdout.close()


def test_a_port_in_use_is_an_error_or_skipped():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(LudusError, match=f"port {port} .* choose another with --port"):
            listening.listen("127.0.0.1", [port])
        with listening.listen("127.0.0.1", range(port, port + command.TRIED)) as free:
            assert free.getsockname()[1] > port
    for wrong in (-1, 70_000):
        with pytest.raises(LudusError, match="--port"):
            listening.listen("127.0.0.1", [wrong])
    with pytest.raises(LudusError, match="cannot listen"):
        listening.listen("203.0.113.7", range(command.PORT, command.PORT + command.TRIED))


def test_a_short_token_is_refused(tmp_path):
    done = subprocess.run([*LUDUS, "--token", "secret", "--out", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 2 and "easy to guess" in done.stderr and "Traceback" not in done.stderr


def test_missing_packages_are_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "ludus.studio.server", None)
    with pytest.raises(LudusError, match=r"pip install 'ludus\[studio\]'"):
        command._server()
