"""The command line as a user meets it: real processes, their output, their exit codes."""

import json
import os
import pathlib
import pty
import subprocess
import sys

import pytest

from ludus import games


def run(*arguments, stdin=None, env=None, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "ludus.cli", *arguments],
        input=stdin, capture_output=True, text=True, env={**os.environ, **(env or {})}, cwd=cwd,
    )  # fmt: skip


def test_games_lists_every_game():
    answer = run("games")
    assert answer.returncode == 0
    listed = [line.split()[0] for line in answer.stdout.splitlines() if not line.startswith(" ")]
    assert listed == games.names()
    facts = json.loads(run("games", "--json").stdout)["games"]
    assert [game["name"] for game in facts] == games.names()
    assert next(game for game in facts if game["name"] == "car")["parameters"]["track"] == "random"


def test_show_writes_pictures_and_tells_how_it_went(tmp_path):
    for ending in ("png", "webp", "svg", "gif", "mp4"):
        answer = run("show", "car(track=7)", "--seed", "7", "--steps", "30", "--out", str(tmp_path / f"lap.{ending}"))
        assert answer.returncode == 0, answer.stderr
        assert (tmp_path / f"lap.{ending}").stat().st_size > 1000
    facts = json.loads(run("show", "tictactoe", "--json").stdout)
    assert facts["games"] == 1 and facts["returns"] == [0.0] and facts["steps"] == 9


def test_show_without_a_file_draws_in_the_terminal():
    answer = run("show", "connect4", "--agent", "random", "--columns", "40")
    assert "▀" in answer.stdout and "a b c d e f g" in answer.stdout


def test_show_moves_in_a_real_terminal():
    reader, writer = pty.openpty()
    command = [sys.executable, "-m", "ludus.cli", "show", "cartpole", "--steps", "2", "--columns", "20"]
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.DEVNULL) as process:
        os.close(writer)
        seen = b""
        while True:
            try:
                part = os.read(reader, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
    os.close(reader)
    assert process.returncode == 0
    assert seen.count(b"\x1b[5A") == 2  # each frame after the first is drawn over the one before


def test_play_takes_moves_from_the_keyboard():
    answer = run("play", "tictactoe", "--against", "perfect", "--seed", "1", stdin="b2\nquit\n")
    assert answer.returncode == 0
    assert "seat 1 plays" in answer.stdout


@pytest.mark.parametrize(
    "arguments", [("play", "tictactoe"), ("battle", "person", "random", "--game", "tictactoe", "--games", "2")]
)
def test_where_nobody_can_be_asked_there_is_a_sentence(arguments):
    ended = run(*arguments, stdin="")
    code = "import os, sys; os.close(0); os.execv(sys.executable, [sys.executable, '-m', 'ludus.cli', *sys.argv[1:]])"
    closed = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    for answer in (ended, closed):
        assert answer.returncode == 2, answer.stderr
        assert answer.stderr.splitlines()[-1] == (
            "ludus: a person is to play and the input is closed; run this in a terminal"
        )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("show", "tictacto"), 'unknown game "tictacto"; did you mean "tictactoe"?'),
        (("show", "car(trak=7)"), 'car has no parameter "trak"'),
        (("show", "car", "--out", "x.bmp"), "let its name end in .png, .webp, .svg, .gif or .mp4"),
        (("show", "car", "--steps", "0"), "--steps 1 to 1000000"),
        (("show", "car", "--agent", "perfect"), "car has no perfect player"),
        (("play", "car"), "cannot be played in the terminal"),
        (("new", "Hex Game"), "cannot name a game"),
        (("new", "car"), "there is a game car already"),
        (("bench", "pool", "--game", "chess"), 'unknown game "chess"'),
        (("bench", "pool", "--rounds", "0"), "at least one round"),
    ],
)
def test_mistakes_get_a_sentence_and_exit_code_2(arguments, sentence):
    answer = run(*arguments)
    assert answer.returncode == 2
    assert answer.stderr.splitlines()[-1].startswith("ludus: ")
    assert sentence in answer.stderr
    assert "Traceback" not in answer.stderr
    assert "Traceback" in run(*arguments, "--traceback").stderr


@pytest.mark.parametrize("suite", ["pool", "startup", "gymnasium", "perfect"])
def test_bench_prints_one_json_object(suite):
    answer = run("bench", suite, "--game", "tictactoe", "--rounds", "1", "--rows", "64", "--json")
    assert answer.returncode == 0, answer.stderr
    report = json.loads(answer.stdout)
    assert report["hardware"]["cores"] >= 1
    assert all(set(result) == {"name", "value", "unit"} and result["value"] > 0 for result in report["results"])
    if suite == "pool":
        assert "pool/tictactoe/threads=1" in [result["name"] for result in report["results"]]


def test_a_new_game_passes_conformance_and_records_its_golden_game(tmp_path):
    """Outside a source checkout: the package is imported from a folder that has no tests beside it."""
    package = tmp_path / "installed"
    package.mkdir()
    (package / "ludus").symlink_to(pathlib.Path(games.__file__).resolve().parent.parent)
    probe = (
        "import sys; from ludus import scaffold; scaffold.source_checkout = lambda: None; from ludus.cli import main; "
    )
    env = {**os.environ, "LUDUS_GAMES": str(tmp_path / "mine")}

    def ludus(*arguments):
        code = probe + f"sys.argv = ['ludus', *{arguments!r}]; main()"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=tmp_path)

    assert ludus("new", "hex").returncode == 0
    assert (tmp_path / "mine" / "hex.py").exists()
    assert "hex" in ludus("games").stdout
    checked = ludus("check", "hex")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    again = ludus("new", "hex")
    assert again.returncode == 2 and "there is a game hex already" in again.stderr
