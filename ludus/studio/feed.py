"""News of the runs for whoever follows them: one look a quarter of a second for all, and none where nobody does."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any

from ludus.studio.ledger import Ledger
from ludus.studio.shelf import Shelf
from ludus.studio.trainers import Trainers

Message = dict[str, Any]
Listener = Callable[[Message], None]
PAUSE = 0.25
SCAN = 4
"""looks between two at the list of all runs"""
log = logging.getLogger("ludus.studio")


class RunsFeed:
    """Keeps the books of all runs, and tells listeners on the event loop what is new in them."""

    def __init__(self, shelf: Shelf, trainers: Trainers) -> None:
        self.shelf, self.trainers, self.lock = shelf, trainers, threading.Lock()
        self.ledgers: dict[str, Ledger] = {}
        self.waiting: dict[str, tuple[list[dict[str, Any]], bool]] = {}
        self.followers: dict[str, list[Listener]] = {}
        self.watchers: list[Listener] = []
        self.told: dict[str, dict[str, Any]] = {}
        self.list_told: Any = None
        self.task: asyncio.Task[None] | None = None

    def summaries(self) -> list[dict[str, Any]]:
        """Every run, by name."""
        with self.lock:
            self.trainers.reap()
            found = self.shelf.runs()
            for gone in set(self.ledgers) - set(found):
                del self.ledgers[gone]
            return [self._looked_at(name) for name in found]

    def summary(self, name: str) -> dict[str, Any]:
        """One of them."""
        self.shelf.run(name)
        with self.lock:
            self.trainers.reap()
            return self._looked_at(name)

    def _looked_at(self, name: str) -> dict[str, Any]:
        """How a run stands now; lines that were new wait for its followers."""
        ledger = self.ledgers.get(name) or self.ledgers.setdefault(name, Ledger(self.shelf.out / name))
        lines, cut = ledger.update()
        if name in self.followers:
            before, was_cut = self.waiting.get(name, ([], False))
            self.waiting[name] = ([] if cut else before) + lines, was_cut or cut
        return ledger.summary()

    def follow(self, name: str, listener: Listener) -> Callable[[], None]:
        """Hear of a run until the answer is called; the first message comes soon, with no lines."""
        self.shelf.run(name)
        self.followers.setdefault(name, []).append(listener)
        self.told.pop(name, None)
        self._wake()
        return lambda: self._leave(name, listener)

    def _leave(self, name: str, listener: Listener) -> None:
        listeners = self.followers.get(name, [])
        if listener in listeners:
            listeners.remove(listener)
        if not listeners:
            self.followers.pop(name, None)
            self.waiting.pop(name, None)

    def changed(self, listener: Listener) -> Callable[[], None]:
        """Hear whenever the list of runs should be fetched again, until the answer is called."""
        self.watchers.append(listener)
        self._wake()

        def leave() -> None:
            if listener in self.watchers:
                self.watchers.remove(listener)

        return leave

    def close(self) -> None:
        self.followers, self.watchers = {}, []

    def _wake(self) -> None:
        if self.task is None or self.task.done():
            self.task = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        number = 0
        while self.followers or self.watchers:
            whole = bool(self.watchers) and number % SCAN == 0
            try:
                news, listed = await asyncio.to_thread(self._look, tuple(self.followers), whole)
                self._tell(news, listed)
            except Exception:
                log.exception("looking at the runs")
            number += 1
            await asyncio.sleep(PAUSE)

    def _look(self, names: tuple[str, ...], whole: bool) -> tuple[list[Message], Any]:
        """What is new of these runs, and how the list stands; in a thread."""
        listed = [_shown(facts) for facts in self.summaries()] if whole else None
        news = []
        with self.lock:
            self.trainers.reap()
            for name in set(names) & set(self.shelf.runs()):
                facts = self._looked_at(name)
                lines, cut = self.waiting.pop(name, ([], False))
                if lines or cut or self.told.get(name) != facts:
                    self.told[name] = facts
                    message: Message = {"kind": "run", "run": name, "summary": facts, "lines": lines}
                    news.append(message | ({"again": True} if cut else {}))
        return news, listed

    def _tell(self, news: list[Message], listed: Any) -> None:
        for message in news:
            for listener in list(self.followers.get(message["run"], [])):
                listener(message)
        if listed is not None and listed != self.list_told:
            first, self.list_told = self.list_told is None, listed
            for listener in [] if first else list(self.watchers):
                listener({"kind": "runs"})


def _shown(facts: dict[str, Any]) -> tuple[Any, ...]:
    """What the list shows that changes seldom."""
    return tuple(str(facts[name]) for name in ("name", "title", "tags", "status", "sentence", "checkpoints"))
