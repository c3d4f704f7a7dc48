"""The reported evaluation of a position is the one that the network plays by."""

import json
import math
import pathlib

import numpy as np
import pytest

from ludus.agents import checkpoint, trained
from ludus.agents.neural import devices
from ludus.agents.neural.networks import memory_usage, total_params
from ludus.bridges import identity_of, open_pool
from ludus.evaluation import footprint, inspection
from ludus.training import config, runs
from ludus.types import Continuous, LudusError

SMALL = {"num_layers": 1, "num_channels": 32, "rnn_channels": 16, "rnn_type": "gru", "critic_width": 16}


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """The folder of a checkpoint of an untrained network."""
    devices.start()
    from ludus.agents.neural import agent as deep

    def make(game, kind="mlp", curious=False, **args):
        pool = open_pool(game, 1, 0)
        description = {"kind": kind, "args": args, "bfloat16": False, "curious": curious}
        agent = deep.agent_of(pool, description)
        manifest = checkpoint.describe(identity_of(pool), description, {"kind": "ppo"}, steps=5)
        arrays = {"params": checkpoint.flatten(agent.init(pool.spec, 7))}
        return checkpoint.save(tmp_path_factory.mktemp("network"), 5, checkpoint.Checkpoint(manifest, arrays))

    return make


@pytest.fixture(scope="module")
def mlp(network):
    return network("tictactoe", width=8, depth=2)


def test_the_size_of_a_network(mlp):
    facts = inspection.inspect(mlp)
    first, second = 18 * 8 + 8, 8 * 8 + 8
    parts = {"actor_0": first, "actor_1": second, "critic_0": first, "critic_1": second, "policy": 81, "value": 9}
    assert {name: part["count"] for name, part in facts["parameters"]["parts"].items()} == parts
    assert facts["parameters"]["count"] == sum(parts.values())
    assert facts["parameters"]["megabytes"] == pytest.approx(4 * sum(parts.values()) / 1e6)
    assert facts["agent"]["args"] == {"width": 8, "depth": 2} and facts["steps"] == 5
    words = inspection.as_text(facts)
    assert "mlp: width 8, depth 2" in words and f"{sum(parts.values())}" in words and "critic_1" in words


@pytest.mark.parametrize(
    ("kind", "args", "batches"), [("mlp", {"width": 8}, footprint.BATCHES), ("rnn", SMALL, (8,))], ids=["mlp", "rnn"]
)
def test_the_footprint_of_a_network(network, monkeypatch, kind, args, batches):
    """A row of the GRU remembers sixteen float32 for each of the two seats."""
    monkeypatch.setattr(footprint, "BATCHES", batches)
    path = network("tictactoe", kind, **args)
    facts = json.loads(json.dumps(inspection.inspect(path, speed=True), allow_nan=False))
    found, deep = facts["footprint"], trained.load(path).agent.network
    remembered = 2 * 16 * 4 if kind == "rnn" else 0
    assert found["memory_per_row"] == remembered and [batch["rows"] for batch in found["batches"]] == list(batches)
    for batch in found["batches"]:
        assert batch["milliseconds"] > 0
        assert batch["megabytes"] == pytest.approx(memory_usage(deep, batch["rows"]))
    assert facts["parameters"]["count"] == total_params(deep)
    words = inspection.as_text(facts).splitlines()
    assert any(line.startswith("memory") and line.endswith(f"{remembered} bytes per row") for line in words)
    assert any(line.split()[:2] == [str(batches[-1]), "rows"] and " ms " in line for line in words)
    assert "footprint" not in inspection.inspect(path)


def test_a_world_model_tells_what_it_plays(monkeypatch):
    monkeypatch.setattr(footprint, "BATCHES", (8,))
    facts = inspection.inspect(
        pathlib.Path(trained.__file__).parent / "pretrained" / "car.dreamer", ("0.5,1",), speed=True
    )
    sizes, (low, high) = facts["parameters"], trained.load(facts["checkpoint"]).agent.action_bounds
    assert sizes["count"] == sum(part["count"] for part in sizes["parts"].values()) > 1000
    assert sizes["parts"].keys() == {"model", "actor", "critics"}
    action = facts["position"]["action"]
    assert len(action) == 2 and all(low[at] <= action[at] <= high[at] for at in range(2))
    assert "it plays " in inspection.as_text(facts) and " rows " in inspection.as_text(facts)


def test_parameters_that_are_not_learned_are_listed_separately():
    found = inspection.sizes({"params": {"a": {"x": np.zeros((2, 3), np.float32)}}, "seen": {"m": np.zeros(5)}})
    assert found["count"] == 6 and found["megabytes"] == pytest.approx(64e-6)
    assert found["parts"]["seen (not learned)"] == {"count": 5, "megabytes": 40e-6}


def test_the_probabilities_of_the_legal_moves(mlp):
    facts = inspection.inspect(mlp, ("b2", "a1"))
    position = json.loads(json.dumps(facts, allow_nan=False))["position"]
    chances = position["probabilities"]
    assert set(chances) == {"b1", "c1", "a2", "c2", "a3", "b3", "c3"} and sum(chances.values()) == pytest.approx(1)
    assert position["value_by_seat"][0] == -position["value_by_seat"][1] != 0 and position["seat"] == 0
    lines = inspection.as_text(facts).splitlines()[-7:]
    assert [line.split()[0] for line in lines] == sorted(chances, key=lambda name: -chances[name])
    assert all("█" in line for line in lines)


