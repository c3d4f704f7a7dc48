"""Save duels of the core as .yrp replays, and replay them in a core from seed, decks and answers.

The bridge passes chain prompts without options, so they have no answer in these files.
"""

from __future__ import annotations

import pathlib
import time

from ludus.bridges.ygopro import yrp
from ludus.bridges.ygopro.core import MASTER_RULE_5, Cards, Core, Setup
from ludus.bridges.ygopro.real_duel import RealDuel
from ludus.bridges.ygopro.yrp import Yrp
from ludus.games.duel.ydk import Deck
from ludus.types import LudusError


def replay_of(setup: Setup, answers: list[bytes], names: tuple[str, str] = ("", "")) -> Yrp:
    """A duel as a replay; its seed must fit in 32 bits, since a file stores no more."""
    if any(setup.seed[1:]) or not 0 <= setup.seed[0] < 2**32:
        raise LudusError("a .yrp file stores a 32-bit seed; open the duel with such a seed")
    decks = Deck(*setup.decks[0]), Deck(*setup.decks[1])
    start = (setup.points, setup.opening, setup.draws)
    return Yrp(decks, tuple(answers), names, *start, seed=setup.seed[0], start_time=int(time.time()))


def setup_of(replay: Yrp) -> Setup:
    """The setup of a replay's duel."""
    if replay.options != yrp.MASTER_RULE_5:
        raise LudusError(f"this replay uses other rules (options {replay.options:#x}); only Master Rule 5 is supported")
    first, second = (Cards(deck.main, deck.extra) for deck in replay.decks)
    return Setup((first, second), (replay.seed, 0, 0, 0), MASTER_RULE_5, replay.lp, replay.hand, replay.draw)


def play_again(core: Core, replay: Yrp) -> RealDuel:
    """The duel after the last answer of its replay; raises LudusError if the core plays it differently."""
    duel = RealDuel(core, setup_of(replay))
    while duel.question() is not None and len(duel.answers) < len(replay.responses):
        # duel.answers includes the bridge's automatic answers, so they are not sent twice.
        duel.send(replay.responses[len(duel.answers)])
    if tuple(duel.answers) != replay.responses[: len(duel.answers)] or len(duel.answers) < len(replay.responses):
        reason = f"it ends after {len(duel.answers)} of {len(replay.responses)} answers"
        duel.close()
        raise LudusError(f"this core plays the replay differently: {reason}; it is from another core or other cards")
    return duel


class ReplayWriter:
    """Writes replays of duels into a folder, numbered after those already there."""

    def __init__(self, folder: str) -> None:
        self._home = pathlib.Path(folder)
        try:
            self._home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LudusError(
                f"keep={folder} is not a folder that can be written: {error.strerror or error}; give another folder"
            ) from None
        numbers = (path.stem[5:] for path in self._home.glob("duel-*.yrp"))
        self._last = max((int(number) for number in numbers if number.isdigit()), default=0)

    def write(self, setup: Setup, answers: list[bytes]) -> pathlib.Path:
        """Write one duel with the next number."""
        self._last += 1
        path = self._home / f"duel-{self._last:06d}.yrp"
        yrp.write_yrp(replay_of(setup, answers), path)
        return path
