"""The studio in a real browser: a server process, headless Chromium, and pages whose errors fail the test."""

import contextlib
import json
import os
import signal

import pytest

from ludus.studio.process import PATIENCE, StudioProcess, chromium
from ludus.types import LudusError


@pytest.fixture(scope="module")
def studio(request, tmp_path_factory):
    """A studio for the tests of a file, which may set GAMES to a folder with additional games."""
    # Other tests use faster compiler settings and their own games; here agents train as users train them.
    other = ("JAX_DISABLE_MOST_OPTIMIZATIONS", "XLA_FLAGS", "LUDUS_GAMES")
    environment = {name: value for name, value in os.environ.items() if name not in other}
    if hasattr(request.module, "GAMES"):
        environment["LUDUS_GAMES"] = str(request.module.GAMES)
    with StudioProcess(tmp_path_factory.mktemp("studio") / "runs", environment) as server:
        yield server
    end_trainers(server)


def end_trainers(server):
    """Kill the trainers, which outlive the studio by design."""
    for path in server.out.glob("*/trainer.json"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            os.kill(json.loads(path.read_text())["pid"], signal.SIGKILL)


@pytest.fixture(scope="module")
def browser():
    """One browser per file, because its event loop runs while it is open, and other tests have their own loops."""
    with contextlib.suppress(ImportError):  # then the test is skipped below
        from playwright.sync_api import expect

        expect.set_options(timeout=1000 * PATIENCE)
    try:
        opened = chromium()
        browser = opened.__enter__()
    except LudusError as missing:
        pytest.skip(str(missing))
    yield browser
    opened.__exit__(None, None, None)


@pytest.fixture
def open_page(browser, studio):
    """Opens pages; an error in their console fails the test unless `open_page.errors_allowed` is set."""
    contexts, errors = [], []

    def open_one(route="", width=1280, height=800, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("response", lambda answer: errors.append(answer.url) if answer.status >= 400 else None)
        page.goto(f"{studio.url}/{route}")
        return page

    open_one.errors_allowed = False
    yield open_one
    for context in contexts:
        context.close()
    assert open_one.errors_allowed or not errors, errors


@pytest.fixture
def page(open_page):
    return open_page()
