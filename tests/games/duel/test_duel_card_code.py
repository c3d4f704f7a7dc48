"""Cards with their own code: the engine calls them only through the hooks, and each has one module."""

import ast
import pathlib

import pytest

from ludus.games import duel
from ludus.games.duel.tables import words

ROOT = pathlib.Path(duel.__file__).parent
HOOKS = ROOT / "cards" / "hooks.py"
ENGINE = [path for path in ROOT.rglob("*.py") if not {"tables", "tools"} & set(path.relative_to(ROOT).parts)]


def imported(path):
    """All names that a file imports from other modules of the duel."""
    statements = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom))
    return {name.name for node in statements if node.module.startswith("ludus.games.duel") for name in node.names}


def operations():
    """The words of operations in their order, beginning with NOTHING."""
    for node in ast.parse(pathlib.Path(words.__file__).read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            names = [name.id for name in node.targets[0].elts]
            if names[0] == "NOTHING":
                return names
    raise AssertionError("no operations in words.py")


OPERATIONS = operations()
WITH_CODE = [*OPERATIONS[words.FIRST_WITH_CODE : words.FIRST_MOVING], *OPERATIONS[words.FIRST_MOVING_WITH_CODE :]]
IMPORTED = {path: imported(path) for path in ENGINE}


def test_groups_of_operations_begin_at_their_constants():
    assert [getattr(words, name) for name in OPERATIONS] == list(range(len(OPERATIONS)))
    assert (WITH_CODE[0], WITH_CODE[-1]) == ("CHARITY", "FLUTE")


@pytest.mark.parametrize("word", WITH_CODE)
def test_operations_with_code_are_known_to_the_hooks_and_their_own_module_only(word):
    users = {path for path, names in IMPORTED.items() if word in names}
    assert HOOKS in users
    own = users - {HOOKS}
    assert len(own) <= 1 and all(path.parent == HOOKS.parent for path in own), own


@pytest.mark.parametrize("path", sorted(HOOKS.parent.glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_every_module_of_a_card_is_called(path):
    statements = [node for user in ENGINE for node in ast.walk(ast.parse(user.read_text()))]
    modules = {node.module for node in statements if isinstance(node, ast.ImportFrom)}
    assert f"ludus.games.duel.cards.{path.stem}" in modules or any(path.stem in names for names in IMPORTED.values())
