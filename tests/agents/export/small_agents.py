"""Small agents of every kind, as loaded from checkpoints."""

import pathlib

from ludus.agents import checkpoint, trained
from ludus.agents.neural import agent as deep
from ludus.agents.neural import world_model
from ludus.agents.neural.networks.settings import MLPArgs, ModelArgs
from ludus.agents.neural.networks.world_model_args import PlannerArgs, WorldModelArgs
from ludus.agents.table import Table
from ludus.agents.tabular import TabularAgent, enter_all
from ludus.bridges import identity_of, open_pool

SMALL = {
    "num_layers": 1,
    "num_channels": 16,
    "rnn_channels": 16,
    "critic_width": 8,
    "critic_depth": 1,
    "memory_length": 4,
}
NETWORKS = {
    "mlp": ("tictactoe", MLPArgs(width=16)),
    "continuous": ("car", MLPArgs(width=16, shared=True)),
    "lstm": ("tictactoe", ModelArgs(rnn_type="lstm", **SMALL)),
    "gru": ("recall", ModelArgs(rnn_type="gru", noam=False, **SMALL)),
    "rwkv": ("tictactoe", ModelArgs(rnn_type="rwkv", rwkv_head_size=8, rnn_shortcut=True, **SMALL)),
    "transformer": ("recall", ModelArgs(rnn_type="transformer", batch_norm=True, **SMALL)),
    "none": ("tictactoe", ModelArgs(rnn_type="none", film=False, oppo_info=False, **SMALL)),
    "opponents": ("goofspiel", ModelArgs(rnn_type="gru", **SMALL)),
}
KINDS = (*NETWORKS, "world_model", "table")


def made(name, description, agent, params, pool):
    """An agent with a manifest, as `trained.load` returns it; a file needs nothing else of a run."""
    manifest = checkpoint.describe(identity_of(pool), description, {"kind": "test"}, steps=1000, score=0.5)
    return trained.Trained(agent, params, pathlib.Path(name), manifest)


def of_network(name, game, args):
    pool = open_pool(game, 1, 0, threads=1)
    agent = deep.replace(deep.new_agent(pool, args), greedy=True)
    return made(name, deep.describe(args, False, False), agent, agent.init(pool.spec, 3), pool)


def of_world_model():
    pool = open_pool("car", 1, 0, threads=1)
    args, planner = WorldModelArgs(16, 16, 8, 16, 8, 16, (16,), (16,)), PlannerArgs()
    agent = world_model.replace(world_model.new_agent(pool, args, planner, 0.99, 0.1), evaluating=True)
    params = {"ema": agent.init(pool.spec, 0)["ema"]}
    return made("world_model", world_model.describe(args, planner, 0.99, 0.1, False), agent, params, pool)


def of_table():
    """A table that knows some positions of tic-tac-toe."""
    pool = open_pool("tictactoe", 8, 0, threads=1)
    agent = TabularAgent.of(pool)
    table = agent.init(pool.spec, 0)
    for number in range(12):
        step = pool.step
        observations, codes = agent.positions.new_observations(8)
        for name, field in step.observation.items():
            observations[name] = field
        places = codes[:, 0].astype("int64") * 0
        enter_all(table.rows, table.known, table.index, table.used, codes, agent.positions.lows,
                  agent.positions.weights, table.count, places)  # fmt: skip
        for row, place in enumerate(places):
            table.rows["values"][place] = [-1e30 if not legal else ((number * 7 + action * 3) % 5) / 5 - 0.4
                                           for action, legal in enumerate(step.mask[row])]  # fmt: skip
        pool.advance(pool.random_actions(number))
    return made("table", {"kind": "tabular", "tables": "shared"}, agent, Table.from_state(table.state(), 9), pool)
