"""Games for several players as Gymnasium environments: opponents, seats, and illegal actions."""

from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="pip install ludus[gymnasium]")

import gymnasium
from gymnasium.utils.env_checker import data_equivalence

from ludus import agents
from ludus.bridges.gymnasium import ActionError, LudusEnv, LudusVectorEnv
from ludus.pool.actions import any_of
from ludus.rendering import images
from ludus.types import Decision, LudusError

TICTACTOE = "ludus/TicTacToe-v0"
LATE = '''"""Late: seat 0 moves twice, then seat 1 once; action a pays seat 1 a + 1, action 2 ends the game."""
from ludus.dsl import HEAD, OVER, Discrete, Spec, i8, record, rule, within

SPEC = Spec(seats=2, actions=Discrete(3), horizon=0)
STATE = record(**HEAD, moves=i8)
OBSERVATION = record(moves=within(0, 2, i8), seat=within(0, 1, i8))

@rule
def init(state):
    state.seat = 0

@rule
def step(state, action, reward):
    reward[1] = action + 1
    state.moves = (state.moves + 1) % 3
    state.seat = 1 if state.moves == 2 else 0
    if action == 2:
        state.status = OVER

@rule
def legal(state, seat, mask):
    for action in range(3):
        mask[action] = 1

@rule
def observe(state, seat, out):
    out.moves = state.moves
    out.seat = seat

def action_name(action):
    return str(action)
'''
THREE = '''"""Three: all three seats name a number at once, and see what was named."""
from ludus.dsl import HEAD, Discrete, Spec, i16, record, rule, within

SPEC = Spec(seats=3, actions=Discrete(200), turns="simultaneous", horizon=0)
STATE = record(**HEAD, named=(i16, 3))
OBSERVATION = record(named=within(0, 199, i16, 3))

@rule
def init(state):
    pass

@rule
def step(state, actions, reward):
    for seat in range(3):
        state.named[seat] = actions[seat]

@rule
def legal(state, seat, mask):
    for action in range(200):
        mask[action] = 1

@rule
def observe(state, seat, out):
    for other in range(3):
        out.named[other] = state.named[other]

def action_name(action):
    return str(action)
'''


@dataclass(frozen=True)
class Counting:
    """Plays the action with the number of its earlier actions in this game, at most `most`."""

    most: int = 2

    def init(self, spec, key):
        return ()

    def memory(self, rows):
        return np.zeros(rows, np.int64)

    def act(self, params, memory, step, key):
        acted = np.where(step.first, 0, memory)
        rows = len(acted)
        decision = Decision(np.minimum(acted, self.most), np.zeros(rows), np.zeros(step.reward.shape))
        return decision, acted + 1


@pytest.fixture
def late(tmp_path, monkeypatch):
    """Environments of the game above against the agent above."""

    def make(vector=0, most=2, **options):
        monkeypatch.setattr(agents, "load", lambda name, game: Counting(most))
        return LudusVectorEnv("late", vector, **options) if vector else LudusEnv("late", **options)

    (tmp_path / "late.py").write_text(LATE)
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    return make


def play(env, *actions):
    """The result of the last `step`."""
    for action in actions:
        result = env.step(action)
    return result


def test_the_opponent_answers_in_the_same_step():
    env = gymnasium.make(TICTACTOE, opponent="random")
    board, info = env.reset(seed=0)
    assert board.tolist() == [0] * 9
    board, reward, terminated, truncated, info = env.step(4)
    assert sorted(board.tolist()) == [0] * 7 + [1, 2]
    assert info["action_mask"].tolist() == (board == 0).tolist()
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_in_the_second_seat_the_opponent_moves_first():
    env = gymnasium.make(TICTACTOE, seat=1)
    board, info = env.reset(seed=0)
    assert sorted(board.tolist()) == [0] * 8 + [2]
    assert info["action_mask"].tolist() == (board == 0).tolist()


def test_a_seat_drawn_at_random():
    envs = gymnasium.make_vec(TICTACTOE, num_envs=200, seat="random")
    boards, _ = envs.reset(seed=3)
    seats = envs.unwrapped.games.seat
    assert 70 < seats.sum() < 130
    assert np.array_equal(boards.any(axis=1), seats == 1)
    for _ in range(10):  # a new seat for every game
        envs.step(np.zeros(200, np.int64))
    assert 70 < seats.sum() < 130
    assert not np.array_equal(boards.any(axis=1), seats == 1)


