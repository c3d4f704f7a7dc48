"""Imports point one way, and `import ludus` fetches nothing heavy."""

import ast
import pathlib
import subprocess
import sys

import ludus

ROOT = pathlib.Path(ludus.__file__).parent
LAYERS = (
    ("types", "hardware"),
    ("words", "statistics", "sinks", "checkpoint", "ratings"),
    ("games", "pictures", "schedules", "replay"),
    ("pool", "plots"),
    ("devices",),
    ("bridges", "conformance", "heatmap"),
    ("agents",),
    ("algorithms", "scaffold", "show", "evaluate"),
    ("balatro", "config", "duel", "runtimes", "golden", "inspection", "replays", "terminal", "window"),
    ("train", "battle"),
    ("runs",),
    ("bench", "server", "studio"),
    ("cli",),
)
"""What stands in a layer may import what stands in a lower one, and nothing else."""
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}
HEAVY = ("numba", "jax", "rich", "PIL", "gymnasium", "pettingzoo", "tyro")


def parts() -> dict[str, list[pathlib.Path]]:
    """The files of each part of the package, by its name: `pool` is pool.py or all below pool/."""
    found: dict[str, list[pathlib.Path]] = {}
    for path in ROOT.rglob("*.py"):
        name = path.relative_to(ROOT).parts[0].removesuffix(".py")
        found.setdefault(name, []).append(path)
    return {name: paths for name, paths in found.items() if name != "__init__"}


def imported(path: pathlib.Path) -> set[str]:
    """The parts of ludus that a file imports, also inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively; write the whole name"
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name.split(".")[1] for name in names if name.startswith("ludus.")} & set(parts())


def test_every_part_has_its_place():
    missing = set(parts()) - set(RANK)
    assert not missing, f"give {', '.join(sorted(missing))} a layer in LAYERS of {pathlib.Path(__file__).name}"


def test_imports_point_one_way():
    wrong = [
        f"{path.relative_to(ROOT)} imports {other}"
        for part, paths in parts().items()
        for path in paths
        for other in imported(path) - {part}
        if RANK.get(other, -1) >= RANK.get(part, len(LAYERS))
    ]
    assert not wrong


def test_the_arrows_are_seen():
    """The reading of imports itself: it sees the ways this package writes them."""
    assert imported(ROOT / "pool" / "__init__.py") >= {"types", "words", "games"}
    assert "conformance" in imported(ROOT / "cli" / "playing.py")


def test_import_ludus_is_light():
    script = f"import sys, ludus; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_names_of_the_package_are_fetched_on_first_use():
    for name in ludus.__all__:
        assert getattr(ludus, name).__name__ == name
    assert ludus.__version__.count(".") == 2
