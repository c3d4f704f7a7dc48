"""Discovery: members of a group come from a package, a local folder and entry points; a broken one hides no other."""

import sys

import pytest

from ludus.files import discovery
from ludus.types import LudusError

GROUP, PACKAGE = "ludus.toys", "toy_package"


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A package, a local folder and an installed distribution, each with one member."""
    for folder in ("site/toy_package", "site/toy-1.0.dist-info", "local"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "site/toy_package/__init__.py").touch()
    (tmp_path / "site/toy_package/ball.py").write_text("WHERE = 'package'\n")
    (tmp_path / "site/toy_package/_private.py").touch()
    (tmp_path / "site/kite_module.py").write_text("WHERE = 'installed'\n")
    (tmp_path / "site/toy-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    points = "[ludus.toys]\nkite = kite_module\nnumber = kite_module:WHERE\nmissing = no_such_module\n"
    (tmp_path / "site/toy-1.0.dist-info/entry_points.txt").write_text(points)
    (tmp_path / "local/doll.py").write_text("WHERE = 'local'\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("LUDUS_TOYS", str(tmp_path / "local"))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def refusal(name: str) -> str:
    with pytest.raises(LudusError) as error:
        discovery.load(GROUP, PACKAGE, name)
    return str(error.value)


def test_members_come_from_three_places(places):
    assert discovery.names(GROUP, PACKAGE) == ["ball", "doll", "kite", "missing", "number"]
    found = {name: discovery.load(GROUP, PACKAGE, name).WHERE for name in ("ball", "doll", "kite")}
    assert found == {"ball": "package", "doll": "local", "kite": "installed"}


def test_a_module_is_imported_once(places):
    assert discovery.load(GROUP, PACKAGE, "doll") is discovery.load(GROUP, PACKAGE, "doll")


def test_a_local_package_is_found_and_may_import_its_parts(places):
    (places / "local" / "train").mkdir()
    (places / "local" / "train" / "__init__.py").write_text("from .engine import POWER\n")
    (places / "local" / "train" / "engine.py").write_text("POWER = 7\n")
    assert discovery.load(GROUP, PACKAGE, "train").POWER == 7


def test_the_package_wins_over_the_folder_and_the_folder_over_entry_points(places):
    for name in ("ball", "kite"):
        (places / "local" / f"{name}.py").write_text("WHERE = 'local'\n")
    assert discovery.load(GROUP, PACKAGE, "ball").WHERE == "package"
    assert discovery.load(GROUP, PACKAGE, "kite").WHERE == "local"


def test_an_unknown_name_suggests_the_closest_one(places):
    assert refusal("dol") == 'unknown toy "dol"; did you mean "doll"? known are ball, doll, kite, missing, number'
    assert refusal("zzz").startswith('unknown toy "zzz"; known are ball')


def test_an_entry_point_that_is_not_a_module_is_refused(places):
    assert "the entry point \"number\" of ludus.toys is 'installed'" in refusal("number")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1 +\n", "broken.py:1: SyntaxError"),
        ("\nraise RuntimeError('no luck')\n", "broken.py:2: RuntimeError: no luck"),
        ("raise SystemExit(3)\n", "broken.py:1: SystemExit: 3"),
        ("import no_such_module\n", "broken.py:1: ModuleNotFoundError"),
    ],
)
def test_a_broken_member_is_reported_and_hides_no_other(places, text, reason):
    (places / "local" / "broken.py").write_text(text)
    found = discovery.load_all(GROUP, PACKAGE)
    assert set(found.modules) == {"ball", "doll", "kite"}
    assert set(found.errors) == {"broken", "missing", "number"}
    assert reason in found.errors["broken"] and "no_such_module" in found.errors["missing"]
    (places / "local" / "broken.py").write_text("WHERE = 'mended'\n")
    assert discovery.load(GROUP, PACKAGE, "broken").WHERE == "mended"


def test_a_missing_local_folder_is_not_an_error(places, monkeypatch):
    monkeypatch.setenv("LUDUS_TOYS", str(places / "nowhere"))
    assert discovery.names(GROUP, PACKAGE) == ["ball", "kite", "missing", "number"]
    monkeypatch.delenv("LUDUS_TOYS")
    assert str(discovery.local_folder(GROUP)) == "ludus_toys"
