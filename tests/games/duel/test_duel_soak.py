"""Random duels with all decks, with bounds checks; `benchmarks/soak_duel.py` runs longer."""

import json
import pathlib
import subprocess
import sys

SOAK = pathlib.Path(__file__).parents[3] / "benchmarks" / "soak_duel.py"


def test_every_deck_plays_without_errors_and_shows_nothing_hidden():
    done = subprocess.run(
        [sys.executable, str(SOAK), "--decisions", "40000", "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "12 of 12: any against any" in done.stderr
    found = {row["name"]: row["value"] for row in json.loads(done.stdout)["results"]}
    assert found["soak_duel/decisions"] >= 40000 and found["soak_duel/compared"] > 4000
    assert found["soak_duel/duels"] > 0