@pytest.mark.parametrize(("kind", "args"), [("mlp", {"width": 8}), ("rnn", SMALL)])
def test_the_probabilities_are_those_of_the_agent(network, kind, args):
    """Step by step, with the memory of the moves before."""
    path, moves = network("tictactoe", kind, **args), ("b2", "a1", "c3")
    agent, pool = trained.load(path), open_pool("tictactoe", 1, [0])
    memory = agent.memory(1)
    for move in moves:
        _, memory = agent.act(agent.params, memory, pool.step, 0)
        inspection._play(pool, move)
    decision, _ = agent.act(agent.params, memory, pool.step, 0)
    position = inspection.inspect(path, moves)["position"]
    best = max(position["probabilities"], key=position["probabilities"].get)
    assert best == pool.action_name(int(decision.action[0])) and position["seat"] == 1
    assert math.log(position["probabilities"][best]) == pytest.approx(float(decision.log_prob[0]), abs=1e-5)
    np.testing.assert_allclose(position["value_by_seat"], decision.value[0], atol=1e-5)


def test_memory_changes_the_evaluation(network):
    """Two ways to one position are evaluated equally without memory, and differently with memory."""
    for kind, args, same in (("mlp", {"width": 8}, True), ("rnn", SMALL, False)):
        path = network("tictactoe", kind, **args)
        one, other = (
            inspection.inspect(path, moves)["position"]["probabilities"]
            for moves in (("a1", "b2", "c3", "c1"), ("c3", "c1", "a1", "b2"))
        )
        assert (one == other) is same and one.keys() == other.keys()


def test_continuous_actions(network):
    path = network("car", width=8)
    position = inspection.inspect(path, ("0.5,1", "-0.25,0"))["position"]
    agent, pool = trained.load(path), open_pool("car", 1, [0])
    for move in ([0.5, 1.0], [-0.25, 0.0]):
        pool.advance([move])
    decision, _ = agent.act(agent.params, (), pool.step, 0)
    np.testing.assert_allclose([one["greedy"] for one in position["actions"]], decision.action[0], atol=1e-5)
    assert position["text"] == pool.describe() and len(position["value_by_seat"]) == 1
    words = inspection.as_text(inspection.inspect(path))
    assert "component 1: " in words and "deviation" in words and "from -1 to 1" in words


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 0.05), (0.7, 0.5), (-2.0, 1.0)])
def test_mean_and_deviation_are_those_of_sampled_actions(mean, deviation):
    (found,) = inspection.squashed(np.array([mean]), np.array([deviation]), Continuous((1.0,), (5.0,)))
    drawn = 3 + 2 * np.tanh(mean + deviation * np.random.default_rng(0).standard_normal(1_000_000))
    assert found["mean"] == pytest.approx(drawn.mean(), abs=0.01)
    assert found["deviation"] == pytest.approx(drawn.std(), abs=0.01)
    assert found["greedy"] == pytest.approx(3 + 2 * math.tanh(mean)) and (found["low"], found["high"]) == (1, 5)


def test_intrinsic_rewards_have_a_separate_value(network):
    position = inspection.inspect(network("lair", curious=True, width=8))["position"]
    assert len(position["value_by_seat"]) == 1 and position["novelty"] != position["value_by_seat"][0]
    assert set(position["probabilities"]) == {"up", "right", "down", "left"}


def test_the_end_of_a_game(mlp):
    facts = inspection.inspect(mlp, ("a1", "a2", "b1", "b2", "c1"))
    assert facts["position"]["over"] and facts["position"]["probabilities"] == {}
    assert inspection.as_text(facts).endswith("the game is over in this position")


def test_games_of_simultaneous_moves_show_their_opening(network):
    path = network("goofspiel", width=8)
    position = inspection.inspect(path)["position"]
    assert sum(position["probabilities"].values()) == pytest.approx(1) and len(position["value_by_seat"]) == 2
    with pytest.raises(LudusError, match="only its opening can be inspected"):
        inspection.inspect(path, (next(iter(position["probabilities"])),))


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        (("z9",), '"z9" is not a legal move here; legal moves are a1'),
        (("a1", "a2", "b1", "b2", "c1", "c2"), "over before"),
    ],
)
def test_illegal_moves_raise_an_error(mlp, moves, words):
    with pytest.raises(LudusError, match=words):
        inspection.inspect(mlp, moves)


@pytest.mark.parametrize("move", ["left", "1", "1,1,1", "1;1"])
def test_invalid_continuous_moves_raise_an_error(move):
    with pytest.raises(LudusError, match=f'"{move}" is not a legal move; a move is 2 numbers, like 0.5,0.5'):
        inspection._numbers(move, 2)


def test_bars_are_proportional_to_shares():
    assert [inspection.bar(share, 4) for share in (0, 1 / 32, 0.5, 0.53125, 1)] == ["", "▏", "██", "██▏", "████"]


def test_a_table_still_shows_values(tmp_path):
    small = {"game": "tictactoe", "algorithm": "q_learning", "steps": 2_000, "chunk": 2_000, "num_envs": 16,
             "eval_games": 2, "evaluations": 1}  # fmt: skip
    folder, settled = runs.start(config.from_dict(small, "the test"), tmp_path)
    assert list(runs.carry_out(folder, settled))[-1].finished
    facts = inspection.inspect(folder, ("b2",))
    assert len(facts["position"]["values"]) == 8 and "parameters" not in facts
    assert "MiB" in inspection.as_text(facts)
