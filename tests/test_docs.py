"""The documentation as a site: it builds without warnings, is complete, needs no network, and can be searched."""

import html.parser
import os
import pathlib
import re
import subprocess
import sys

import pytest

import ludus
from ludus import algorithms
from ludus.studio.process import chromium
from ludus.types import LudusError

ROOT = pathlib.Path(__file__).parent.parent
GAMES = sorted(path.stem for path in (ROOT / "ludus" / "games").iterdir() if not path.name.startswith("_"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site; in strict mode a dead link or missing anchor is an error."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(out)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env)
    assert built.returncode == 0, built.stdout + built.stderr
    return out


class Links(html.parser.HTMLParser):
    """Everything that a page loads, and everything that it links to."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.linked, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        self.loaded += [found["src"]] if found.get("src") else []
        if found.get("href"):
            (self.loaded if tag == "link" else self.linked).append(found["href"])


def pages(site):
    return {path: Links(path.read_text()) for path in site.rglob("*.html")}


def test_pages_load_nothing_from_the_network_and_have_no_dead_links(site):
    found = pages(site)
    assert len(found) > 50
    for path, page in found.items():
        assert not [one for one in page.loaded if "://" in one or one.startswith("//")], path
        for link in [*page.loaded, *page.linked]:
            target, _, anchor = link.partition("#")
            if "://" in link or link.startswith(("mailto:", "data:")) or path.name == "404.html":
                continue
            place = (path.parent / target).resolve() if target else path
            assert place.exists(), (path, link)
            if anchor and place in found:
                assert anchor in found[place].ids, (path, link)


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_a_page_with_its_rules_actions_and_a_moving_picture(site, name):
    text = (site / "games" / f"{name}.html").read_text()
    for title in ("At a glance", "Observation", "Actions", "Agents and scores"):
        assert title in text
    assert f"{name}.gif" in text and (site / "pictures" / f"{name}.gif").read_bytes()[:4] == b"GIF8"


@pytest.mark.parametrize("name", sorted({*algorithms.names(), "mcts", "lookahead"}))
def test_every_algorithm_has_a_page_with_its_settings_and_metrics(site, name):
    text = (site / "algorithms" / f"{name}.html").read_text()
    assert "All settings" in text and "<table>" in text
    assert name not in algorithms.names() or re.search(r'<h2 id="metrics', text), "what healthy metrics look like"


def test_the_reference_has_every_public_name_and_every_route(site):
    python = (site / "reference" / "python.html").read_text()
    assert not [name for name in ludus.__all__ if not re.search(rf'id="ludus\.[\w.]*\b{name}"', python)]
    routes = (site / "reference" / "http.html").read_text()
    assert "GET /api/games" in routes and "WebSocket /ws" in routes


def test_all_results_and_tutorials_are_shown(site):
    measurements = (site / "measurements.html").read_text()
    results = sorted(path.name for path in (ROOT / "benchmarks" / "results").glob("*.json"))
    assert not [name for name in results if name not in measurements]
    assert ".svg" in measurements
    tutorials = sorted(path.stem for path in (ROOT / "docs" / "tutorials").glob("*.py"))
    assert tutorials == sorted(path.stem for path in (site / "tutorials").glob("*.html"))


@pytest.fixture
def browser():
    try:
        opened = chromium()
        yield opened.__enter__()
    except LudusError as missing:
        pytest.skip(str(missing))
    opened.__exit__(None, None, None)


def test_search_works_from_disk(site, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((site / "index.html").as_uri())
    entry = page.get_by_role("textbox", name="Search")
    entry.click()
    entry.press_sequentially("goofspiel")
    page.locator(".md-search-result__link").first.wait_for()
    assert "oofspiel" in page.locator(".md-search-result__list").inner_text()
