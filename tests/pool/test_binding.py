"""Games are bound from several threads at once, as the server does."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ludus import games
from ludus.pool import binding


@pytest.fixture
def busy_threads():
    """The garbage collector runs often, and lets other threads go on each time, as with the callback of JAX."""

    def collected(phase, facts):
        time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(collected)


@pytest.mark.usefixtures("busy_threads")
def test_imports_are_read_in_many_threads_at_once():
    rules = games.load("tictactoe").rules
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: binding.imported_modules(rules), range(16)))
    assert all(one == found[0] for one in found) and rules in found[0]
