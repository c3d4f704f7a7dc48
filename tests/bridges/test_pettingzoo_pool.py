"""PettingZoo environments as pools, AEC and parallel: real games, and small ones in which players drop out."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

pytest.importorskip("pettingzoo", reason="pip install 'ludus[pettingzoo]'")
pytest.importorskip("pygame", reason="pip install 'pettingzoo[classic]'")

import pettingzoo
from gymnasium import spaces
from pettingzoo.classic.connect_four import connect_four
from pettingzoo.classic.rps import rps
from pettingzoo.utils import AgentSelector
from pettingzoo.utils.conversions import parallel_to_aec

from ludus.bridges import open_pool
from ludus.bridges.pettingzoo_pool import from_aec, from_parallel
from ludus.dsl import CUT, OVER, PLAYING, bounds
from ludus.types import Discrete, LudusError


def test_tictactoe_is_alternating():
    pool = open_pool("pettingzoo:classic/tictactoe-v3", 2)
    assert pool.spec.seats == 2
    assert pool.spec.turns == "alternating"
    assert pool.spec.actions == Discrete(9)
    assert pool.observation.names == ("observation",)
    assert pool.observation["observation"].shape == (3, 3, 2)
    step = pool.step
    for turn, action in enumerate([0, 3, 1, 4]):
        assert step.seat.tolist() == [turn % 2] * 2
        assert step.mask[0].sum() == 9 - turn
        step = pool.advance([action, 8 - action])
        assert step.reward.tolist() == [[0, 0], [0, 0]]
    step = pool.advance([2, 3])  # three in a line for the first player of row 0 alone
    assert pool.status.tolist() == [OVER, PLAYING]
    assert step.reward.tolist() == [[1, -1], [0, 0]]
    assert step.discount.tolist() == [0, 1]
    assert step.mask[0].all()
    assert step.observation["observation"][0].sum() == 5
    step = pool.advance([0, 6])
    assert step.first.tolist() == [True, False]
    assert step.reward[0].tolist() == [0, 0]
    assert step.observation["observation"][0].sum() == 0
    assert step.seat.tolist() == [0, 0]
    assert pool.name == "pettingzoo:classic/tictactoe-v3"


def test_an_occupied_field_is_not_legal():
    pool = open_pool("pettingzoo:classic/tictactoe-v3", 2)
    pool.advance([4, 0])
    before = pool.step.observation["observation"]
    with pytest.raises(LudusError, match="action 4 of row 0 is not legal for seat 1; legal actions: 0, 1, 2, 3, 5"):
        pool.advance([4, 4])
    assert pool.step.observation["observation"].tolist() == before.tolist()
    assert pool.advance([0, 4]).observation["observation"].sum() == 4


def test_connect_four_equals_the_environment():
    """Observation, mask, seat and rewards equal those of the environment, stepped as in PettingZoo's documentation."""
    pool, env = open_pool("pettingzoo:classic/connect_four-v3", 1, seed=1), connect_four.env()
    step, ends = pool.step, 0
    env.reset(seed=0)
    for turn in range(200):
        agent = env.agent_selection
        observation = env.observe(agent)
        assert step.seat[0] == env.possible_agents.index(agent)
        assert step.observation["observation"][0].tolist() == observation["observation"].tolist()
        assert step.mask[0].tolist() == observation["action_mask"].astype(bool).tolist()
        action = int(pool.random_actions(turn)[0])
        step = pool.advance([action])
        env.step(action)
        assert step.reward[0].tolist() == [env.rewards[agent] for agent in env.possible_agents]
        assert (pool.status[0] == OVER) == all(env.terminations.values())
        if pool.status[0] == OVER:
            assert step.mask.all()
            ends += 1
            env.reset()
            step = pool.advance([0])
            assert step.first[0]
    assert ends >= 5


def test_rock_paper_scissors_is_simultaneous():
    pool = open_pool("pettingzoo:classic/rps-v2(max_cycles=3)", 2)
    assert pool.name == "pettingzoo:classic/rps-v2(max_cycles=3)"
    assert pool.spec.turns == "simultaneous"
    assert [int(bound) for bound in bounds(pool.observation, "observation")] == [0, 3]
    assert pool.step.seat.tolist() == [0, 1, 0, 1]
    assert pool.step.observation["observation"].tolist() == [3, 3, 3, 3]
    assert pool.describe(1) == "seat 0, observation: 3\nseat 1, observation: 3"
    step = pool.advance([0, 1, 2, 2])  # paper beats rock; a draw
    assert step.reward.tolist() == [[-1, 1], [-1, 1], [0, 0], [0, 0]]
    assert step.observation["observation"].tolist() == [1, 0, 2, 2]
    pool.advance([0, 0, 0, 0])
    step = pool.advance([0, 2, 2, 0])
    assert pool.status.tolist() == [CUT, CUT], "max_cycles truncates the game, and no agent has terminated"
    assert step.discount.tolist() == [1, 1, 1, 1]
    assert step.reward[[0, 2]].tolist() == [[1, -1], [-1, 1]]
    step = pool.advance([9, -1, 0, 0])
    assert step.first.all()
    assert (step.reward == 0).all()
    assert step.observation["observation"].tolist() == [3, 3, 3, 3]


