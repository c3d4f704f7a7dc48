"""`ludus balatro seed` and `ludus balatro score` on the command line."""

import json
import lzma
import pathlib
import subprocess
import sys

import pytest

DATA = pathlib.Path(__file__).parents[2] / "data"


def run(*words):
    command = [sys.executable, "-m", "ludus.cli", "balatro", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def load(name):
    found = json.loads(lzma.decompress((DATA / f"{name}.json.xz").read_bytes()))
    return found["vectors"] if isinstance(found, dict) else found


def test_seeds_are_printed_as_text_and_as_vectors():
    wanted = load("balatro_seeds")[:2]
    result = run("seed", *(vector["seed"] for vector in wanted), "--antes", "1")
    assert result.returncode == 0, result.stderr
    assert all(vector["seed"] in result.stdout for vector in wanted) and "ante 1:" in result.stdout
    vectors = json.loads(run("seed", wanted[0]["seed"], "--antes", "4", "--json").stdout)["vectors"]
    assert vectors == wanted[:1]


def test_scores_are_printed_step_by_step_and_as_results(tmp_path):
    vectors = load("balatro_scores")[:3]
    file = tmp_path / "hands.json"
    file.write_text(json.dumps({"vectors": vectors}))
    result = run("score", str(file))
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("score") >= 3
    results = json.loads(run("score", str(file), "--json").stdout)["results"]
    assert [result["score"] for result in results] == [vector["expected"]["score"] for vector in vectors]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("seed", "ABC*EF"), "ABC*EF"),
        (("seed", "TOOLONGSEED"), "TOOLONGSEED"),
        (("seed", "7LB2WVPK", "--deck", "golden"), "is not one of red"),
        (("seed", "7LB2WVPK", "--antes", "0"), "antes"),
        (("score", "/nowhere/hands.json"), "cannot be read"),
    ],
)
def test_bad_input_raises_an_error(words, sentence):
    answer = run(*words)
    assert answer.returncode != 0 and sentence in answer.stderr
    assert "Traceback" not in answer.stderr


def test_late_antes_of_a_seed_are_listed():
    """Their required scores are more than five cards could ever score."""
    result = run("seed", "7LB2WVPK", "--antes", "39", "--json")
    assert result.returncode == 0, result.stderr
    (vector,) = json.loads(result.stdout)["vectors"]
    assert list(vector["antes"]) == [str(ante) for ante in range(1, 40)]
    assert all(len(content["shops"]) == 3 for ante, content in vector["antes"].items() if ante != "1")
