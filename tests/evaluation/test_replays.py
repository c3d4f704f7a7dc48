"""Replays: every game of ours comes back exactly, and no file is believed before it was checked."""

import hashlib
import json
import re
import zlib

import numpy as np
import pytest

from ludus import agents, games
from ludus.bridges import open_pool
from ludus.dsl import PLAYING
from ludus.evaluation import replays, scores
from ludus.types import Decision, LudusError

ROW = [0, 3, 1, 4, 2]
"""tic-tac-toe: seat 0 fills the first row"""


def random_game(name, seed):
    """A random game played by hand: its actions and the bytes of its states."""
    pool = open_pool(name, 1, [seed], threads=1)
    actions, states = [], [pool.states.tobytes()]
    while pool.status[0] == PLAYING and len(actions) < 100:
        chosen = pool.random_actions(seed + len(actions))
        actions.append(chosen if pool.spec.turns == "simultaneous" else chosen[0])
        pool.advance(chosen)
        states.append(pool.states.tobytes())
    return np.array(actions), states


def written(path, line, actions=bytes(ROW), packed=None):
    """A file with a right checksum whatever it says."""
    line = line if isinstance(line, bytes) else json.dumps(line).encode()
    content = line + b"\n" + (zlib.compress(actions) if packed is None else packed)
    path.write_bytes(content + hashlib.sha256(content).digest())
    return path


@pytest.fixture
def row():
    return replays.record("tictactoe", 5, ["anna", "ben"], ROW)


@pytest.mark.parametrize("name", [*games.names(), "car(track=7)", "discretize:cartpole(bins=4)"])
def test_every_game_is_replayed_exactly(name, tmp_path):
    actions, states = random_game(name, 11)
    seats = open_pool(name, 1).spec.seats
    replays.save(tmp_path / "a.replay", replays.record(name, 11, ["x"] * seats, actions))
    replay = replays.load(tmp_path / "a.replay")
    np.testing.assert_array_equal(replay.actions, actions)
    assert [pool.states.tobytes() for pool in replays.steps(replay)] == states
    replays.verify(replay)
    assert len(replays.action_names(replay)) == len(actions)


