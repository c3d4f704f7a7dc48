"""Record duels of the real core as requests of /v0, with the moves of the agent in the process.

    make real-core && python benchmarks/reference_requests.py --out tests/data/reference_requests.json.xz
    python benchmarks/reference_requests.py --duels 20 --kind scripted      # compare only, nothing is written

Three duels are recorded: of Normal Monsters, with our scripted cards, and with a test card that asks questions of every
type. Every request is also answered by the code of the server, and the moves and the observations are compared.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import lzma
import pathlib
import random
import tempfile
import zlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

import ludus
from ludus.agents.bound import BoundAgent
from ludus.bridges.ygopro.library import Files
from ludus.games.duel.action_features import ACT, ACTIVATE
from ludus.games.duel.tools import scripts
from ludus.server.batching import Decided
from ludus.server.reference import encodings, recording, requests
from ludus.server.reference.duels import Duel, answered, from_bytes
from ludus.types import Array, Step

ROOT = pathlib.Path(__file__).parents[1]
SCRIPT = ROOT / "tests" / "bridges" / "ygopro" / "every_question.lua"
QUESTIONER = 10000001
QUESTIONER_ROW = (QUESTIONER, 3, 0, 0, 0x21, 100, 100, 1, 1, 1, 0, "Questioner")
QUESTIONS = "questions"
SEEDS = {scripts.PLAIN: 1, scripts.SCRIPTED: 0, QUESTIONS: 2}
LONGEST = {scripts.PLAIN: 2000, scripts.SCRIPTED: 2000, QUESTIONS: 300}


def script() -> str:
    """The script of the test card, with one zone to disable, and without rock-paper-scissors, which may never end."""
    text = SCRIPT.read_text().replace("SelectDisableField(tp, 2,", "SelectDisableField(tp, 1,")
    return text.replace("Duel.RockPaperScissors()", "Duel.SelectYesNo(tp, 31)")


def open_duel(folder: pathlib.Path, kind: str, seed: int) -> recording.RealPool:
    """A pool with one duel of this kind."""
    if kind != QUESTIONS:
        return recording.open_duels(folder, recording.random_decks(folder, kind, seed), seed)
    cards = scripts.random_deck(scripts.PLAIN, random.Random(seed)).main
    deck = recording.write_deck(folder, f"questions{seed}", [QUESTIONER] * 3 + list(cards[3:]))
    return recording.open_duels(folder, (deck, deck), seed)


def activates(step: Step, action: int) -> int:
    """The first activation, if there is one."""
    found = np.flatnonzero(step.mask[0] & (step.observation["actions_"][0, :, ACT] == ACTIVATE))
    return int(found[0]) if len(found) else action


class Compared:
    """The server's side of a duel: its state, and what differs from the agent in the process."""

    def __init__(self, agent: BoundAgent) -> None:
        self.agent, self.encoding = agent, encodings.own([QUESTIONER])
        self.duels = [Duel("", "", b"", 0), Duel("", "", b"", 0)]
        self.played = [0, 0]
        self.seen: Mapping[str, Array] = {}
        self.counts: collections.Counter[str] = collections.Counter()

    async def decide(self, memory: bytes, seen: Mapping[str, Array], mask: Array, first: bool) -> Decided:
        """The decision of the agent for an observation of the server."""
        self.seen = seen
        rows = {name: np.asarray(field)[None] for name, field in seen.items()}
        zero = np.zeros(1, np.int8)
        step = Step(rows, mask[None], zero, np.zeros((1, 2)), np.ones(1), np.array([first]))
        decision, _ = self.agent.agent.act(self.agent.params, (), step, 0)
        action = int(decision.action[0])
        return Decided(action, "", np.eye(len(mask))[action].tolist(), float(decision.value[0, 0]), False, b"")

    def step(self, decision: recording.Decision) -> None:
        """Compare one decision."""
        if decision.input is None:
            self.counts["questions without a message"] += 1
            return
        player, message = decision.player, decision.input["action_msg"]["data"]["msg_type"]
        duel = self.duels[player]
        body = {"index": duel.index, "input": decision.input, "prev_action_idx": self.played[player]}
        request = requests.read(msgspec.json.encode(body))
        after, answer = asyncio.run(answered(duel, request, self.encoding, self.decide))
        probabilities = [one.prob for one in answer.predict_results.action_preds]
        self.counts[message] += 1
        self.counts["other moves"] += probabilities.index(max(probabilities)) != decision.best
        if sum(prob != -1 for prob in probabilities) > 1:
            for name, field in decision.observation.items():
                self.counts[f"other {name}"] += not np.array_equal(field, self.seen[name])
        self.duels[player], self.played[player] = from_bytes(after.to_bytes()), decision.played


def recorded(decision: recording.Decision) -> dict[str, Any]:
    """One decision for the file; of the observation only checksums."""
    sums = {name: zlib.crc32(field.tobytes()) for name, field in decision.observation.items()}
    return {"player": decision.player, "input": decision.input, "best": decision.best, "played": decision.played,
            "seen": sums, "value": round(decision.value, 5)}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--duels", type=int, default=1, help="duels of each kind; only the first are written")
    parser.add_argument("--kind", choices=list(SEEDS), action="append")
    given = parser.parse_args()
    agent, kept = ludus.agent("trained", "duel"), {}
    with tempfile.TemporaryDirectory() as place:
        folder = recording.write_cards(pathlib.Path(place), [(QUESTIONER_ROW, script())])
        printed = Files(folder / "cards.cdb", folder / "script")
        for kind in given.kind or SEEDS:
            counts: collections.Counter[str] = collections.Counter()
            for seed in range(SEEDS[kind], SEEDS[kind] + given.duels):
                compared, decisions = Compared(agent), []
                pool = open_duel(folder, kind, seed)
                explore = activates if kind == QUESTIONS else lambda _, action: action
                for decision in recording.play(pool, agent, printed, LONGEST[kind], explore):
                    compared.step(decision)
                    decisions.append(recorded(decision))
                pool.close()
                counts += compared.counts
                kept.setdefault(kind, decisions)
            print(kind, json.dumps(dict(counts)))
    if given.out:
        data = json.dumps(kept, separators=(",", ":")).encode()
        given.out.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
        print(f"{given.out}: {given.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
