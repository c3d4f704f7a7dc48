"""Bounds checks are enabled in tests, before Numba is imported; compiled games stay in the user's cache."""

import gc
import os
import subprocess
import sys

os.environ.setdefault("NUMBA_BOUNDSCHECK", "1")
# Only the games of this checkout are tested, not those in the user's own folder.
os.environ["LUDUS_GAMES"] = os.path.join(os.path.dirname(__file__), "no_games_of_the_user")
os.environ.update({f"LUDUS_{group}": os.environ["LUDUS_GAMES"] for group in ("ALGORITHMS", "NETWORKS", "RUNTIMES")})
# XLA spends most of the tests compiling what runs for a moment; its older way to write a fusion takes half as long.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1")

import hypothesis
import pytest

hypothesis.settings.register_profile("ludus", deadline=None, derandomize=True, max_examples=100)
hypothesis.settings.load_profile("ludus")

LONGEST = (
    "tests/test_tutorials.py",
    "tests/browser/",
    "tests/studio/",
    "tests/learning/",
    "tests/algorithms/",
    "tests/agents/networks/",
    "tests/bridges/ygopro/",
    "tests/runtimes/",
    "tests/server/",
    "tests/agents/export/",
)
"""started first, so that no worker runs one of them alone at the end"""


SLOW = (
    "agents/checkpoint/test_crash.py", "agents/export/", "agents/networks/", "agents/test_agents.py",
    "agents/test_conformance.py", "agents/test_flax_models.py", "agents/test_lookahead.py", "agents/test_mcts.py",
    "agents/test_remote.py", "agents/test_shipped.py",
    "algorithms/test_algorithm_conformance.py", "algorithms/test_form_worker.py", "algorithms/test_methods.py",
    "algorithms/world_model/", "bench/", "bridges/ygopro/", "bridges/test_discretize.py",
    "bridges/test_stable_baselines3.py", "browser/", "evaluation/conformance/", "evaluation/test_battle.py",
    "evaluation/test_preparation.py", "evaluation/test_spread.py", "games/balatro/test_scene.py",
    "games/balatro/test_soak.py", "games/balatro/test_tools.py", "games/duel/test_duel_card_code.py", "learning/",
    "pool/test_cache.py",
    "runtimes/", "server/", "studio/", "test_adding_things.py", "test_cli.py", "test_docs.py", "test_public_api.py",
    "test_readme.py", "test_tutorials.py", "training/test_agent_service.py", "training/test_deep_runs.py",
    "training/test_resume.py", "training/test_run_crash.py", "training/test_training_cli.py",
)  # fmt: skip
"""folders and files that `--quick` leaves out: each takes more than five seconds"""


SLOW_TO_COMPILE = ("balatro", "duel")


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out the slower half of the tests")


def pytest_ignore_collect(collection_path, config):
    """None lets other plugins decide."""
    place = os.path.relpath(collection_path, config.rootpath / "tests") + ("/" if collection_path.is_dir() else "")
    return True if config.getoption("--quick") and place.startswith(SLOW) else None


def pytest_configure(config):
    """Compile the large games before running all tests on several workers, which would else wait for each other."""
    alone = hasattr(config, "workerinput") or not getattr(config.option, "numprocesses", 0)
    if alone or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    compilers = [subprocess.Popen([sys.executable, "-m", "ludus.cli", "warmup", game]) for game in SLOW_TO_COMPILE]
    codes = [compiler.wait() for compiler in compilers]
    if any(codes):
        raise pytest.UsageError("the large games cannot be compiled; see above")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_collection_finish():
    """Freeze the half a million objects imported by the collection, so that later garbage collections skip them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def forgetting():
    """Clear JAX's caches after each file: they are not shared, take memory, and slow down later tracing."""
    yield
    if "jax" in sys.modules:
        import jax  # waits for a thread that is still importing it

        jax.clear_caches()
        gc.collect()
