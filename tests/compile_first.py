"""`python compile_first.py GAME`: what takes long to compile of a game is in the cache before tests ask for it."""

import importlib
import sys

from ludus import agents
from ludus.pool import Pool


def compile_all(name: str) -> None:
    pool = Pool(name, 2)
    pool.play_randomly(1)
    for kind in agents.kinds_for(name):
        agent = agents.load(kind, name)
        if hasattr(agent, "at"):
            agent.at(pool).act((), (), pool.step, 0)
    pool.close()
    if name == "duel":
        engine = importlib.import_module("ludus.duel.engine")
        engine.Duel([([46986414] * 3, [])] * 2, opening=1).begin()


if __name__ == "__main__":
    compile_all(sys.argv[1])
