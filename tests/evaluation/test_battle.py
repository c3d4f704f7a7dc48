"""Battles: paired games, results that agree with the recorded games, and the commands battle and replay."""

import contextlib
import json
import os
import pty
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from ludus.agents.players.person import Person
from ludus.evaluation import battle, replays
from ludus.evaluation.statistics import interval, wilson
from ludus.pool import Pool
from ludus.training import config, runs
from ludus.types import LudusError


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a short run."""
    small = {"game": "tictactoe", "algorithm": "q_learning", "steps": 20_000, "chunk": 10_000, "num_envs": 16,
             "eval_games": 20, "evaluations": 1}  # fmt: skip
    folder, settled = runs.start(config.from_dict(small, "the test"), tmp_path_factory.mktemp("trained"))
    assert list(runs.carry_out(folder, settled))[-1].finished
    return folder


def ludus(*arguments, stdin=None):
    command = [sys.executable, "-m", "ludus.cli", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True)


def test_two_agents():
    result = battle.battle("tictactoe", ["perfect", "random"], games=400)
    assert result.names == ("perfect", "random") and result.replays == ()
    assert result.match.losses == 0 and result.match.wins > 300
    assert [seat.games for seat in result.match.seats] == [200, 200]
    facts = battle.facts(result)
    assert facts["rate"]["low"] < facts["rate"]["estimate"] < facts["rate"]["high"] and facts["games_per_second"] > 0
    assert json.loads(json.dumps(facts))["seats"][1]["losses"] == 0


def test_each_opening_is_played_from_both_sides():
    seeds = battle.openings(1000, 3)
    np.testing.assert_array_equal(seeds[::2], seeds[1::2])
    assert len(np.unique(seeds)) == 500 and len(battle.openings(7, 0)) == 7
    assert not np.isin(seeds, battle.openings(1000, 4)).any(), "neighbouring seeds share no openings"


@pytest.mark.parametrize("game", ["goofspiel", "tictactoe", "connect4"])
def test_recorded_games_are_the_games_of_the_match(game):
    result = battle.battle(game, ["random", "random"], games=300, seed=7, keep=12)
    assert len(result.replays) == 12 and result.names == ("random", "random #2")
    for number, replay in enumerate(result.replays):
        replays.verify(replay)
        places = [replay.agents.index(name) for name in result.names]
        assert places == ([0, 1] if number % 2 == 0 else [1, 0])
        assert [replay.returns[place] for place in places] == result.match.returns[number].tolist()
    assert [one.seed for one in result.replays[::2]] == [one.seed for one in result.replays[1::2]]


def test_both_games_of_a_pair_have_the_same_cards():
    """The prizes of Goofspiel come in the same order for both games of a pair, and in another for the next pair."""
    kept = battle.battle("goofspiel", ["random", "random"], games=6, keep=6).replays
    prizes = [[int(pool.step.observation["prize"][0]) for pool in replays.steps(one)] for one in kept]
    assert prizes[0::2] == prizes[1::2] and prizes[0] != prizes[2] != prizes[4]


def test_equal_seeds_give_equal_battles():
    one, again, other = (battle.battle("goofspiel", ["random", "random"], 100, seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.match.returns, again.match.returns)
    assert (one.match.returns != other.match.returns).any()


def test_a_tournament_puts_the_best_first(tmp_path):
    result = battle.tournament("tictactoe", ["random", "perfect", "mcts(5)"], games=120, keep=2)
    assert result.names == ("perfect", "mcts(5)", "random") and len(result.battles) == 3
    numbers = [rating.rating for rating in result.ratings]
    assert numbers == sorted(numbers, reverse=True) and sum(numbers) / 3 == pytest.approx(1500)
    assert result.elo[0] > result.elo[2] and sum(result.elo) / 3 == pytest.approx(1500)
    off = ~np.eye(3, dtype=bool)
    assert np.isnan(np.diag(result.payoff)).all() and result.payoff[0, 2] > 0.8
    np.testing.assert_allclose((result.payoff + result.payoff.T)[off], 1)
    match = next(one.match for one in result.battles if one.names == ("random", "perfect"))
    assert result.payoff[2, 0] == match.rate.estimate, "rows and columns are those of the names"
    written = battle.save(tmp_path / "new" / "folder", result)
    assert written[0].name == "payoff.png" and len(written) == len(set(written)) == 7
    assert "01-random-perfect-0001.replay" in [path.name for path in written]
    with Image.open(written[0]) as picture:
        assert picture.width > 300
    for path in written[1:]:
        replays.verify(replays.load(path))
    table = battle.tournament_text(result).splitlines()
    assert table[3].split()[:2] == ["1", "perfect"] and "games/s" in table[-1]
    assert json.loads(json.dumps(battle.tournament_facts(result)))["payoff"][0][0] is None


def test_elo_counts_round_by_round():
    """Three agents, two rounds: all first games come before any second one."""
    games = [battle.battle("tictactoe", ["perfect", "random"], games=2) for _ in range(3)]
    first, second, points = battle._games_in_order([(0, 1), (0, 2), (1, 2)], games)
    assert first.tolist() == [0, 0, 1, 0, 0, 1] and second.tolist() == [1, 2, 2, 1, 2, 2]
    wanted = [(np.sign(one.match.returns[number] @ [1, -1]) + 1) / 2 for number in (0, 1) for one in games]
    assert points.tolist() == wanted


def test_a_run_plays_and_determines_the_game(run, tmp_path):
    assert battle.game_of(["random", str(run)], None) == "tictactoe"
    assert battle.game_of([str(run), "random"], "connect4") == "connect4"
    result = battle.battle("tictactoe", [str(run), "random"], games=200, keep=1)
    assert result.match.rate.low > 0.5
    (path,) = battle.save(tmp_path, result)
    assert replays.load(path).agents == (str(run), "random")
    with pytest.raises(LudusError, match="checkpoint is for tictactoe"):
        battle.battle("connect4", [str(run), "random"], games=2)


class Keyboard:
    """Types answers from a list, then ends the input; records all messages."""

    def __init__(self, *answers):
        self.answers, self.messages, self.prompts = list(answers), [], 0

    def ask(self, prompt):
        self.prompts += 1
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)

    @property
    def talk(self):
        return battle.Talk(self.ask, self.messages.append)

    def was_told(self, words):
        return any(words in line for line in self.messages)


COLUMNS = ["a", "b", "c"] * 40
"""moves of Connect Four that a person tries in turn, whether they are legal or not"""


def test_a_person_plays_like_any_other_agent():
    keyboard = Keyboard("z9", "hint", "undo", *COLUMNS)
    result = battle.battle("connect4", ["person", "random"], games=4, seed=3, keep=3, talk=keyboard.talk)
    assert result.names == ("person", "random") and result.match.games == 4 and len(result.replays) == 3
    assert [seat.games for seat in result.match.seats] == [2, 2]
    assert result.match.wins + result.match.draws + result.match.losses == 4
    seeds = battle.openings(4, 3).tolist()
    for number, replay in enumerate(result.replays):
        replays.verify(replay)
        assert replay.ending == "over" and replay.seed == seeds[number]
        assert replay.agents == (("person", "random") if number % 2 == 0 else ("random", "person"))
        assert replay.returns[number % 2] == result.match.returns[number, 0]
        assert len(replay.actions) == result.match.lengths[number]
    assert keyboard.was_told("moves: a, b, c, d, e, f, g") and keyboard.was_told('"z9" is not a legal move here')
    assert keyboard.was_told("hint is not available in a battle") and keyboard.was_told(
        "undo is not available in a battle"
    )
    assert keyboard.was_told("Game 2 of 4: random has seat 0, person has seat 1") and keyboard.was_told("random plays")
    assert sum("is over: " in line for line in keyboard.messages) == 4
    assert battle.match_text("connect4", result).splitlines()[4].split()[:3] == ["seat", "0", "2"]


def test_matches_of_a_person_are_counted_like_all_others():
    """The results, in total and by seat, are computed from the returns of the games."""

    class Planned(Keyboard):
        def ask(self, prompt):
            legal = self.messages[-1].rpartition("moves: ")[2].split(", ")
            return min(legal, key=["b2", "a1", "c3", "c1", "a3", "b1", "a2", "c2", "b3"].index)

    result = battle.battle("tictactoe", ["person", "perfect"], games=6, talk=Planned().talk)
    assert result.match.wins == 0 and result.match.rate == wilson(result.match.draws / 2, 6)
    assert result.match.interval == interval(result.match.returns[:, 0])
    for seat in result.match.seats:
        own = result.match.returns[seat.seat :: 2, 0]
        assert seat.interval == interval(own) and seat.losses == (own < 0).sum() and seat.games == 3


@pytest.mark.parametrize("ending", ["quit", None])
def test_finished_games_count_when_a_person_leaves(ending, tmp_path):
    first = Keyboard(*COLUMNS)
    whole = battle.battle("connect4", ["random", "person"], games=2, keep=2, talk=first.talk)
    typed = COLUMNS[: first.prompts]
    last = next(number for number in range(len(typed), 0, -1) if _games(typed[:number]) == 1)
    keyboard = Keyboard(*typed[:last], *([ending, "a"] if ending else []))
    result = battle.battle("connect4", ["random", "person"], games=2, keep=2, talk=keyboard.talk)
    match = result.match
    assert match.games == 1 and [seat.seat for seat in match.seats] == [0]
    assert match.returns.tolist() == whole.match.returns[:1].tolist()
    assert match.lengths.tolist() == whole.match.lengths[:1].tolist()
    finished, left = result.replays
    assert finished.actions.tolist() == whole.replays[0].actions.tolist()
    assert left.ending == "open" and left.actions.tolist() == whole.replays[1].actions.tolist()[: len(left.actions)]
    for path in battle.save(tmp_path, result):
        replays.verify(replays.load(path))
    facts = json.loads(json.dumps(battle.facts(result), allow_nan=False))
    assert facts["games"] == 1 and facts["mean"]["low"] is None and len(facts["seats"]) == 1
    assert "seat 1" not in battle.match_text("connect4", result)


def _games(typed):
    """The number of games that a person finishes with these answers."""
    keyboard = Keyboard(*typed)
    return battle.battle("connect4", ["random", "person"], games=2, talk=keyboard.talk).match.games


def test_a_person_who_leaves_at_once_has_played_nothing():
    result = battle.battle("tictactoe", ["person", "random"], games=2, keep=2, talk=Keyboard("quit").talk)
    assert result.match.games == 0 and result.match.seats == () and result.replays == ()
    assert "no game was finished" in battle.match_text("tictactoe", result)
    facts = json.loads(json.dumps(battle.facts(result), allow_nan=False))
    assert facts["rate"] == {"estimate": 0.5, "low": 0.0, "high": 1.0} and facts["mean"]["estimate"] is None


def test_two_persons_share_a_keyboard_and_search_plays_against_one():
    keyboard = Keyboard("a1", "a2", "b1", "b2", "c1")
    result = battle.battle("tictactoe", ["person", "person"], games=2, talk=keyboard.talk)
    assert result.names == ("person", "person #2") and result.match.returns.tolist() == [[1, -1]]
    keyboard = Keyboard(*COLUMNS)
    assert battle.battle("connect4", ["person", "mcts(300)"], games=2, talk=keyboard.talk).match.losses == 2


def test_a_person_alone_with_the_agent():
    pool = Pool("tictactoe", 2, 0)
    player = Person(lambda pool: 4)
    assert player.at(Pool("tictactoe", 1, 0)).act((), "kept", Pool("tictactoe", 1, 0).step, 0)[1] == "kept"
    for one in (player, player.at(pool)):
        with pytest.raises(LudusError, match="one game at a time"):
            one.act((), (), pool.step, 0)


@pytest.mark.parametrize(
    ("game", "kinds", "options", "words"),
    [
        ("tictactoe", ["person", "random", "random"], {}, "one opponent at a time"),
        ("goofspiel", ["person", "random"], {"games": 2}, "which needs discrete moves and alternating turns"),
        ("cartpole", ["person", "random"], {"games": 2}, "one seat"),
        ("tictactoe", ["person", "random"], {"games": 3}, "play 2 or 4"),
        ("tictactoe", ["person", "nobody"], {"games": 2}, 'unknown agent "nobody"'),
    ],
)
def test_games_that_a_person_cannot_play_raise_an_error(game, kinds, options, words):
    keyboard = Keyboard("quit")
    with pytest.raises(LudusError, match=words):
        battle.battle(game, kinds, talk=keyboard.talk, **options)
    assert keyboard.answers == ["quit"], "nobody is asked for what cannot be"
    with pytest.raises(LudusError, match="one opponent at a time"):
        battle.tournament("tictactoe", ["person", "random", "random"])


def test_the_command_with_a_person(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "person").mkdir()  # a folder of this name is ./person
    typed = "z9\n" + "".join(f"{column}{row}\n" for column in "abc" for row in "123") * 4
    arguments = ("battle", "person", run, "--games", 2, "--keep", 2, "--out", "kept")
    answer = ludus(*arguments, stdin=typed)
    assert answer.returncode == 0, answer.stderr
    assert '"z9" is not a legal move here' in answer.stdout and "person won" in answer.stdout
    assert len(list((tmp_path / "kept").iterdir())) == 2
    answer = ludus(*arguments, "--json", stdin=typed)
    assert json.loads(answer.stdout)["games"] == 2 and "your move: " in answer.stderr
    left = ludus(*arguments, stdin="quit\n")
    assert left.returncode == 0 and "no game was finished" in left.stdout


def test_games_of_other_libraries_are_played_but_not_recorded():
    pytest.importorskip("pettingzoo")
    name = "pettingzoo:classic/tictactoe-v3"
    assert battle.battle(name, ["random", "random"], games=10).match.games == 10
    with pytest.raises(LudusError, match="cannot be recorded"):
        battle.battle(name, ["random", "random"], games=10, keep=1)


@pytest.mark.parametrize(
    ("game", "kinds", "options", "words"),
    [
        ("tictactoe", ["random"], {}, "2 to 40 agents, not 1"),
        ("tictactoe", ["random"] * 41, {}, "2 to 40 agents, not 41"),
        ("tictactoe", ["random", "nobody"], {}, 'unknown agent "nobody"'),
        ("tictactoe", ["random", "runs/nosuch"], {}, "there is no run"),
        ("tictactoe", ["random", "random"], {"games": 3}, "play 2 or 4"),
        ("tictactoe", ["random", "random"], {"games": 0}, "--games"),
        ("tictactoe", ["random", "random"], {"keep": -1}, "--keep"),
        ("car", ["random", "scripted"], {}, "one seat"),
        ("chss", ["random", "random"], {}, "unknown game"),
    ],
)
def test_invalid_battles_raise_an_error(game, kinds, options, words):
    with pytest.raises(LudusError, match=words):
        battle.tournament(game, kinds, **options)


def test_without_a_run_the_game_must_be_given():
    with pytest.raises(LudusError, match="--game tictactoe"):
        battle.game_of(["random", "perfect"], None)
    with pytest.raises(LudusError, match="2 to 40 agents"):
        battle.game_of(["random"], None)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    result = battle.battle("tictactoe", ["random", "random"], games=2, keep=1)
    with pytest.raises(LudusError, match="cannot create the folder"):
        battle.save(tmp_path / "file" / "folder", result)


def test_the_commands_for_two(tmp_path):
    answer = ludus("battle", "perfect", "random", "--game", "tictactoe", "--games", 100, "--keep", 1, "--out", tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "perfect won" in answer.stdout and "seat 1" in answer.stdout and "games/s" in answer.stdout
    path = tmp_path / "01-perfect-random-0001.replay"
    watched = ludus("replay", path).stdout
    assert watched.startswith("tictactoe, seed ") and "1. perfect: " in watched and "over: perfect" in watched
    facts = json.loads(ludus("replay", path, "--json").stdout)
    assert len(facts["moves"]) == facts["actions"] and facts["agents"] == ["perfect", "random"]
    for ending, frames in (("gif", facts["actions"] + 1), ("png", 1)):
        assert ludus("replay", path, "--out", tmp_path / f"a.{ending}").returncode == 0
        with Image.open(tmp_path / f"a.{ending}") as picture:
            assert getattr(picture, "n_frames", 1) == frames
    path.write_bytes(path.read_bytes()[:-1])
    broken = ludus("replay", path)
    assert broken.returncode == 2 and "damaged" in broken.stderr and "Traceback" not in broken.stderr


def test_the_command_for_many(tmp_path):
    arguments = ("perfect", "random", "random", "--game", "tictactoe", "--games", 20, "--out", tmp_path)
    facts = json.loads(ludus("battle", *arguments, "--json").stdout)
    assert facts["game"] == "tictactoe" and facts["agents"][0]["agent"] == "perfect" and len(facts["battles"]) == 3
    assert facts["files"] == [str(tmp_path / "payoff.png")] and (tmp_path / "payoff.png").stat().st_size > 1000


def test_keep_needs_a_folder():
    answer = ludus("battle", "random", "random", "--game", "tictactoe", "--keep", 1)
    assert answer.returncode == 2 and "--out" in answer.stderr


def test_a_replay_in_a_terminal_waits_for_input(tmp_path):
    replays.save(tmp_path / "a.replay", replays.record("tictactoe", 0, ["anna", "ben"], [0, 3, 1, 4, 2]))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ludus.cli", "replay", str(tmp_path / "a.replay")]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        os.write(ours, b"\n2\nq\n")
        seen = b""
        with contextlib.suppress(OSError):  # which is how a terminal ends
            while part := os.read(ours, 65536):
                seen += part
        assert process.wait(60) == 0
    os.close(ours)
    assert b"step 3 of 5" in seen and b"3. anna: b1" in seen and b"4. ben" not in seen