def test_the_contents_of_a_replay(row, tmp_path):
    assert (row.returns, row.ending, row.agents) == ((1.0, -1.0), "over", ("anna", "ben"))
    replays.save(tmp_path / "a.replay", row)
    line = (tmp_path / "a.replay").read_bytes().partition(b"\n")[0]
    facts = json.loads(line)
    assert facts == replays.header(row)
    assert facts["game"] == "tictactoe" and facts["seed"] == 5 and facts["actions"] == 5 and facts["type"] == "uint8"
    assert replays.action_names(row) == ["a1", "a2", "b1", "b2", "c1"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.replay"], "nothing is left beside it"


def test_all_seats_at_once_have_an_action_each():
    replay = replays.record("goofspiel", 1, ["x", "y"], [[0, 12], [1, 11]])
    assert replay.ending == "open" and replay.actions.shape == (2, 2)
    assert replays.action_names(replay) == [["bid 1", "bid 13"], ["bid 2", "bid 12"]]


def test_watching_prints_every_step(row):
    said = []
    replays.watch(row, said.append)
    boards = [line for line in said if "a b c" in line]
    assert len(boards) == 6 and boards[-1].splitlines()[0] == "1 X X X"
    assert [line for line in said if line[0].isdigit() and ":" in line][1] == "2. ben: a2"
    assert said[-1] == "over: anna 1, ben -1"


def test_watching_continues_skips_and_quits(row):
    said, answers = [], iter(["", "3", "q"])
    replays.watch(row, said.append, lambda question: next(answers))
    assert sum("a b c" in line for line in said) == 3 and "4. ben: b2" in said
    assert next(answers, None) is None and not said[-1].startswith("over")


def test_watching_simultaneous_moves():
    said = []
    replays.watch(replays.record("goofspiel", 1, ["x", "y"], [[0, 12]]), said.append)
    assert "1. x: bid 1, y: bid 13" in said and said[-1].startswith("not finished: x 0")


def test_pictures_of_a_replay(row):
    shown = replays.frames(row)
    assert len(shown) == 6 and len(shown[-1]) > len(shown[0])


@pytest.mark.parametrize("name", ["tictactoe", "car", "goofspiel"])
def test_a_game_left_at_its_opening(name, tmp_path):
    seats = games.load(name).spec.seats
    replays.save(tmp_path / "a.replay", replays.record(name, 0, ["x"] * seats, []))
    replay = replays.load(tmp_path / "a.replay")
    assert len(replay.actions) == 0 and replay.ending == "open" and len(list(replays.steps(replay))) == 1


def recorded_match(player, name, openings, rows):
    """A match of a player with itself, and the actions of each game."""
    recorded = {}

    def on_actions(numbers, actions):
        for number, action in zip(numbers.tolist(), actions, strict=True):
            recorded.setdefault(number, []).append(action)

    return scores.match(
        name, [player] * 2, len(openings), rows=rows, openings=openings, on_actions=on_actions
    ), recorded


class Matching:
    """Bids in Goofspiel what the prize is worth, so that its bids tell the prizes."""

    def memory(self, rows):
        return ()

    def act(self, params, memory, step, key):
        action = step.observation["prize"].astype(np.int64).clip(1) - 1
        return Decision(action, np.zeros(len(action)), np.zeros(step.reward.shape)), memory


@pytest.mark.parametrize("name", ["goofspiel", "tictactoe"])
def test_actions_of_a_match_can_be_recorded(name):
    """A replay of the opening and the recorded actions gives the same game."""
    openings = np.repeat(np.arange(100, 107), 2)
    match, recorded = recorded_match((agents.load("random", name), games.load(name).spec), name, openings, rows=3)
    assert sorted(recorded) == list(range(14))
    for number, actions in recorded.items():
        replay = replays.record(name, int(openings[number]), ["x", "y"], actions)
        by_player = replay.returns if number % 2 == 0 else replay.returns[::-1]
        assert replay.ending == "over" and by_player == tuple(match.returns[number])
        assert len(actions) == match.lengths[number]
    assert len({tuple(np.ravel(actions)) for actions in recorded.values()}) == 14, "no game was played twice"


def test_a_game_cut_off_by_evaluation_is_followed_by_its_own_opening(monkeypatch):
    monkeypatch.setattr("ludus.evaluation.play.LONGEST", 3)
    openings = np.arange(40, 50)
    match, recorded = recorded_match((Matching(), ()), "goofspiel", openings, rows=2)
    assert match.cut == 10 and sorted(recorded) == list(range(10))
    for number, actions in recorded.items():
        replay = replays.record("goofspiel", int(openings[number]), ["x", "y"], actions)
        prizes = [int(pool.step.observation["prize"][0]) for pool in replays.steps(replay)]
        assert replay.ending == "open" and [prize - 1 for prize in prizes[:3]] == replay.actions[:, 0].tolist()


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([0, 0], "step 2 .* not legal"),
        ([*ROW, 5], "step 6 .* over after 5 of 6"),
        ([[0, 1]], "shape"),
        ([0.5], "needs actions"),
        ([300], "no actions from 300"),
        ([-1], "no actions from -1"),
    ],
)
def test_illegal_actions_are_not_recorded(actions, words):
    with pytest.raises(LudusError, match=words):
        replays.record("tictactoe", 0, ["x", "y"], actions)


@pytest.mark.parametrize(
    ("seed", "names", "words"),
    [(-1, ["x", "y"], "seed"), (2**64, ["x", "y"], "seed"), (0, ["x"], "2 agents"), (0, ["x", "\x1b[2J"], "printable")],
)
def test_seed_and_agents_are_checked_when_recorded(seed, names, words):
    with pytest.raises(LudusError, match=words):
        replays.record("tictactoe", seed, names, ROW)


def test_games_of_other_libraries_are_rejected_before_they_are_opened(row, tmp_path):
    for name in ("gymnasium:nosuch:Thing-v0", "pettingzoo:classic/tictactoe-v3", "discretize:gymnasium:CartPole-v1"):
        with pytest.raises(LudusError, match="from another library"):
            replays.record(name, 0, ["x"], [0])
        with pytest.raises(LudusError, match="from another library"):
            replays.load(written(tmp_path / "a.replay", replays.header(row) | {"game": name}))