def test_rock_paper_scissors_as_aec_adds_up_rewards():
    pool = from_aec(lambda: rps.env(max_cycles=2), 1)
    assert pool.name == "pettingzoo:rps_v2"
    rewards, statuses = [], []
    for action in (0, 1, 2, 1):
        rewards.append(pool.advance([action]).reward[0].tolist())
        statuses.append(int(pool.status[0]))
    assert rewards == [[0, 0], [-1, 1], [0, 0], [1, -1]]
    assert statuses == [PLAYING, PLAYING, PLAYING, CUT]
    assert pool.advance([0]).first[0]


class Survivors(pettingzoo.ParallelEnv):
    """Each player leaves after its own number of rounds and gets a reward of its seat plus one in every round."""

    metadata = {"name": "survivors", "render_modes": []}  # noqa: RUF012
    render_mode = None

    def __init__(self, rounds=(1, 3, 2), cut=(), different=False):
        self.possible_agents = [f"player_{seat}" for seat in range(len(rounds))]
        self.rounds, self.cut, self.different = dict(zip(self.possible_agents, rounds, strict=True)), cut, different
        self.agents, self.given = [], []

    def observation_space(self, agent):
        return spaces.Box(0, 100, (2,), np.float32)

    def action_space(self, agent):
        return spaces.Discrete(3 if self.different and agent == "player_1" else 2)

    def reset(self, seed=None, options=None):
        if seed is not None:
            self.generator = np.random.default_rng(seed)
        self.agents, self.round = self.possible_agents[:], 0
        return self._look(self.agents), {agent: {} for agent in self.agents}

    def step(self, actions):
        assert list(actions) == self.agents, "only the remaining agents act"
        self.given.append(actions)
        self.round += 1
        acting = self.agents
        ended = {agent: self.round >= self.rounds[agent] for agent in acting}
        rewards = {agent: 1.0 + self.possible_agents.index(agent) for agent in acting}
        self.agents = [agent for agent in acting if not ended[agent]]
        terminations = {agent: ended[agent] and agent not in self.cut for agent in acting}
        truncations = {agent: ended[agent] and agent in self.cut for agent in acting}
        masks = {agent: {"action_mask": np.array([1, self.round % 2], np.int8)} for agent in acting}
        return self._look(acting), rewards, terminations, truncations, masks

    def _look(self, agents):
        return {agent: np.array([self.round + 1, self.generator.integers(90)], np.float32) for agent in agents}


def test_agents_that_left_see_zeros_and_do_not_act():
    env = Survivors()
    pool = from_parallel(lambda: env, 1, seed=3)
    assert pool.spec.seats == 3
    step = pool.advance([0, 1, 0])
    assert step.reward.tolist() == [[1, 2, 3]] * 3
    assert step.observation["observation"][:, 0].tolist() == [2, 2, 2], "the last observation is shown once"
    assert step.mask.all()
    step = pool.advance([77, 1, 1])
    assert env.given[-1] == {"player_1": 1, "player_2": 1}
    assert step.reward[0].tolist() == [0, 2, 3]
    assert step.observation["observation"][:, 0].tolist() == [0, 3, 3]
    assert step.observation["observation"][0].tolist() == [0, 0]
    assert step.mask.tolist() == [[True, True], [True, False], [True, True]]
    with pytest.raises(LudusError, match="action 1 of row 1 is not legal for seat 1"):
        pool.advance([0, 1, 0])
    step = pool.advance([0, 0, 0])
    assert pool.status.tolist() == [OVER]
    assert step.discount.tolist() == [0, 0, 0]
    assert step.observation["observation"][:, 0].tolist() == [0, 4, 0]
    step = pool.advance([0, 0, 0])
    assert step.first.all()
    assert step.observation["observation"][:, 0].tolist() == [1, 1, 1]


@pytest.mark.parametrize("make", [from_parallel, from_aec])
@pytest.mark.parametrize("cut", [(), ("player_0",), ("player_0", "player_1")])
def test_a_game_is_truncated_only_if_all_agents_were(cut, make):
    def build():
        return Survivors((1, 2), cut) if make is from_parallel else Dropouts((1, 2), cut)

    pool = make(build, 1)
    while pool.status[0] == PLAYING:
        step = pool.advance(pool.random_actions(0))
    assert pool.status[0] == (CUT if len(cut) == 2 else OVER)
    assert (step.discount == (1 if len(cut) == 2 else 0)).all()


