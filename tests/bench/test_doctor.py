"""`ludus doctor` and `ludus cache`: every extra is described, and only entries of Ludus are deleted."""

import json
import pathlib
import tomllib

import pytest

from ludus import cli
from ludus.bench import installation
from ludus.dsl import cache

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_CACHE", str(tmp_path / "cache"))
    for name in ("tictactoe-0123456789abcdef/kernel.nbi", "jax/program-cache", "mine/notes.txt", "nim-1/readme.txt"):
        path = tmp_path / "cache" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * 10)
    (tmp_path / "cache" / "compiling.lock").touch()
    (tmp_path / "cache" / "poetry.lock").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "cache" / "link-0123456789abcdef").symlink_to(tmp_path / "outside")
    return tmp_path / "cache"


def test_only_entries_of_ludus_are_shown_and_deleted(folder, capsys):
    cli.run(["cache", "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert {entry["name"]: entry["bytes"] for entry in shown["entries"]} == {
        "tictactoe-0123456789abcdef": 10, "jax": 10, "compiling.lock": 0
    }  # fmt: skip
    assert shown["bytes"] == 20 and shown["folder"] == str(folder)
    cli.run(["cache", "clear"])
    assert "0.0 MB  deleted, 3 entries" in capsys.readouterr().out
    left = {path.name for path in folder.iterdir()}
    assert left == {"mine", "nim-1", "poetry.lock", "link-0123456789abcdef"}
    assert (folder.parent / "outside").is_dir() and cache.entries() == []


def test_a_folder_named_jax_with_other_files_is_kept(folder):
    (folder / "jax" / "setup.py").touch()
    cache.clear()
    assert (folder / "jax" / "program-cache").exists()


def test_a_cache_that_does_not_exist_is_empty(tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_CACHE", str(tmp_path / "nowhere"))
    assert cache.entries() == [] and cache.clear() == []


def test_every_extra_is_described():
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    assert set(installation.EXTRAS) == extras - {"all", "dev", "outsiders"}


def test_doctor_reports_versions_extras_and_programs(folder, capsys):
    cli.run(["doctor", "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["hardware"]["numba"] and facts["hardware"]["cores"] >= 1
    assert facts["cache"] == {"folder": str(folder), "entries": 3, "bytes": 20}
    assert facts["extras"]["deep"]["installed"] and facts["devices"]
    assert set(facts["programs"]) == {"chromium", "redis-server", "npm", "mpiexec"}
    cli.run(["doctor"])
    assert "installed      networks: PPO" in capsys.readouterr().out


def test_a_missing_extra_has_its_command(monkeypatch):
    monkeypatch.setitem(installation.EXTRAS, "video", installation.Extra(("no_such_module",), "videos"))
    assert installation.extra_facts("video") == {
        "installed": False, "brings": "videos", "missing": ["no_such_module"], "install": "pip install 'ludus[video]'"
    }  # fmt: skip


def test_without_jax_there_are_no_devices(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert installation.devices() == []