@pytest.mark.parametrize("seat", [0, 1])
def test_the_end_is_seen_from_the_players_own_seat(seat):
    """Whoever makes the last move, the player's own stones are 1, and the reward is the player's."""
    envs = gymnasium.make_vec(TICTACTOE, num_envs=32, seat=seat)
    _, info = envs.reset(seed=1)
    lines = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])
    results = []
    for turn in range(60):
        boards, rewards, ended, _, info = envs.step(any_of(info["action_mask"], turn))
        won, lost = ((boards[:, lines] == stone).all(axis=2).any(axis=1) for stone in (1, 2))
        assert np.array_equal(rewards, np.where(ended, won * 1.0 - lost, 0.0))
        assert (info["action_mask"][ended] == 1).all()
        results += rewards[ended].tolist()
    assert {-1.0, 0.0, 1.0} == set(results)


@pytest.mark.parametrize("seat", [0, 1])
def test_the_perfect_opponent_never_loses(seat):
    envs = gymnasium.make_vec(TICTACTOE, num_envs=64, opponent="perfect", seat=seat)
    _, info = envs.reset(seed=1)
    total = np.zeros(3)
    for turn in range(40):
        _, rewards, ended, _, info = envs.step(any_of(info["action_mask"], turn))
        total += [(rewards[ended] == result).sum() for result in (-1, 0, 1)]
    assert total[0] > 200
    assert total[1] > 0
    assert total[2] == 0


@pytest.mark.parametrize("opponent", ["perfect", "mcts(8)", "trained"])
@pytest.mark.parametrize("seat", [0, "random"])
def test_rows_do_not_depend_on_their_neighbours(opponent, seat):
    """A row equals the single environment with its seed, also with a random or searching opponent."""
    options = {"opponent": opponent, "seat": seat}
    ours = gymnasium.make_vec(TICTACTOE, num_envs=3, **options)
    loop = gymnasium.make_vec(TICTACTOE, num_envs=3, vectorization_mode="sync", **options)
    ours.action_space.seed(0)
    assert data_equivalence(ours.reset(seed=4), loop.reset(seed=4), exact=True)
    for _ in range(30):
        actions = ours.action_space.sample()
        assert data_equivalence(ours.step(actions), loop.step(actions), exact=True)


def test_rewards_of_the_opponents_moves_are_added(late):
    """Seat 1 also gets the rewards of the opponent's two moves before its own first one: actions 0 and 1."""
    env = late(seat=1)
    observation, _ = env.reset(seed=0)
    assert observation == {"moves": 2, "seat": 1}
    observation, reward, terminated, _, _ = env.step(1)
    # Before: 1 + 2. Its own: 2. The opponent's third action is 2 and ends the game: 3.
    assert (observation, reward, terminated) == ({"moves": 1, "seat": 1}, 8.0, True)


def test_a_player_may_move_twice_in_a_row(late):
    env = late(most=1)
    env.reset(seed=0)
    assert play(env, 0)[0] == {"moves": 1, "seat": 0}
    observation, reward, *_ = env.step(1)
    assert (observation, reward) == ({"moves": 0, "seat": 0}, 0.0)


def test_the_opponents_memory_is_reset_for_every_game(late):
    """The opponent counts its actions in each game: 0, 1, then 2, which ends the game."""
    env = late(seat=1)
    for _ in range(2):
        env.reset()
        assert play(env, 0)[1:3] == (1 + 2 + 1 + 3, True)
    first = late()
    for _ in range(2):
        first.reset()
        assert [play(first, 0, 0)[2] for _ in range(3)] == [False, False, True]
    envs = late(3)
    envs.reset()
    ends = [play(envs, [0] * 3, [0] * 3)[2].tolist() for _ in range(3)]
    assert ends == [[False] * 3, [False] * 3, [True] * 3]
    play(envs, [0] * 3)
    ends = [play(envs, [0] * 3, [0] * 3)[2].tolist() for _ in range(3)]
    assert ends == [[False] * 3, [False] * 3, [True] * 3]


def test_a_game_that_ends_before_the_first_turn_is_reported_by_the_first_step(late, monkeypatch):
    """The opponent's very first action is 2, which ends the game and pays 3."""
    monkeypatch.setattr(Counting, "act", lambda self, params, memory, step, key: (decide_two(step), memory))
    env = late(seat=1)
    for _ in range(2):
        observation, info = env.reset(seed=0)
        assert observation == {"moves": 1, "seat": 1}
        assert info["action_mask"].tolist() == [1, 1, 1]
        assert env.step(0)[1:4] == (3.0, True, False)
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)
    envs = late(2, seat=1)
    envs.reset(seed=0)
    result = [envs.step([0, 0])[1:3] for _ in range(4)]
    assert [rewards.tolist() for rewards, _ in result] == [[3.0, 3.0], [0.0, 0.0]] * 2
    assert [ended.tolist() for _, ended in result] == [[True, True], [False, False]] * 2


