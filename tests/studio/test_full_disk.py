"""A full disk: games continue, failed writes return an error message, and everything works again afterwards."""

import shutil
import subprocess
import sys

import pytest

FULL = """
import json, pathlib, sys, urllib.error
from contextlib import suppress
from ludus.studio.process import StudioProcess

out = pathlib.Path(sys.argv[1])
filler = out / "filler"

def refused(path, body=None):
    try:
        raise AssertionError(studio.post(path, body))
    except urllib.error.HTTPError as answer:
        return json.load(answer)["sentence"]

with StudioProcess(out) as studio:
    with suppress(OSError):
        filler.write_bytes(bytes(10**6))
    room = studio.post("/api/rooms", {"game": "tictactoe", "seats": ["person", "perfect"]})["room"]
    run = {"game": "tictactoe", "algorithm": "q_learning", "values": {"steps": 1000}}
    for message in (refused(f"/api/rooms/{room}/replay"), refused("/api/runs", run)):
        assert "No space left on device" in message, message
    assert studio.get(f"/api/rooms/{room}")["room"] == room, "the game continues"
    filler.unlink()
    assert studio.post(f"/api/rooms/{room}/replay")["replay"]
"""


def test_a_full_disk_is_reported(tmp_path):
    # The mount lives in a namespace of its own and goes when the process goes.
    mount = 'mount -t tmpfs -o size=100k none "$0" && exec "$@"'
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("this system does not let us mount a small disk")
    command = [*inside, sys.executable, "-c", FULL, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
