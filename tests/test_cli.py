"""The command line in real processes: output and exit codes."""

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


def test_show_writes_pictures_and_prints_results(tmp_path):
    for ending in ("png", "webp", "svg", "gif", "mp4"):
        answer = run("show", "car(track=7)", "--seed", "7", "--steps", "30", "--out", str(tmp_path / f"lap.{ending}"))
        assert answer.returncode == 0, answer.stderr
        assert (tmp_path / f"lap.{ending}").stat().st_size > 1000
    facts = json.loads(run("show", "tictactoe", "--json").stdout)
    assert facts["games"] == 1 and facts["returns"] == [0.0] and facts["steps"] == 9


def test_show_without_a_file_draws_in_the_terminal():
    answer = run("show", "connect4", "--agent", "random", "--columns", "40")
    assert "▀" in answer.stdout and "a b c d e f g" in answer.stdout


def test_show_animates_in_a_terminal():
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
def test_a_person_needs_standard_input(arguments):
    ended = run(*arguments, stdin="")
    code = "import os, sys; os.close(0); os.execv(sys.executable, [sys.executable, '-m', 'ludus.cli', *sys.argv[1:]])"
    closed = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    for answer in (ended, closed):
        assert answer.returncode == 2, answer.stderr
        assert answer.stderr.splitlines()[-1] == (
            "ludus: a person plays but standard input is closed; run this in a terminal"
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "tictacto"), 'unknown game "tictacto"; did you mean "tictactoe"?'),
        (("show", "car(trak=7)"), 'car has no parameter "trak"'),
        (("show", "car", "--out", "x.bmp"), "its name must end in .png, .webp, .svg, .gif or .mp4"),
        (("show", "car", "--steps", "0"), "--steps 1 to 1000000"),
        (("show", "car", "--agent", "perfect"), "car has no perfect player"),
        (("play", "car"), "cannot be played in the terminal"),
        (("new", "Hex Game"), "cannot name a game"),
        (("new", "ünï"), "cannot name a game"),
        (("new", "car"), "there is a game car already"),
        (("bench", "pool", "--game", "chess"), 'unknown game "chess"'),
        (("bench", "pool", "--rounds", "0"), "--rounds must be at least 1, not 0"),
    ],
)
def test_mistakes_give_a_message_and_exit_code_2(arguments, message):
    answer = run(*arguments)
    assert answer.returncode == 2
    assert answer.stderr.splitlines()[-1].startswith("ludus: ")
    assert message in answer.stderr
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


def test_a_new_game_works_in_the_folder_of_its_author(tmp_path, monkeypatch):
    """Every command finds it there, and nothing is written into the package."""
    monkeypatch.delenv("LUDUS_GAMES", raising=False)
    checkout = pathlib.Path(games.__file__).resolve().parent.parent.parent
    before = sorted(path for place in ("ludus/games", "tests/golden") for path in (checkout / place).glob("*.*"))

    def ludus(*arguments, stdin=None):
        answer = run(*arguments, stdin=stdin, cwd=tmp_path)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout

    ludus("new", "hex")
    assert (tmp_path / "ludus_games" / "hex.py").is_file()
    assert "\nhex " in ludus("games")
    assert "FAIL" not in ludus("check", "hex")
    assert ludus("golden", "hex") == "wrote ludus_games/hex.golden.txt\n"
    assert ludus("golden", "hex", "--check") == "ludus_games/hex.golden.txt replays without a difference\n"
    assert "pile 12 of 12" in ludus("show", "hex")
    assert "seat 1 plays" in ludus("play", "hex", "--against", "random", stdin="add 1\nquit\n")
    ludus("train", "hex", "--steps", "2000", "--evaluations", "1", "--eval-games", "20", "--json")
    assert (tmp_path / "runs" / "hex-0001").is_dir()
    again = run("new", "hex", cwd=tmp_path)
    assert again.returncode == 2 and "there is a game hex already" in again.stderr
    assert before == sorted(
        path for place in ("ludus/games", "tests/golden") for path in (checkout / place).glob("*.*")
    )


def test_a_new_game_can_be_written_elsewhere(tmp_path, monkeypatch):
    monkeypatch.delenv("LUDUS_GAMES", raising=False)
    answer = run("new", "hex", "--out", "mine", cwd=tmp_path)
    assert answer.stdout.splitlines()[:2] == ["wrote mine/hex.py", "to let ludus find it, set LUDUS_GAMES=mine"]
    refused = run("new", "chess", "--out", "mine/chess.py", cwd=tmp_path)
    assert refused.returncode == 2 and "is a file; give the folder for chess.py" in refused.stderr


def test_the_golden_game_detects_a_changed_rule(tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    assert run("new", "hex").returncode == 0
    missing = run("golden", "hex", "--check")
    assert missing.returncode == 2 and "yet; record it with: ludus golden hex" in missing.stderr
    assert run("golden", "hex").returncode == 0
    path = tmp_path / "hex.golden.txt"
    path.write_text(path.read_text().replace("OVER after", "CUT after"))
    changed = run("golden", "hex", "--check")
    assert changed.returncode == 1 and 'was "CUT after' in changed.stdout


def test_a_broken_game_is_listed_with_its_error(tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    (tmp_path / "broken.py").write_text("SPEC = 1 +\n")
    (tmp_path / "ünï.py").write_text("")
    answer = run("games")
    assert answer.returncode == 0 and "\ntictactoe " in answer.stdout
    assert f"\nbroken       ERROR: {tmp_path / 'broken.py'}:1: SyntaxError: invalid syntax\n" in answer.stdout
    assert '\nünï          ERROR: "ünï" cannot name a game; begin with a letter' in answer.stdout
    facts = {game["name"]: game for game in json.loads(run("games", "--json").stdout)["games"]}
    assert set(facts["broken"]) == {"name", "error"} and facts["tictactoe"]["seats"] == 2