def decide_two(step):
    return Decision(np.full(len(step.seat), 2), np.zeros(len(step.seat)), np.zeros(step.reward.shape))


def test_goofspiel_is_simultaneous():
    env = gymnasium.make("ludus/Goofspiel-v0", seat=1)
    seen, info = env.reset(seed=0)
    total = 0.0
    for bid in range(13):
        assert info["action_mask"].tolist() == seen["cards"][0].tolist() == [0] * bid + [1] * (13 - bid)
        seen, reward, terminated, _, info = env.step(bid)
        total += reward
    assert terminated
    assert total == np.sign(seen["points"][0] - seen["points"][1])


def test_opponents_in_several_seats_have_separate_random_streams(tmp_path, monkeypatch):
    (tmp_path / "three.py").write_text(THREE)
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    env = LudusEnv("three", seat=1)
    env.reset(seed=0)
    named = np.array([env.step(7)[0] for _ in range(20)])
    assert (named[:, 1] == 7).all()
    assert (named[:, 0] != named[:, 2]).sum() > 15
    assert all(len(set(named[:, seat])) > 15 for seat in (0, 2))


def test_the_position_as_one_number():
    """The sum of cell i times 3^i, where 1 is the first player's stone and 2 the second's, for either seat."""
    for seat in (0, 1):
        number, board = (
            gymnasium.make(TICTACTOE, seat=seat, observation=kind, opponent="perfect") for kind in ("integer", "record")
        )
        assert number.observation_space == gymnasium.spaces.Discrete(19683)
        seen, cells = number.reset(seed=5)[0], board.reset(seed=5)[0]
        for action in range(9):
            first = np.where(cells == 0, 0, np.where((cells == 1) == (seat == 0), 1, 2))
            assert seen == sum(int(cell) * 3**place for place, cell in enumerate(first))
            seen, _, ended, _, _ = number.step(action)
            cells, *_ = board.step(action)
            if ended:
                break
    envs = gymnasium.make_vec(TICTACTOE, num_envs=2, observation="integer", illegal="end")
    assert envs.reset(seed=0)[0].tolist() == [0, 0]
    seen, *_ = envs.step([0, 8])
    # 1 or 3^8 for one's own stone, and twice a power of 3 for the other's.
    assert all((code - own) // 2 in 3 ** np.arange(9) for code, own in zip(seen.tolist(), (1, 6561), strict=True))
    with pytest.raises(LudusError, match="connect4 does not number its positions"):
        gymnasium.make("ludus/Connect4-v0", observation="integer")


def test_an_illegal_action_is_replaced_by_a_random_legal_one():
    env, played = gymnasium.make("ludus/Recall-v0"), []
    _, info = env.reset(seed=0)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, _, _, _, info = env.step(illegal)
    assert info["illegal_action"] == illegal
    assert "illegal_action" not in env.step(int(info["action_mask"].argmax()))[4]
    env = gymnasium.make(TICTACTOE, opponent="perfect")
    for seed in [*range(30), *range(30)]:
        env.reset(seed=seed)
        before, *_, info = env.step(0)
        assert "illegal_action" not in info
        after, *_, info = env.step(0)
        assert info["illegal_action"] == 0
        played.append(int(np.flatnonzero((after == 1) & (before == 0))[0]))
    assert played[:30] == played[30:]
    assert len(set(played)) > 4


def test_the_same_seed_and_actions_give_the_same_games():
    env, games = gymnasium.make("ludus/Connect4-v0", seat="random"), []
    for _ in range(2):
        result = [env.reset(seed=9)]
        for _ in range(60):
            result.append(env.step(3))
            if result[-1][2]:
                result.append(env.reset())
        games.append(result)
    assert data_equivalence(*games, exact=True)


def test_an_illegal_action_may_end_the_game():
    env = gymnasium.make(TICTACTOE, illegal="end")
    for action in (4, 9, -1):  # occupied, and outside of the board
        env.reset(seed=0)
        before, *_ = env.step(4)
        board, reward, terminated, truncated, info = env.step(action)
        assert np.array_equal(board, before)
        assert (reward, terminated, truncated) == (-1.0, True, False)
        assert info.pop("action_mask").tolist() == [1] * 9
        assert info == {"invalid_move": True}
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)
    env.reset(seed=0)
    assert "invalid_move" not in env.step(4)[4]


