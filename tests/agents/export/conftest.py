"""The small agents, each made once."""

import pytest
from small_agents import NETWORKS, of_network, of_table, of_world_model


@pytest.fixture(scope="session")
def agent_of():
    """Makes each agent once."""
    known = {}

    def make(kind):
        if kind not in known:
            if kind == "table":
                known[kind] = of_table()
            else:
                known[kind] = of_world_model() if kind == "world_model" else of_network(kind, *NETWORKS[kind])
        return known[kind]

    return make
