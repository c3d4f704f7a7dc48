"""A studio in a process of its own, and a headless browser: for tests, benchmarks and screenshots."""

from __future__ import annotations

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from ludus.types import LudusError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PATIENCE = 120.0
"""seconds to wait for an answer; long enough for a machine that compiles games for the first time"""


class StudioProcess:
    """`ludus studio` on a free port, with runs in the folder `out`; trainers that it started outlive it."""

    def __init__(self, out: pathlib.Path, environment: Mapping[str, str] | None = None) -> None:
        self.out, self.port, self.environment = out, _free_port(), environment
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start, or restart at the same address, and wait until it answers."""
        words = ["studio", "--port", str(self.port), "--out", str(self.out), "--no-open", "--no-warmup", "--json"]
        command = [sys.executable, "-m", "ludus.cli", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=self.environment)
        try:
            self.wait("/api/studio", lambda answer: True, "the studio answers")
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)
            self.process = None

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
            return json.load(answer)

    def post(self, path: str, body: object = None) -> Any:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body or {}).encode(), headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def wait(self, path: str, wanted: Callable[[Any], bool], what: str, patience: float = PATIENCE) -> Any:
        """Poll a path until `wanted(answer)` is true; raises LudusError after `patience` seconds."""
        deadline, answer = time.monotonic() + patience, None
        while time.monotonic() < deadline:
            try:
                answer = self.get(path)
                if wanted(answer):
                    return answer
            except urllib.error.HTTPError as error:
                answer = error.read().decode(errors="replace")
            except (urllib.error.URLError, ConnectionError):
                if self.process is None or self.process.poll() is not None:
                    raise LudusError(f"the studio exited while waiting until {what}") from None
            time.sleep(0.1)
        raise LudusError(f"timeout after {patience:g} s waiting until {what}; the last answer was {str(answer)[:500]}")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium, controlled by Playwright."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise LudusError("chromium was not found; install it: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise LudusError("playwright is not installed; install it: pip install playwright") from None
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
