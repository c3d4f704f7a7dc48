"""The compile cache is never stale, and an unchanged game hits it."""

import ast
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

import ludus
from ludus.pool import binding

GAME = '''
"""Sum: every step pays what the rule, its helper and its tables say."""
import pathlib
import numpy as np
import cache_helper
from ludus.dsl import HEAD, OVER, Discrete, Spec, i8, record, rule, within

FOLDER = pathlib.Path(__file__).parent
TABLE = np.loadtxt(FOLDER / "table.csv", np.int64)
NUMBER = int((FOLDER / "number.txt").read_text())
SPEC = Spec(seats=1, actions=Discrete(1), horizon=1)
STATE = record(**HEAD, moves=i8)
OBSERVATION = record(moves=within(0, 1, i8))

@rule
def init(state):
    state.moves = 0

@rule
def step(state, action, reward):
    reward[0] = 1 + cache_helper.more(state) + TABLE[1] + NUMBER
    state.moves = 1
    state.status = OVER

@rule
def legal(state, seat, mask):
    mask[0] = 1

@rule
def observe(state, seat, out):
    out.moves = state.moves

def action_name(action):
    return "go"
'''
HELPER = """
from ludus.dsl import rule

@rule
def more(state):
    return 10
"""
HASH = (
    "from ludus import games; from ludus.pool import binding; print(binding.digest(binding.KERNEL, games.find('sum')))"
)
HASHES = (
    "from ludus import games; from ludus.agents.players import thinker; "
    "from ludus.agents.players.greedy import balatro; "
    "from ludus.algorithms import tabular; from ludus.pool import binding; "
    "print([binding.digest(binding.KERNEL, games.find(name)) for name in ('tictactoe', 'balatro')], "
    "binding.digest(tabular.HERE / 'kernel.py', games.find('tictactoe')), binding.digest(thinker.KERNEL, balatro))"
)
MISSES = (
    "import sys; from ludus import Pool; Pool('sum', 1).advance([0]); "
    "print(sum(sys.modules['ludus_kernel_sum'].advance.stats.cache_misses.values()))"
)
PLAY = "from ludus import Pool; print(Pool('sum', 1).advance([0]).reward[0, 0])"


@pytest.fixture
def home(tmp_path):
    (tmp_path / "games").mkdir()
    (tmp_path / "helpers").mkdir()
    (tmp_path / "games" / "sum.py").write_text(GAME)
    (tmp_path / "games" / "table.csv").write_text("0\n100\n")
    (tmp_path / "games" / "number.txt").write_text("1000")
    (tmp_path / "helpers" / "cache_helper.py").write_text(HELPER)
    return tmp_path


def run(folder) -> tuple[float, bool]:
    """The result of a separate process, and whether it had to compile."""
    done = process(folder, PLAY)
    return float(done.stdout), "compiling sum" in done.stderr


def process(folder, script: str) -> subprocess.CompletedProcess:
    places = {"LUDUS_GAMES": folder / "games", "LUDUS_CACHE": folder / "cache", "PYTHONPATH": folder / "helpers"}
    environment = os.environ | {name: str(place) for name, place in places.items()} | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def edit(path, old: str, new: str) -> None:
    """Change a file but neither its size nor its modification time, which is all that Numba's own cache checks."""
    before = path.stat()
    text = path.read_text()
    assert text.count(old) == 1 and len(old) == len(new)
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_changed_sources_of_a_game_are_recompiled(home):
    game, helper = home / "games" / "sum.py", home / "helpers" / "cache_helper.py"
    table, number = home / "games" / "table.csv", home / "games" / "number.txt"
    assert run(home) == (1111, True)
    assert run(home) == (1111, False)
    edit(game, "reward[0] = 1 +", "reward[0] = 2 +")
    assert run(home) == (1112, True)
    edit(helper, "return 10", "return 20")
    assert run(home) == (1122, True)
    edit(table, "100", "200")
    assert run(home) == (1222, True)
    edit(number, "1000", "2000")
    assert run(home) == (2222, True)
    edit(table, "200", "100")
    edit(number, "2000", "1000")
    assert run(home) == (1122, False)


def test_two_processes_compile_the_same_game_once(home):
    with concurrent.futures.ThreadPoolExecutor() as threads:
        both = list(threads.map(lambda _: int(process(home, MISSES).stdout), range(2)))
    assert sorted(both) == [0, 1]


def test_every_process_finds_the_same_cache(home):
    """Functions in a game's tables have different addresses in every process, which must not change the hash."""
    game = home / "games" / "sum.py"
    game.write_text(f"{GAME}\nfrom ludus.dsl import integer\nSIZE, TABLES = integer(1, 0, 9, ''), (init, step)\n")
    assert process(home, HASH).stdout == process(home, HASH).stdout


def test_other_imports_of_a_process_do_not_change_the_cache(home):
    """A submodule becomes an attribute of its package once it is imported, which must not change the hash."""
    others = "import ludus.games.balatro.trial_score, ludus.studio.app, ludus.dsl.intrinsics"
    assert process(home, HASHES).stdout == process(home, f"{others}; {HASHES}").stdout


def test_loops_outside_of_a_game_are_recompiled_when_a_callee_changes(tmp_path):
    """`merge` and `find_all` call rules of agents/table.py, and Numba checks only the date of the caller's file."""
    shutil.copytree(
        pathlib.Path(ludus.__file__).parent, tmp_path / "ludus", ignore=shutil.ignore_patterns("__pycache__")
    )

    def folder():
        script = "from ludus.dsl.cache import loops_folder; print(loops_folder())"
        env = {**os.environ, "PYTHONPATH": str(tmp_path), "LUDUS_CACHE": str(tmp_path / "cache")}
        command = [sys.executable, "-c", script]
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    before = folder()
    assert folder() == before
    with (tmp_path / "ludus" / "agents" / "table.py").open("a") as file:
        file.write("# changed\n")
    assert folder() != before


def test_imports_are_found_anywhere_in_a_module():
    source = """
        if x: import a
        else: import b
        try:
            with y: import c
        except E: import d
        finally: import e
        def f():
            class C:
                for z in x: from g import h
        match x:
            case 1: import i
        """
    found = binding._imported(ast.parse(textwrap.dedent(source)), "")
    assert sorted(found) == ["a", "b", "c", "d", "e", "g", "g.h", "i"]
