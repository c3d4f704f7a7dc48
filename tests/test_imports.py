"""Imports point one way, and `import ludus` imports nothing heavy."""

import ast
import itertools
import pathlib
import re
import subprocess
import sys

import ludus

ROOT = pathlib.Path(ludus.__file__).parent
LAYERS = (
    "types", "files", "dsl", "games", "pool", "rendering", "bridges", "games/tools", "agents",
    "evaluation", "bridges/environments", "algorithms", "runtimes", "training", "server", "studio", "bench", "cli",
)  # fmt: skip
"""Each folder may import only those before it. The rules of a game import only the language; its tools, in
`games/<game>/tools/`, may also use the pool and the bridges. Modules of the bridges that offer our games as
environments use agents as opponents, so they come after the agents."""
ENVIRONMENTS = {"balatro_env", "gymnasium", "mcp_games", "seated_pool"}
MAX_FOLDERS = 16
MODULE_PATH = re.compile(r"ludus(\.\w+)+\.?")
RANK = {room: rank for rank, room in enumerate(LAYERS)}
HEAVY = ("numba", "jax", "rich", "PIL", "gymnasium", "pettingzoo", "tyro")


def room_of(names: tuple[str, ...]) -> str:
    """`pool` of ("pool", "kernel"), `games/tools` of ("games", "duel", "tools", "check")."""
    if names[0] == "bridges" and names[1:2] and names[1] in ENVIRONMENTS:
        return "bridges/environments"
    return "games/tools" if names[0] == "games" and "tools" in names[2:3] else names[0]


def parts() -> dict[str, list[pathlib.Path]]:
    """The files of each folder of the package by name: `pool` is pool.py or all files below pool/."""
    found: dict[str, list[pathlib.Path]] = {}
    for path in ROOT.rglob("*.py"):
        found.setdefault(room_of(path.relative_to(ROOT).with_suffix("").parts), []).append(path)
    return {name: paths for name, paths in found.items() if name != "__init__"}


def imported(path: pathlib.Path) -> set[str]:
    """The folders of ludus that a file imports, also inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import; write the whole name"
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {room_of(tuple(name.split(".")[1:])) for name in names if name.startswith("ludus.")} & set(parts())


def test_every_folder_has_a_layer():
    missing = set(parts()) - set(RANK)
    assert not missing, f"give {', '.join(sorted(missing))} a layer in LAYERS of {pathlib.Path(__file__).name}"


def test_the_package_has_few_folders():
    rooms = {path.name for path in ROOT.iterdir()} - {"__init__.py", "py.typed", "__pycache__"}
    assert len(rooms) <= MAX_FOLDERS, sorted(rooms)


def test_imports_point_one_way():
    wrong = [
        f"{path.relative_to(ROOT)} imports {other}"
        for part, paths in parts().items()
        for path in paths
        for other in imported(path) - {part}
        if RANK.get(other, -1) >= RANK.get(part, len(LAYERS))
    ]
    assert not wrong


def module_strings(source: str) -> list[str]:
    """Strings that contain the path of a module of Ludus.

    Not counted are names of entry-point groups (constants called GROUP), of loggers, and of programs that run in
    another process (the word after "-m").
    """
    tree, allowed = ast.parse(source), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and [getattr(one, "id", "") for one in node.targets] == ["GROUP"]:
            allowed.add(id(node.value))
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "getLogger":
            allowed |= set(map(id, node.args))
        elif isinstance(node, ast.List | ast.Tuple):
            pairs = itertools.pairwise(node.elts)
            allowed |= {id(word) for flag, word in pairs if getattr(flag, "value", None) == "-m"}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [node.value for node in texts if id(node) not in allowed and MODULE_PATH.fullmatch(node.value)]


def string_imports(source: str) -> list[int]:
    """The lines that import a module by a path in a string: `importlib.import_module` or `__import__`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names = [getattr(node, "id", ""), getattr(node, "attr", "")]
        names += [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
        found += [node.lineno for name in names if name in ("import_module", "__import__")]
    return found


def test_no_module_path_hides_in_a_string():
    files = {path: module_strings(path.read_text()) for path in ROOT.rglob("*.py")}
    assert not {str(path.relative_to(ROOT)): found for path, found in files.items() if found}


def test_only_discovery_imports_modules_by_a_path_in_a_string():
    """Besides, the user names a module of PettingZoo, and a kernel's template names the modules that it imports."""
    allowed = {ROOT / "files" / "discovery.py", ROOT / "bridges" / "pettingzoo_pool.py", ROOT / "pool" / "binding.py"}
    files = {path: string_imports(path.read_text()) for path in ROOT.rglob("*.py") if path not in allowed}
    found = {str(path.relative_to(ROOT)): lines for path, lines in files.items() if lines}
    assert not found, "write an import statement, or find the module with ludus.files.discovery"


def test_module_paths_in_strings_are_seen():
    assert module_strings('load("ludus.agents.trained")') == ["ludus.agents.trained"]
    assert module_strings('load(f"ludus.agents.players.{kind}")') == ["ludus.agents.players."]
    assert module_strings('[python, "ludus.cli", "-m"]') == ["ludus.cli"]
    assert not module_strings('GROUP = "ludus.games"\n"""See ludus.games."""\nprint("ludus games")')
    assert not module_strings('[python, "-m", "ludus.cli", "train"]\nlogging.getLogger("ludus.studio")')


def test_imports_by_strings_are_seen():
    assert string_imports('importlib.import_module("ludus.agents")') == [1]
    assert string_imports('\nfunctools.partial(importlib.import_module, f"{package}.{name}")') == [2]
    assert string_imports("from importlib import import_module") == [1]
    assert string_imports('__import__("ludus")') == [1]
    assert not string_imports("import importlib\nfrom ludus import agents\nimportlib.metadata.entry_points()")


def pool_tests(source: str) -> list[int]:
    """The lines that test for a class of pools with `isinstance`, `issubclass` or `match`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        classes: list[ast.AST] = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            classes = [part for argument in node.args[1:] for part in ast.walk(argument)]
        elif isinstance(node, ast.MatchClass):
            classes = [node.cls]
        names = [getattr(part, "id", getattr(part, "attr", "")) for part in classes]
        found += [node.lineno for name in names if name.endswith(("Pool", "Discretize"))]
    return found


def test_only_the_pool_tests_for_classes_of_pools():
    above = [path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] != "pool"]
    found = {str(path.relative_to(ROOT)): lines for path in above if (lines := pool_tests(path.read_text()))}
    assert not found, "use a capability of AnyPool instead: can_save, can_fork, compiled, ..."


def test_tests_for_classes_of_pools_are_seen():
    assert pool_tests("isinstance(pool, Pool)") == [1]
    assert pool_tests("\nisinstance(pool, str | bridges.ForeignPool)") == [2]
    assert pool_tests("match pool:\n    case Pool():\n        pass") == [2]
    assert not pool_tests("isinstance(pool, str)\npool.compiled is None")


def test_imports_are_seen():
    """`imported` finds all forms of imports that the package uses."""
    assert imported(ROOT / "pool" / "__init__.py") >= {"types", "dsl", "games"}
    assert "evaluation" in imported(ROOT / "cli" / "games.py")


def test_import_ludus_is_light():
    script = f"import sys, ludus; ludus.LudusError; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_names_of_the_package_are_imported_on_first_use():
    for name in ludus.__all__:
        assert getattr(ludus, name).__name__.removeprefix("ludus.") == name
        assert callable(getattr(ludus, name))
    assert ludus.__version__.count(".") == 2
