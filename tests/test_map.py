"""Files, names, links and settings in the documents exist."""

import dataclasses
import inspect
import pathlib
import re

import pytest

from ludus.algorithms.ppo import PPO
from ludus.training.config import Run

ROOT = pathlib.Path(__file__).parent.parent
MAP = (ROOT / "docs" / "map.md").read_text()
FOLDERS = ("ludus/", "tests/", "benchmarks/", "docs/")
PATHS = sorted({word for word in re.findall(r"`([\w./-]+)`", MAP) if word.startswith(FOLDERS)})
NAMED = re.findall(r"((?:`\w+`, )*`\w+`) in `([\w./-]+\.py)`", MAP)
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")})


def test_the_map_is_read():
    """The patterns above match what the map writes."""
    assert len(PATHS) > 80 and len(NAMED) > 40


@pytest.mark.parametrize("path", PATHS)
def test_every_path_exists(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("names", "path"), NAMED)
def test_every_name_is_defined_in_its_file(names, path):
    source = (ROOT / path).read_text()
    for name in re.findall(r"\w+", names):
        assert re.search(rf"^(?:\s*(?:def|class) {name}\b|{name}\s*[:=])", source, re.MULTILINE), name


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_name_files_and_headings_that_exist(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in link:
            continue
        file, _, heading = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        assert not heading or heading in headings(target), link


def headings(page: pathlib.Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    lines = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/**/*.md")), ids=lambda page: str(page.relative_to(ROOT)))
def test_files_of_the_package_named_in_documents_exist(page):
    paths = re.findall(r"`(ludus/[\w./-]+(?:\.\w+|/))`", page.read_text())
    assert [path for path in paths if not (ROOT / path).exists()] == []


PPO_PAGE = (ROOT / "docs" / "algorithms" / "ppo.md").read_text()


def test_every_argument_of_ppo_in_stable_baselines3_is_in_our_table():
    sb3 = pytest.importorskip("stable_baselines3", reason="pip install 'ludus[outsiders]'")
    first_cells = [line.split("|")[1] for line in PPO_PAGE.splitlines() if line.startswith("| `")]
    known = set(re.findall(r"`(\w+)`", " ".join(first_cells)))
    assert set(inspect.signature(sb3.PPO).parameters) <= known


def test_the_page_of_ppo_names_every_setting_and_no_other():
    named = set(re.findall(r"`--(?:no-)?([a-z][a-z0-9-]*)[ .`]", PPO_PAGE))
    settings = {field.name.replace("_", "-") for field in dataclasses.fields(PPO)} - {"method"}
    run = {field.name.replace("_", "-") for field in dataclasses.fields(Run)}
    assert settings <= named
    assert named <= settings | run | {"preset", "json", "with-ft", "enable-recovery"}
