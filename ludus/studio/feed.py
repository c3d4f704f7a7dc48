"""Sends changes of runs to listeners. The folders are polled every 0.25 s, and only while there are listeners."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable

from ludus.studio.ledger import Ledger
from ludus.studio.shelf import Shelf
from ludus.studio.trainers import Trainers
from ludus.types import JsonObject

Message = JsonObject
Listener = Callable[[Message], None]
Facts = tuple[str, ...]
"""the facts of a run that the list of runs shows"""
PAUSE = 0.25
SCAN = 4
"""the list of all runs is read at every fourth poll"""
log = logging.getLogger("ludus.studio")


class RunsFeed:
    """Keeps the ledgers of all runs and sends their changes to listeners on the event loop."""

    def __init__(self, shelf: Shelf, trainers: Trainers) -> None:
        self.shelf, self.trainers, self.lock = shelf, trainers, threading.Lock()
        self.ledgers: dict[str, Ledger] = {}
        self.waiting: dict[str, tuple[list[JsonObject], bool]] = {}
        self.followers: dict[str, list[Listener]] = {}
        self.watchers: list[Listener] = []
        self.sent: dict[str, JsonObject] = {}
        self.sent_list: list[Facts] | None = None
        self.task: asyncio.Task[None] | None = None

    def summaries(self) -> list[JsonObject]:
        """Summaries of all runs."""
        with self.lock:
            self.trainers.reap()
            found = self.shelf.runs()
            for gone in set(self.ledgers) - set(found):
                del self.ledgers[gone]
            return [self._update(name) for name in found]

    def summary(self, name: str) -> JsonObject:
        """Summary of one run."""
        self.shelf.run(name)
        with self.lock:
            self.trainers.reap()
            return self._update(name)

    def _update(self, name: str) -> JsonObject:
        """Read what is new of a run and return its summary; new lines are queued for its followers."""
        ledger = self.ledgers.get(name) or self.ledgers.setdefault(name, Ledger(self.shelf.out / name))
        lines, cut = ledger.update()
        if name in self.followers:
            before, was_cut = self.waiting.get(name, ([], False))
            self.waiting[name] = ([] if cut else before) + lines, was_cut or cut
        return ledger.summary()

    def follow(self, name: str, listener: Listener) -> Callable[[], None]:
        """Send changes of a run to the listener until the returned function is called; the first has no lines."""
        self.shelf.run(name)
        self.followers.setdefault(name, []).append(listener)
        self.sent.pop(name, None)
        self._start_polling()
        return lambda: self._leave(name, listener)

    def _leave(self, name: str, listener: Listener) -> None:
        listeners = self.followers.get(name, [])
        if listener in listeners:
            listeners.remove(listener)
        if not listeners:
            self.followers.pop(name, None)
            self.waiting.pop(name, None)

    def changed(self, listener: Listener) -> Callable[[], None]:
        """Notify the listener when the list of runs has changed, until the returned function is called."""
        self.watchers.append(listener)
        self._start_polling()

        def leave() -> None:
            if listener in self.watchers:
                self.watchers.remove(listener)

        return leave

    def close(self) -> None:
        self.followers, self.watchers = {}, []

    def _start_polling(self) -> None:
        if self.task is None or self.task.done():
            self.task = asyncio.get_running_loop().create_task(self._poll_while_needed())

    async def _poll_while_needed(self) -> None:
        number = 0
        while self.followers or self.watchers:
            whole = bool(self.watchers) and number % SCAN == 0
            try:
                news, listed = await asyncio.to_thread(self._poll, tuple(self.followers), whole)
                self._send(news, listed)
            except Exception:
                log.exception("could not read the runs")
            number += 1
            await asyncio.sleep(PAUSE)

    def _poll(self, names: tuple[str, ...], whole: bool) -> tuple[list[Message], list[Facts] | None]:
        """The changes of these runs, and if `whole`, the state of the list of runs; called in a thread."""
        listed = [_list_facts(facts) for facts in self.summaries()] if whole else None
        news = []
        with self.lock:
            self.trainers.reap()
            for name in set(names) & set(self.shelf.runs()):
                facts = self._update(name)
                lines, cut = self.waiting.pop(name, ([], False))
                if lines or cut or self.sent.get(name) != facts:
                    self.sent[name] = facts
                    message: Message = {"kind": "run", "run": name, "summary": facts, "lines": lines}
                    news.append(message | ({"again": True} if cut else {}))
        return news, listed

    def _send(self, news: list[Message], listed: list[Facts] | None) -> None:
        for message in news:
            for listener in list(self.followers.get(message["run"], [])):
                listener(message)
        if listed is not None and listed != self.sent_list:
            first, self.sent_list = self.sent_list is None, listed
            for listener in [] if first else list(self.watchers):
                listener({"kind": "runs"})


def _list_facts(facts: JsonObject) -> Facts:
    """The facts of the list of runs whose change makes clients fetch it again."""
    return tuple(str(facts[name]) for name in ("name", "title", "tags", "status", "sentence", "checkpoints"))