@pytest.mark.parametrize("name", ["ludus/Recall-v0", "ludus/Connect4-v0", "ludus/Goofspiel-v0"])
def test_rows_ended_by_an_illegal_action_start_a_new_game(name):
    ours = gymnasium.make_vec(name, num_envs=4, illegal="end")
    loop = gymnasium.make_vec(name, num_envs=4, illegal="end", vectorization_mode="sync")
    ours.action_space.seed(0)
    assert data_equivalence(ours.reset(seed=4), loop.reset(seed=4), exact=True)
    ends = 0
    for _ in range(100):
        actions = ours.action_space.sample()
        result = ours.step(actions)
        assert data_equivalence(result, loop.step(actions), exact=True)
        ends += result[4].get("invalid_move", np.zeros(4)).sum()
    assert ends > 3


def test_an_illegal_action_may_raise():
    env = gymnasium.make(TICTACTOE, illegal="raise", seat=1)
    board, _ = env.reset(seed=0)
    taken = int(board.argmax())
    with pytest.raises(ActionError, match=f"tictactoe: action {taken} of row 0 is not legal for seat 1"):
        env.step(taken)
    env.step(int(board.argmin()))
    envs = gymnasium.make_vec("ludus/Goofspiel-v0", num_envs=2, illegal="raise")
    envs.reset(seed=0)
    envs.step([5, 6])
    before = envs.pool.states.tobytes()
    with pytest.raises(ActionError, match="goofspiel: action 6 of row 2 is not legal for seat 0"):
        envs.step([6, 6])
    assert envs.pool.states.tobytes() == before


@pytest.mark.parametrize("illegal", ["random", "raise"])
def test_an_action_outside_the_action_space_raises(illegal):
    env = gymnasium.make(TICTACTOE, illegal=illegal)
    env.reset(seed=0)
    for action, message in ((9, "action 9 of row 0 is not legal"), (1.5, "expects int64 actions, not float64")):
        with pytest.raises(ActionError, match=message):
            env.step(action)


def test_action_masks():
    env = gymnasium.make(TICTACTOE)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.unwrapped.action_masks()
    env.reset(seed=0)
    _, _, _, _, info = env.step(4)
    mask = env.get_wrapper_attr("action_masks")()
    assert mask.dtype == bool
    assert np.array_equal(mask, info["action_mask"])
    envs = gymnasium.make_vec(TICTACTOE, num_envs=3)
    _, info = envs.reset(seed=0)
    assert np.array_equal(envs.action_masks(), info["action_mask"])
    car = gymnasium.make("ludus/Car-v0").unwrapped
    car.reset(seed=0)
    with pytest.raises(LudusError, match="the actions of car are continuous"):
        car.action_masks()


@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        ("TicTacToe", {"seat": 2}, 'tictactoe has the seats 0 to 1 and "random"; there is no seat 2'),
        ("TicTacToe", {"seat": "first"}, "there is no seat 'first'"),
        ("TicTacToe", {"opponent": "deep blue"}, 'unknown agent "deep blue"'),
        ("TicTacToe", {"illegal": "ignore"}, 'illegal="ignore" is unknown; it is random, end, raise'),
        ("TicTacToe", {"observation": "pixels"}, 'observation="pixels" is unknown; it is record or integer'),
        ("Goofspiel", {"opponent": "perfect"}, "goofspiel has no perfect player"),
        ("CartPole", {"opponent": "random"}, 'cartpole has one seat, so it has no opponent "random"'),
    ],
)
def test_invalid_options_raise(game, options, message):
    with pytest.raises(LudusError, match=message):
        gymnasium.make(f"ludus/{game}-v0", **options)
    with pytest.raises(LudusError, match=message):
        gymnasium.make_vec(f"ludus/{game}-v0", num_envs=2, **options)


def test_the_picture_shows_the_view_of_the_players_seat():
    """Goofspiel shows the player's own cards at the bottom."""
    env = gymnasium.make("ludus/Goofspiel-v0", render_mode="rgb_array", seat=1)
    env.reset(seed=0)
    env.step(12)
    pool = env.unwrapped.pool
    theirs, own = (images.raster(pool.scene(0, seat), pool.spec.frame) for seat in (0, 1))
    assert np.array_equal(env.render(), own)
    assert not np.array_equal(env.render(), theirs)
