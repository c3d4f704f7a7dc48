"""Duels of the real core, recorded as requests by benchmarks/reference_requests.py: the same moves over HTTP."""

import asyncio
import json
import lzma
import pathlib
import zlib

import msgspec
import numpy as np
import pytest
from conftest import OWN, Player

import ludus
from ludus.bridges.ygopro.library import Files
from ludus.bridges.ygopro.node import find_package
from ludus.server.batching import Decided
from ludus.server.reference import encodings, recording
from ludus.server.reference.duels import Duel, answered, from_bytes
from ludus.server.reference.examples import MESSAGES, best
from ludus.server.reference.requests import read
from ludus.server.reference.service import Settings
from ludus.types import LudusError

FILE = pathlib.Path(__file__).parents[2] / "data" / "reference_requests.json.xz"
QUESTIONER = 10000001


@pytest.fixture(scope="module")
def duels():
    """By kind, all decisions of a duel."""
    return json.loads(lzma.decompress(FILE.read_bytes()))


@pytest.fixture(scope="module")
def served_with_list(served, tmp_path_factory):
    """The service with a code list that has the test card."""
    path = tmp_path_factory.mktemp("list") / "codes.txt"
    path.write_text(f"{QUESTIONER} 1\n")
    served.use(Settings(OWN, str(path)))
    yield served
    served.use(Settings())


def test_recordings_have_all_message_types(duels):
    kinds = {one["input"]["action_msg"]["data"]["msg_type"] for duel in duels.values() for one in duel if one["input"]}
    assert kinds == set(MESSAGES)


@pytest.mark.parametrize("kind", ["plain", "scripted", "questions"])
def test_moves_over_http_are_those_in_the_process(served_with_list, duels, kind):
    players, unasked = [Player(served_with_list), Player(served_with_list)], set()
    for number, one in enumerate(duels[kind]):
        if one["input"] is None:
            unasked.add(one["player"])  # the answer is then missing in the history of the server
            continue
        player = players[one["player"]]
        body = {"index": player.index, "input": one["input"], "prev_action_idx": player.previous}
        answer = served_with_list.ask(player.duel, body)
        assert best(answer) == one["best"], (kind, number)
        win_rate = answer["predict_results"]["win_rate"]
        if win_rate != -1.0 and one["player"] not in unasked:
            assert win_rate == pytest.approx((one["value"] + 1) / 2, abs=1e-3)
        player.index, player.previous = answer["index"], one["played"]


@pytest.mark.parametrize("kind", ["plain", "scripted"])
def test_observations_and_histories_are_those_of_the_pool(duels, kind):
    encoding, seen = encodings.own([QUESTIONER]), {}

    async def decide(memory, shown, mask, first):
        seen.update({name: zlib.crc32(np.ascontiguousarray(field).tobytes()) for name, field in shown.items()})
        return Decided(0, "", mask.astype(float).tolist(), 0.0, False, memory)

    states, played = [Duel("", "", b"", 0)] * 2, [0, 0]
    for number, one in enumerate(duels[kind]):
        state = states[one["player"]]
        body = {"index": state.index, "input": one["input"], "prev_action_idx": played[one["player"]]}
        after, answer = asyncio.run(answered(state, read(msgspec.json.encode(body)), encoding, decide))
        if sum(predict.prob >= 0 for predict in answer.predict_results.action_preds) > 1:
            assert seen == one["seen"], (kind, number)
        states[one["player"]], played[one["player"]] = from_bytes(after.to_bytes()), one["played"]


def test_new_duel_of_the_real_core(served, tmp_path):
    try:
        find_package()
    except LudusError as error:
        pytest.skip(str(error))
    folder = recording.write_cards(tmp_path)
    printed = Files(folder / "cards.cdb", folder / "script")
    pool = recording.open_duels(folder, recording.random_decks(folder, "scripted", 5), 5)
    players = [Player(served, OWN), Player(served, OWN)]
    for one in recording.play(pool, ludus.agent("trained", "duel"), printed, 60):
        player = players[one.player]
        body = {"index": player.index, "input": one.input, "prev_action_idx": player.previous}
        answer = served.ask(player.duel, body)
        assert best(answer) == one.best
        player.index, player.previous = answer["index"], one.played
    pool.close()


def test_any_worker_answers_any_request(served, duels):
    """Two processes that share a store have two routers; requests alternate between them."""
    served.use(Settings())
    first, clients = served.client, [served.client]
    served.use(Settings())
    clients.append(served.client)
    player = Player(served, OWN)
    mine = [one for one in duels["plain"] if one["player"] == 0]
    for number, one in enumerate(mine[:40]):
        served.client = clients[number % 2]
        body = {"index": player.index, "input": one["input"], "prev_action_idx": player.previous}
        answer = served.ask(player.duel, body)
        assert best(answer) == one["best"]
        player.index, player.previous = answer["index"], one["played"]
    served.client = first