def test_another_version_of_the_game(row, tmp_path):
    with pytest.raises(LudusError, match="another version of tictactoe"):
        replays.load(written(tmp_path / "a.replay", replays.header(row) | {"fingerprint": "0" * 16}))


@pytest.mark.parametrize(
    "change", [{"returns": [0.0, 0.0]}, {"ending": "cut"}, {"returns": [1.0, -0.99]}, {"returns": [-1.0, 1.0]}]
)
def test_a_wrong_result_is_found(row, tmp_path, change):
    replay = replays.load(written(tmp_path / "a.replay", replays.header(row) | change))
    with pytest.raises(LudusError, match="but replayed it is"):
        replays.verify(replay)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "x"}, "not a replay"),
        ({"version": 2}, "format 2; this ludus reads 1"),
        ({"more": 1}, r"missing or unknown fields \(more\)"),
        ({"game": "chss"}, "unknown game"),
        ({"game": 3}, "printable"),
        ({"game": "tictactoe\n"}, "printable"),
        ({"fingerprint": "\x1b[2J"}, "printable"),
        ({"seed": True}, "seed"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.0}, "seed"),
        ({"agents": ["x"]}, "2 agents"),
        ({"agents": "xy"}, "2 agents"),
        ({"agents": ["x", "y" * 501]}, "printable"),
        ({"returns": [1.0]}, "2 finite returns"),
        ({"returns": [float("nan"), 0.0]}, "2 finite returns"),
        ({"returns": [True, 0.0]}, "2 finite returns"),
        ({"returns": [float("inf"), 0.0]}, "2 finite returns"),
        ({"ending": "won"}, "unknown ending"),
        ({"ending": []}, "unknown ending"),
        ({"actions": -1}, "actions"),
        ({"actions": 10**12, "shape": [10**12]}, "actions"),
        ({"actions": 4, "shape": [4]}, "do not uncompress to 4"),
        ({"actions": 6, "shape": [6]}, "do not uncompress to 6"),
        ({"type": "float64"}, "contains actions 'float64'"),
        ({"shape": [5, 1]}, "shape"),
    ],
)
def test_every_field_is_checked(row, tmp_path, change, words):
    with pytest.raises(LudusError, match=words):
        replays.load(written(tmp_path / "a.replay", replays.header(row) | change))


PACKED = zlib.compress(bytes(ROW))


@pytest.mark.parametrize("packed", [b"", b"not zlib", PACKED[:-1], PACKED + b"x", zlib.compress(bytes(10**7))])
def test_actions_that_cannot_be_decompressed(row, tmp_path, packed):
    with pytest.raises(LudusError, match="do not uncompress"):
        replays.load(written(tmp_path / "a.replay", replays.header(row), packed=packed))


def test_every_byte_counts(row, tmp_path):
    """A changed or missing byte raises an error."""
    path = tmp_path / "a.replay"
    replays.save(path, row)
    data = path.read_bytes()
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(LudusError, match=r"damaged|not a replay"):
            replays.load(path)
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        with pytest.raises(LudusError, match=r"damaged|not a replay"):
            replays.load(path)


@pytest.mark.parametrize("line", [b"{" * 5000, b"{" + b" " * 2**16 + b"}", b"{}", b'{"seed": ' + b"1" * 5000 + b"}"])
def test_invalid_first_lines_raise_an_error(tmp_path, line):
    with pytest.raises(LudusError, match="not a replay"):
        replays.load(written(tmp_path / "a.replay", line))


def test_files_that_cannot_be_read_or_written(row, tmp_path):
    with pytest.raises(LudusError, match="cannot read"):
        replays.load(tmp_path / "nosuch.replay")
    with pytest.raises(LudusError, match="cannot read"):
        replays.load(tmp_path)
    with pytest.raises(LudusError, match=re.escape("does not exist")):
        replays.save(tmp_path / "nosuch" / "a.replay", row)
