"""Short random play on every deck and stake, with bounds checks, by `benchmarks/soak_balatro.py`."""

import pathlib
import subprocess
import sys

SOAK = pathlib.Path(__file__).parents[3] / "benchmarks" / "soak_balatro.py"


def test_every_deck_and_stake_plays_without_errors():
    done = subprocess.run(
        [sys.executable, str(SOAK), "--decisions", "2500"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "120 of 120: erratic, gold" in done.stdout
