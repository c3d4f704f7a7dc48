"""Kills and full disks: at any moment, every listed checkpoint is complete."""

import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from ludus.agents.checkpoint import best, list_checkpoints, load, newest, save

TOY = """
import itertools, os, resource, signal, sys
import numpy as np
from ludus.agents.checkpoint import Checkpoint, best, describe, list_checkpoints, load, newest, rotate, save
from ludus.types import LudusError

class Toy:
    full_name, fingerprint = "toy", "0123456789abcdef"

def build(number, size=1000, more=1000, note=""):
    manifest = describe(Toy(), {"kind": "mlp", "note": note}, {"kind": "ppo"}, version=number, score=-float(number))
    arrays = {"params": {"w": np.full(size, number)}, "learner": {"mean/w": np.full(more, -number)}}
    return Checkpoint(manifest, arrays)

def check(path):
    checkpoint = load(path)
    number = int(path.name)
    assert checkpoint.manifest.version == number
    assert (checkpoint.arrays["params"]["w"] == number).all()
    assert (checkpoint.arrays["learner"]["mean/w"] == -number).all()

def failed_save(number, **sizes):
    before = list_checkpoints(folder)
    try:
        save(folder, number, build(number, **sizes))
    except LudusError as error:
        assert "earlier checkpoints are unchanged" in str(error), error
        assert sorted(os.listdir(folder)) == [path.name for path in before], os.listdir(folder)
        for path in before:
            check(path)
        return str(error)

folder = sys.argv[1]
"""

FOREVER = """
first = newest(folder)
for number in itertools.count(int(first.name) + 1 if first else 0):
    save(folder, number, build(number, size=20_000, more=50_000))
    rotate(folder, 3)
    print(number, flush=True)
"""

EVERY_MOMENT = """
EVENTS = ("open", "os.", "fcntl.", "shutil.")
for number in range(3):
    save(folder, number, build(number))
for moment in itertools.count():
    number, before = int(newest(folder).name) + 1, list_checkpoints(folder)
    child = os.fork()
    if not child:
        seen = itertools.count()
        def kill_at_moment(event, facts):
            if event.startswith(EVENTS) and next(seen) == moment:
                os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(kill_at_moment)
        save(folder, number, build(number))
        rotate(folder, 2)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    after = list_checkpoints(folder)
    assert before[-1] in after and before[0] in after, "the newest and the best stay"
    assert set(after) <= {*before, before[0].with_name(f"{number:06d}")}
    for path in after:
        check(path)
    if status == 0:
        break
    assert os.WTERMSIG(status) == signal.SIGKILL
    rotate(folder, 2)
assert [path.name for path in after] == ["000000", before[-1].name, f"{number:06d}"], after
assert sorted(os.listdir(folder)) == [path.name for path in after], "no leftovers"
print(moment)
"""

TOO_LARGE = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
save(folder, 1, build(1))
for sizes in ({"size": 10_000}, {"more": 10_000}, {"note": "x" * 30_000}):
    assert "File too large" in failed_save(2, **sizes), sizes
save(folder, 2, build(2))
check(newest(folder))
"""

FULL = """
for number in itertools.count():
    message = failed_save(number)
    if message:
        break
assert number >= 2 and "No space left on device" in message, (number, message)
rotate(folder, 1)
save(folder, number, build(number))
check(newest(folder))
"""


def run(script, folder, *before):
    command = [*before, sys.executable, "-c", TOY + script, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_killed_at_random_moments(tmp_path):
    generator = random.Random()
    for _ in range(15):
        child = subprocess.Popen([sys.executable, "-c", TOY + FOREVER, str(tmp_path)], stdout=subprocess.PIPE)
        assert child.stdout.readline()
        time.sleep(generator.uniform(0, 0.03))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        left = list_checkpoints(tmp_path)
        assert best(tmp_path) == left[0] == tmp_path / "000000"
        for path in left:
            assert (load(path).arrays["params"]["w"] == int(path.name)).all()
    number = int(newest(tmp_path).name) + 1
    save(tmp_path, number, load(newest(tmp_path)))
    assert not list(tmp_path.glob(".*"))


def test_killed_before_every_system_call(tmp_path):
    done = run(EVERY_MOMENT, tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


def test_failed_write_leaves_everything_unchanged(tmp_path):
    done = run(TOO_LARGE, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("options", ["size=100k", "size=92k", "size=1m,nr_inodes=14", "size=1m,nr_inodes=15",
                                     "size=1m,nr_inodes=16", "size=1m,nr_inodes=17"])  # fmt: skip
def test_full_disk_leaves_everything_unchanged(tmp_path, options):
    mount = f'mount -t tmpfs -o {options} none "$0" && exec "$@"'
    # The mount is in a separate namespace and disappears with the process.
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("this system does not allow mounting a small disk")
    done = run(FULL, tmp_path, *inside)
    assert done.returncode == 0, done.stderr