class Dropouts(pettingzoo.AECEnv):
    """Players act in turn and drop out after their own number of moves, taking a point from each remaining player."""

    metadata = {"name": "dropouts", "render_modes": []}  # noqa: RUF012
    render_mode = None

    def __init__(self, moves=(2, 1, 3), cut=()):
        super().__init__()
        self.possible_agents = [f"player_{seat}" for seat in range(len(moves))]
        self.allowed, self.cut = dict(zip(self.possible_agents, moves, strict=True)), cut

    def observation_space(self, agent):
        return spaces.Discrete(100)

    def action_space(self, agent):
        return spaces.Discrete(4)

    def observe(self, agent):
        return sum(self.made.values())

    def reset(self, seed=None, options=None):
        self.agents = self.possible_agents[:]
        self.rewards, self._cumulative_rewards = dict.fromkeys(self.agents, 0), dict.fromkeys(self.agents, 0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.made = dict.fromkeys(self.agents, 0)
        self.order = AgentSelector(self.agents)
        self.agent_selection = self.order.next()

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            self.order.reinit(self.agents)
            self.agent_selection = self.order.next() if self.agents else agent
            return
        self._clear_rewards()
        self.made[agent] += 1
        if self.made[agent] == self.allowed[agent]:
            (self.truncations if agent in self.cut else self.terminations)[agent] = True
            for other in self.agents:
                self.rewards[other] = 1 if other == agent else -1
        self._accumulate_rewards()
        self.agent_selection = self.order.next()


def test_steps_of_dead_agents_are_made_inside_the_pool():
    pool = from_aec(Dropouts, 1)
    step, seats, rewards = pool.step, [], []
    while pool.status[0] == PLAYING:
        seats.append(int(step.seat[0]))
        step = pool.advance([0])
        rewards.append(step.reward[0].tolist())
    assert step.observation["observation"].tolist() == [6]
    assert sorted(seats) == [0, 0, 1, 2, 2, 2]
    assert rewards.count([-1, 1, -1]) == 1, "an agent that drops out takes a point from each of the others"
    assert rewards[-1] == [0, 0, 1]
    assert pool.status[0] == OVER
    assert pool.advance([0]).observation["observation"].tolist() == [0]


def test_a_converted_environment_gives_the_same_rewards():
    """PettingZoo's own conversion from parallel to AEC, which removes ended agents with dead steps."""
    totals = []
    for pool in (from_parallel(Survivors, 1), from_aec(lambda: parallel_to_aec(Survivors()), 1)):
        total = np.zeros(3)
        while pool.status[0] == PLAYING:
            total += pool.advance(np.zeros(len(pool.step.seat), int)).reward[0]
        assert pool.status[0] == OVER
        totals.append(total.tolist())
        assert pool.advance(np.zeros(len(pool.step.seat), int)).first.all()
    assert totals == [[1, 6, 6], [1, 6, 6]]


def test_seeds_determine_the_games():
    def stream(seed):
        pool = from_parallel(Survivors, 2, seed)
        return [pool.advance(pool.random_actions(turn)).observation["observation"].tolist() for turn in range(9)]

    assert stream(4) == stream(4)
    assert stream(4) != stream(5)
    seeds = from_parallel(Survivors, 2, [6, 6]).step.observation["observation"]
    assert seeds[:3].tolist() == seeds[3:].tolist()


def test_some_rows_can_be_reset():
    pool = from_parallel(Survivors, 2)
    before = pool.advance([0] * 6).observation["observation"]
    step = pool.reset(rows=[False, True])
    assert step.observation["observation"][:3].tolist() == before[:3].tolist()
    assert step.observation["observation"][3:, 0].tolist() == [1, 1, 1]
    assert step.first.tolist() == [False] * 3 + [True] * 3


def test_agents_with_different_spaces_raise():
    with pytest.raises(LudusError, match="the action spaces of player_0 and player_1 differ"):
        from_parallel(lambda: Survivors(different=True), 1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("classic/tictacto-v3", "did you mean classic/tictactoe-v3"),
        ("classic/tictactoe-v2", "did you mean classic/tictactoe-v3"),
        ("tictactoe", "did you mean classic/tictactoe-v3"),
        ("classic/rps-v2(wings=2)", "cannot make .* unexpected keyword argument 'wings'"),
        ("classic/rps-v2(num_actions=4)", "must be an odd number"),
        ("not a name", "is not a name"),
    ],
)
def test_invalid_names_raise(name, message):
    with pytest.raises(LudusError, match=message):
        open_pool(f"pettingzoo:{name}", 1)


@pytest.mark.filterwarnings("ignore:The old environment creation API:DeprecationWarning")
@pytest.mark.parametrize(("name", "turns"), [("tictactoe-v3", "alternating"), ("rps-v2", "simultaneous")])
def test_versions_without_a_registry_are_supported(name, turns, monkeypatch):
    for kind in ("aec_registry", "parallel_registry"):
        monkeypatch.delattr(pettingzoo, kind, raising=False)
    pool = open_pool(f"pettingzoo:classic/{name}", 1)
    assert pool.spec.turns == turns
    with pytest.raises(LudusError, match="did you mean"):
        open_pool(f"pettingzoo:classic/{name}0", 1)


def test_the_error_for_a_missing_package_has_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "ludus.bridges.pettingzoo_pool")
    with pytest.raises(LudusError, match=r"pip install 'ludus\[pettingzoo\]'"):
        open_pool("pettingzoo:classic/rps-v2", 1)
    monkeypatch.undo()
    assert importlib.import_module("ludus.bridges.pettingzoo_pool")
