"""Links between files of the repository become links between pages of the site.

A link to a file that the site does not show, such as a source file, becomes plain text.
"""

from __future__ import annotations

import os.path
import posixpath
import re

ROOT_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
}
"""pages of the site that are files outside docs/"""
FOLDERS = {"docs/decisions": "decisions/index.md", "benchmarks/results": "measurements.md"}
SOURCES = {site: source for source, site in ROOT_PAGES.items()}
LINK = re.compile(r"(?<!!)\[([^\]\[]*)\]\(([^)\s]+)\)|(!\[[^\]]*\])\(([^)\s]+)\)")


def rewritten(markdown: str, page: str) -> str:
    """The Markdown of a page with links that are valid in the site."""
    source = SOURCES.get(page, f"docs/{page}")

    def replace(match: re.Match[str]) -> str:
        text, link, image, picture = match.groups()
        if "://" in (link or picture) or (link or picture).startswith("#"):
            return match[0]
        target = _target(link or picture, source, page)
        if image:
            return f"{image}({target})"
        return text if target is None else f"[{text}]({target})"

    return LINK.sub(replace, markdown)


def _target(link: str, source: str, page: str) -> str | None:
    """The link from the page to what the source links to, or None if the site does not have it."""
    path, hash_sign, heading = link.partition("#")
    wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    site = FOLDERS.get(wanted) or ROOT_PAGES.get(wanted) or _site_path(wanted)
    if site is None:
        return None
    return os.path.relpath(site, posixpath.dirname(page) or ".") + hash_sign + heading


def _site_path(path: str) -> str | None:
    if path.startswith("docs/tutorials/") and path.endswith(".py"):
        return path.removeprefix("docs/").removesuffix(".py") + ".md"
    if path.startswith("benchmarks/results/"):
        return path
    return path.removeprefix("docs/") if path.startswith("docs/") else None
