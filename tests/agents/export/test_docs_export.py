"""The Python snippets of docs/export.md run as they are."""

import importlib.util
import pathlib
import re

import pytest

from ludus import agents
from ludus.agents import export
from ludus.agents.export import formats

PAGE = (pathlib.Path(__file__).parents[3] / "docs" / "export.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
PACKAGES = {".onnx": "onnx", ".tflite": "litert_converter"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("docs")


def test_the_page_has_snippets_for_every_format():
    assert {re.search(r"connect4(\.\w+)", snippet)[1] for snippet in SNIPPETS} == {
        formats.find(name).SUFFIX for name in formats.names()
    }


@pytest.mark.parametrize("place", range(len(SNIPPETS)))
def test_snippets_run(place, folder, monkeypatch, capsys):
    suffix = re.search(r"connect4(\.\w+)", SNIPPETS[place])[1]
    package = PACKAGES.get(suffix)
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"needs {package}: {formats.of_file('a' + suffix).NEEDS}")
    if not (folder / f"connect4{suffix}").exists():
        export.export(agents.shipped("connect4"), folder / f"connect4{suffix}")
    monkeypatch.chdir(folder)
    exec(compile(SNIPPETS[place], "docs/export.md", "exec"), {})
