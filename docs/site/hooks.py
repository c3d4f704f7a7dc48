"""Hooks of MkDocs: the generated pages, the navigation, and links that leave docs/ in the repository.

A generated page is a pair of a path in the site and Markdown. Pages that exist in docs/ may get a generated end.
"""

from __future__ import annotations

import pathlib
import re

import algorithm_pages
import game_pages
import link_rewriting
import reference_pages
import result_pages
import tutorial_pages
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = pathlib.Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
SHIM = pathlib.Path(__file__).parent / "iframe-worker.js"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The navigation; whatever is found in a folder is listed."""
    more = ["agents.md", "metrics.md", "serve.md", "operations.md", "ray.md", "scale.md", "rllib.md", "export.md"]
    more += ["studio.md", "bridges.md", "mcp.md", "ygopro.md", "balatrobot.md", "reference_api.md", "map.md"]
    more += ["contributing.md", "changelog.md"]
    config.nav = [
        {"Start": ["index.md", *more]},
        {"Tutorials": tutorial_pages.paths()},
        {"Games": game_pages.paths()},
        {"Algorithms": [f"algorithms/{path.name}" for path in sorted((DOCS / "algorithms").glob("*.md"))]},
        {"Results": ["results.md", "measurements.md", "benchmarks.md"]},
        {"Reference": ["python.md", "reference/python.md", "reference/http.md"]},
        {"Architecture": ["architecture.md", {"Decisions": ["decisions/index.md", *_decisions()]}]},
    ]
    return config


def _decisions() -> list[str]:
    return [f"decisions/{path.name}" for path in sorted((DOCS / "decisions").glob("0*.md"))]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is not a file in docs/: pages of the repository's root, generated pages, pictures and data."""
    made: dict[str, str | bytes] = {
        site: (ROOT / source).read_text() for source, site in link_rewriting.ROOT_PAGES.items()
    }
    made |= game_pages.pages() | tutorial_pages.pages() | result_pages.pages() | reference_pages.pages()
    made["decisions/index.md"] = _decision_list()
    made["iframe-worker.js"] = SHIM.read_text()
    made["site_icon.svg"] = (ROOT / "ludus/studio/static/icon.svg").read_text()
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def _decision_list() -> str:
    titles = [(name, (DOCS / name).read_text().splitlines()[0].lstrip("# ")) for name in _decisions()]
    lines = [f"- [{title}]({pathlib.PurePath(name).name})" for name, title in titles]
    return "# Decisions\n\nDecisions that are hard to reverse, with their reasons.\n\n" + "\n".join(lines) + "\n"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    path = page.file.src_uri
    rewritten = link_rewriting.rewritten(markdown, path)
    return _spaced(rewritten + game_pages.appendix(path) + algorithm_pages.appendix(path))


def _spaced(markdown: str) -> str:
    """Python-Markdown wants an empty line before a list or table; GitHub does not, and the documents have none."""
    parts = re.split(r"(^```.*?^```[^\n]*$)", markdown, flags=re.MULTILINE | re.DOTALL)
    starts = r"(?m)^(?!\s*(?:\||- |\d+\. ))(\S[^\n]*)\n(?=(?:- |\| ))"
    return "".join(part if part.startswith("```") else re.sub(starts, r"\1\n\n", part) for part in parts)
