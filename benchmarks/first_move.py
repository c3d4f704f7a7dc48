"""Seconds from the click on a game to the first move made, in a browser, with an empty compile cache for each game.

python benchmarks/first_move.py > benchmarks/results/first_move.json
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from ludus import games
from ludus.studio.process import StudioProcess, chromium

OTHER_COMPILER_SETTINGS = ("NUMBA_BOUNDSCHECK", "XLA_FLAGS", "JAX_DISABLE_MOST_OPTIMIZATIONS")


def measure(name: str, browser: Any, folder: Path) -> dict[str, object]:
    """Open the gallery, click on the game, and play its first legal move; games in real time move by themselves."""
    environment = {key: value for key, value in os.environ.items() if key not in OTHER_COMPILER_SETTINGS}
    with StudioProcess(folder / "runs", environment | {"LUDUS_CACHE": str(folder / "cache")}) as studio:
        page = browser.new_page()
        page.goto(studio.url)
        page.locator(f"a[href*='#/play/{name}']").first.wait_for()
        start = time.perf_counter()
        page.locator(f"a[href*='#/play/{name}']").first.click()
        page.wait_for_url(re.compile(r"#/room/[a-z]+"))
        room = re.search(r"#/room/([a-z]+)", page.url)[1]
        path = f"/api/rooms/{room}"
        now = studio.wait(path, lambda now: now["waiting"] or now["move"] > 0, "it is our turn")
        shown = time.perf_counter() - start
        if now["waiting"]:
            page.locator(f".stage[data-move='{now['move']}']").wait_for()
            page.locator(".areas button:not([hidden])").first.click()
            now = studio.wait(path, lambda later: later["move"] > now["move"], "the move was made")
        made = time.perf_counter() - start
        page.close()
        return {"game": name, "seconds_to_board": round(shown, 2), "seconds_to_first_move": round(made, 2),
                "still_compiling": now["preparing"] is not None}  # fmt: skip


def main() -> None:
    rows = []
    with chromium() as browser:
        for name in games.names():
            with tempfile.TemporaryDirectory() as folder:
                rows.append(measure(name, browser, Path(folder)))
    print(json.dumps({"cores": os.cpu_count(), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
