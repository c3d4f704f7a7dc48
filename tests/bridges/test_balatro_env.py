"""Balatro as RLlib's environment: its spaces, its clients, and the vectorised form compared with single games."""

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="pip install ludus[gymnasium]")

import gymnasium
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from ludus.bridges.balatro_env import BalatroEnv, BalatroVectorEnv
from ludus.types import LudusError


class Graph:
    """A memgraph_client whose embeddings count the cards in the pile."""

    def embeddings(self, observation):
        self.shapes = {name: array.shape for name, array in observation.items()}
        return np.repeat(observation["cards"][:, :, 1].mean(axis=1)[:, None], 128, axis=1)


def legal(observation, dice):
    masks = np.atleast_2d(observation["action_mask"])
    return np.array([dice.choice(np.flatnonzero(mask)) for mask in masks])


def test_the_spaces_are_those_of_the_document():
    env = BalatroEnv({})
    assert env.action_space == spaces.Discrete(1000)
    shapes = {
        name: (space.shape, float(space.low.min()), float(space.high.max()))
        for name, space in env.observation_space.items()
    }
    assert shapes == {
        "cards": ((52, 4), 0.0, 1.0), "jokers": ((150, 8), 0.0, 1.0), "game_state": ((50,), -np.inf, np.inf),
        "memgraph_embedding": ((128,), -1.0, 1.0), "action_mask": ((1000,), 0.0, 1.0),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*A Box observation space m(in|ax)imum value is -?infinity")
@pytest.mark.filterwarnings("ignore:.*Not able to test alternative render modes")
def test_gymnasium_accepts_it():
    check_env(BalatroEnv({"stake": "green"}, render_mode="ansi"))
    check_env(BalatroEnv())


def test_each_row_plays_like_a_single_game():
    several, dice = BalatroVectorEnv({"scale": 0.1}, num_envs=3), np.random.default_rng(0)
    singles = [BalatroEnv({"scale": 0.1}) for _ in range(3)]
    seen, _ = several.reset(seed=7)
    alone = [env.reset(seed=7 + row)[0] for row, env in enumerate(singles)]
    ended = np.zeros(3, bool)
    for _ in range(150):
        for row in range(3):
            assert all(np.array_equal(seen[name][row], alone[row][name]) for name in seen)
            assert several.single_observation_space.contains({name: array[row] for name, array in seen.items()})
        actions = legal(seen, dice)
        seen, rewards, *ends, _ = several.step(actions)
        for row, env in enumerate(singles):
            if ended[row]:
                alone[row], _ = env.reset()
                assert rewards[row] == 0.0
                continue
            alone[row], reward, *end, _ = env.step(actions[row])
            assert (reward, end) == (rewards[row], [bool(part[row]) for part in ends])
        ended = ends[0] | ends[1]
    assert (several.pool.states["furthest_ante"] > 1).any()


def test_rllib_makes_it_as_one_vector_environment():
    """As an env runner does: the number of games is a key of the config."""
    env = BalatroVectorEnv({"num_envs": 4, "mcp_client": None, "memgraph_client": None})
    assert env.num_envs == 4 and env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP
    assert env.reset(seed=1)[0]["cards"].shape == (4, 52, 4)


def test_a_memgraph_client_gives_the_embedding():
    graph = Graph()
    env = BalatroVectorEnv({"memgraph_client": graph}, num_envs=2)
    seen, _ = env.reset(seed=1)
    assert graph.shapes == {"cards": (2, 52, 4), "jokers": (2, 150, 8), "game_state": (2, 50)}
    assert np.allclose(seen["memgraph_embedding"], 0.25)
    assert not BalatroEnv().reset(seed=1)[0]["memgraph_embedding"].any()


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"mpc_client": None}, r'unknown setting "mpc_client"; did you mean "mcp_client"\?'),
        ({"xyzzy": 1}, r'unknown setting "xyzzy"; known are actions, deck'),
        (
            {"mcp_client": "localhost"},
            r"mcp_client is 'localhost'; expected an object with the methods reset, play, close",
        ),
        ({"memgraph_client": object()}, r"memgraph_client is <object .*, which has no method embeddings"),
        ({"stake": "beige"}, r"balatro: stake=beige is not allowed"),
        ({"num_envs": 0}, r"num_envs is 0; expected 1 or more"),
        ({"threads": "two"}, r"threads is 'two'; expected 1 or more"),
    ],
)
def test_wrong_configs_are_refused(config, sentence):
    with pytest.raises(LudusError, match=sentence):
        BalatroVectorEnv(config)


@pytest.mark.parametrize(
    ("embedding", "sentence"),
    [(np.zeros((1, 64)), r"returned the shape \(1, 64\); expected \(1, 128\)"),
     (np.full((1, 128), 2.0), "returned numbers outside of -1 to 1"),
     (np.full((1, 128), np.nan), "returned numbers outside of -1 to 1")],
)  # fmt: skip
def test_wrong_embeddings_are_refused(embedding, sentence):
    graph = Graph()
    graph.embeddings = lambda observation: embedding
    with pytest.raises(LudusError, match=sentence):
        BalatroEnv({"memgraph_client": graph}).reset(seed=1)


def test_a_step_without_a_game_is_refused():
    env = BalatroEnv()
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        BalatroVectorEnv().step([0])
    with pytest.raises(LudusError, match='balatro has no render mode "human"'):
        BalatroEnv(render_mode="human")
