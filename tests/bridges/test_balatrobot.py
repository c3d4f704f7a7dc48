"""BalatroBot's interface without a network: every method, its errors, moves both ways, and the comparison of states."""

import copy
import json
import random

import msgspec
import numpy as np
import pytest
from PIL import Image

from ludus.bench.balatrobot import choose
from ludus.bridges.balatrobot import agreement, debugging, protocol
from ludus.bridges.balatrobot.emulator import Emulator
from ludus.bridges.balatrobot.files import Folder
from ludus.bridges.balatrobot.moves import expressible, legal, moves_of, perform, request_of, swaps
from ludus.bridges.balatrobot.protocol import (
    BAD_REQUEST,
    INTERNAL_ERROR,
    INVALID_STATE,
    METHODS,
    NOT_ALLOWED,
    Refusal,
)
from ludus.bridges.balatrobot.run import Run
from ludus.bridges.balatrobot.state import gamestate
from ludus.games.balatro import actions as a
from ludus.games.balatro.tables import blinds, consumables

SEED = "7LB2WVPK"


class Bot:
    """A client without a network: calls methods with parameters and returns results."""

    def __init__(self, folder=None):
        self.emulator = Emulator(Folder(folder) if folder else None, key=0)
        self.used = set()

    def __call__(self, method, **params):
        self.used.add(method)
        answer = json.loads(
            self.emulator.answer(msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params, "id": 7}))
        )
        assert answer["jsonrpc"] == "2.0" and answer["id"] == 7
        if "error" in answer:
            assert answer["error"]["data"]["name"] == protocol.ERROR_NAMES[answer["error"]["code"]]
            raise Refusal(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    def refused(self, method, **params):
        """The code of the error; nothing has changed."""
        before = gamestate(self.emulator.run)
        with pytest.raises(Refusal) as refusal:
            self(method, **params)
        assert gamestate(self.emulator.run) == before
        return refusal.value.code

    def start(self, deck="RED", stake="WHITE", seed=SEED):
        self("menu")
        return self("start", deck=deck, stake=stake, seed=seed)

    def beat(self):
        """Beat the current blind and collect the pay."""
        self("select")
        self("set", chips=10**9)
        self("play", cards=[0])
        return self("cash_out")


@pytest.fixture
def bot(tmp_path):
    bot = Bot(tmp_path / "files")
    bot.start()
    return bot


@pytest.fixture
def shop(bot):
    bot.beat()
    bot("set", money=100)
    return bot


@pytest.fixture
def hand(bot):
    bot("select")
    return bot


def keys(state, area):
    return [card["key"] for card in state[area]["cards"]]


def test_a_seed_looks_as_in_the_original_game(bot):
    """The contents are those of the independent vectors of this seed in tests/data."""
    state = bot("gamestate")
    assert (state["state"], state["deck"], state["stake"], state["seed"]) == ("BLIND_SELECT", "RED", "WHITE", SEED)
    assert (state["ante_num"], state["round_num"], state["money"], state["won"]) == (1, 0, 4, False)
    ahead = state["blinds"]
    assert [ahead[name]["name"] for name in ("small", "big", "boss")] == ["Small Blind", "Big Blind", "The Club"]
    assert [ahead[name]["score"] for name in ("small", "big", "boss")] == [300, 450, 600]
    assert [ahead[name]["status"] for name in ("small", "big", "boss")] == ["SELECT", "UPCOMING", "UPCOMING"]
    assert [ahead[name]["tag_name"] for name in ("small", "big", "boss")] == ["Juggle Tag", "Coupon Tag", ""]
    state = bot("select")
    assert state["state"] == "SELECTING_HAND" and state["blinds"]["small"]["status"] == "CURRENT"
    dealt = ["S_2", "D_A", "S_4", "C_A", "H_4", "H_5", "D_7", "C_3"]
    assert sorted(keys(state, "hand")) == sorted(dealt)
    assert (state["hand"]["count"], state["hand"]["limit"], state["hand"]["highlighted_limit"]) == (8, 8, 5)
    assert (state["cards"]["count"], state["cards"]["limit"]) == (44, 52)
    assert state["round"] == {
        "hands_left": 4, "hands_played": 0, "discards_left": 4, "discards_used": 0, "reroll_cost": 0, "chips": 0,
    }  # fmt: skip
    assert state["hands"]["Pair"] | {"example": None} == {
        "order": 11, "level": 1, "chips": 10, "mult": 2, "played": 0, "played_this_round": 0, "example": None,
    }  # fmt: skip
    bot("set", chips=1000)
    bot("play", cards=[0, 1])
    state = bot("cash_out")
    assert state["state"] == "SHOP" and keys(state, "shop") == ["c_venus", "j_walkie_talkie"]
    assert keys(state, "packs") == ["p_buffoon_normal_1", "p_standard_normal_1"]
    assert keys(state, "vouchers") == ["v_grabber"]
    assert state["blinds"]["small"]["status"] == "DEFEATED"


def test_every_method_of_the_interface(tmp_path):
    """One session that uses each of them successfully."""
    bot = Bot(tmp_path)
    assert bot("health") == {"status": "ok"}
    assert bot("gamestate")["state"] == "MENU"
    assert [one["name"] for one in bot("rpc.discover")["methods"]] == list(METHODS)
    assert bot("start", deck="RED", stake="WHITE", seed=SEED)["state"] == "BLIND_SELECT"
    assert bot("skip")["blinds"]["small"]["status"] == "SKIPPED"
    bot("save", path="run.jkr")
    state = bot("select")
    assert keys(bot("sort", by="suit"), "hand") != keys(state, "hand")
    state = bot("sort", by="rank")
    order = list(range(state["hand"]["count"]))[::-1]
    assert keys(bot("rearrange", hand=order), "hand") == keys(state, "hand")[::-1]
    assert bot("highlight", card=2)["hand"]["cards"][2]["state"] == {"highlight": True}
    assert bot("discard", cards=[0, 1])["round"]["discards_left"] == 3
    bot("add", key="c_death")
    bot("use", consumable=0, cards=[0, 1])
    bot("set", chips=10**6)
    assert bot("play", cards=[0])["state"] == "ROUND_EVAL"
    assert bot("cash_out")["state"] == "SHOP"
    money = bot("set", money=100)["money"]
    assert bot("reroll")["money"] == money - 5
    bot("add", key="j_joker")
    assert bot("sell", joker=0)["jokers"]["count"] == 0
    state = bot("set", shop=True)
    bought = bot("buy", pack=0)
    assert bought["state"] == "SMODS_BOOSTER_OPENED" and bought["packs"]["count"] == 1
    assert bot("pack", skip=True)["state"] == "SHOP"
    assert bot("screenshot", path="table.png")["success"]
    bot("add", key="v_directors_cut")
    bot("buy", voucher=1)
    for _ in range(40):
        state = bot("reroll") if bot("set", money=100) else {}
        if "PLANET" in (kinds := [card["set"] for card in state["shop"]["cards"]]):
            break
    assert bot("buy_and_use", card=kinds.index("PLANET"))["consumables"]["count"] == 0
    assert bot("next_round")["state"] == "BLIND_SELECT"
    boss = bot("gamestate")["blinds"]["boss"]["name"]
    assert bot("reroll_boss")["blinds"]["boss"]["name"] != boss
    assert bot("load", path="run.jkr")["success"]
    assert bot("gamestate")["blinds"]["small"]["status"] == "SKIPPED"
    assert bot("menu")["state"] == "MENU"
    assert bot.used == set(METHODS)


PROTOCOL = [
    {"method": "health", "id": 1},
    {"jsonrpc": "1.0", "method": "health", "id": 1},
    {"jsonrpc": "2.0", "method": "health"},
    {"jsonrpc": "2.0", "method": "health", "id": None},
    {"jsonrpc": "2.0", "method": "health", "id": 1.5},
    {"jsonrpc": "2.0", "method": "health", "id": True},
    {"jsonrpc": "2.0", "method": "health", "id": [1]},
    {"jsonrpc": "2.0", "id": 1},
    {"jsonrpc": "2.0", "method": 5, "id": 1},
    {"jsonrpc": "2.0", "method": "dance", "id": 1},
    {"jsonrpc": "2.0", "method": "play", "params": [0], "id": 1},
    {"jsonrpc": "2.0", "method": "play", "params": {}, "id": 1},
    {"jsonrpc": "2.0", "method": "play", "params": {"cards": 0}, "id": 1},
    {"jsonrpc": "2.0", "method": "play", "params": {"cards": [0.5]}, "id": 1},
    {"jsonrpc": "2.0", "method": "play", "params": {"cards": [True]}, "id": 1},
    {"jsonrpc": "2.0", "method": "play", "params": {"cards": [10**30]}, "id": 1},
    {"jsonrpc": "2.0", "method": "set", "params": {"money": -1}, "id": 1},
    {"jsonrpc": "2.0", "method": "set", "params": {"money": "1"}, "id": 1},
    {"jsonrpc": "2.0", "method": "set", "params": {"shop": 1}, "id": 1},
    {"jsonrpc": "2.0", "method": "sort", "params": {"by": "colour"}, "id": 1},
    [{"jsonrpc": "2.0", "method": "health", "id": 1}],
    "health",
    None,
]


@pytest.mark.parametrize("request_", PROTOCOL, ids=lambda one: json.dumps(one)[:60])
def test_malformed_requests_are_bad_requests_and_change_nothing(hand, request_):
    before = gamestate(hand.emulator.run)
    answer = json.loads(hand.emulator.answer(json.dumps(request_).encode()))
    assert answer["error"]["code"] == BAD_REQUEST
    wanted = request_.get("id") if isinstance(request_, dict) else None
    assert answer["id"] == (wanted if protocol.is_id(wanted) else None)
    assert gamestate(hand.emulator.run) == before


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 60_000, b'{"a": 1e999}', b"NaN"])
def test_bodies_that_are_not_json_are_bad_requests(hand, body):
    assert json.loads(hand.emulator.answer(body))["error"]["code"] == BAD_REQUEST


def test_damaged_requests_are_answered_and_only_accepted_ones_change_something(hand):
    """Random bytes of valid requests are replaced, removed and doubled."""
    dice, codes = random.Random(0), set()
    order = [1, 0, 2, 3, 4, 5, 6, 7]
    valid = [
        {"jsonrpc": "2.0", "method": "play", "params": {"cards": [0, 1]}, "id": 1},
        {"jsonrpc": "2.0", "method": "rearrange", "params": {"hand": order}, "id": "a"},
    ]
    for _ in range(1500):
        body = bytearray(json.dumps(dice.choice(valid)).encode())
        for _ in range(dice.randint(1, 3)):
            place = dice.randrange(len(body))
            body[place : place + dice.randint(0, 2)] = bytes(dice.randrange(256) for _ in range(dice.randint(0, 2)))
        before = hand.emulator.run.pool.states.tobytes()
        answer = json.loads(hand.emulator.answer(bytes(body)))
        codes.add(answer.get("error", {}).get("code", 0))
        if "error" in answer:
            assert hand.emulator.run.pool.states.tobytes() == before
        elif hand.emulator.run.over or hand.emulator.run.state != "SELECTING_HAND":
            hand.start()
            hand("select")
    assert {0, BAD_REQUEST} <= codes <= {0, BAD_REQUEST, INVALID_STATE, NOT_ALLOWED}


def test_unknown_parameters_are_ignored(bot):
    assert bot("gamestate", colour="blue")["state"] == "BLIND_SELECT"


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.states])
def test_methods_are_refused_in_other_states(bot, method):
    """In the main menu there is no run; in BLIND_SELECT only some methods are allowed."""
    examples = {
        "start": {"deck": "RED", "stake": "WHITE"}, "save": {"path": "x"}, "play": {"cards": [0]},
        "discard": {"cards": [0]}, "buy": {"card": 0}, "pack": {"skip": True}, "sell": {"joker": 0},
        "rearrange": {"jokers": [0]}, "use": {"consumable": 0}, "add": {"key": "j_joker"}, "set": {"money": 1},
        "sort": {"by": "rank"}, "highlight": {"card": 0}, "buy_and_use": {"card": 0},
    }  # fmt: skip
    if "BLIND_SELECT" not in METHODS[method].states:
        assert bot.refused(method, **examples.get(method, {})) == INVALID_STATE
    bot("menu")
    if method != "start":
        assert bot.refused(method, **examples.get(method, {})) == INVALID_STATE


def test_start_needs_a_deck_a_stake_and_a_seed_of_the_game(bot):
    bot("menu")
    assert bot.refused("start", deck="PINK", stake="WHITE") == BAD_REQUEST
    assert bot.refused("start", deck="RED", stake="white") == BAD_REQUEST
    assert bot.refused("start", deck="RED") == BAD_REQUEST
    for seed in ("", "TOOLONGSEED", "AB-CD", "ÄÖ", "random\n"):
        assert bot.refused("start", deck="RED", stake="WHITE", seed=seed) == BAD_REQUEST
    first = bot("start", deck="RED", stake="WHITE")["seed"]
    bot("menu")
    assert bot("start", deck="PLASMA", stake="GOLD")["seed"] != first
    bot("menu")
    assert bot("start", deck="RED", stake="WHITE", seed="random")["seed"] == "RANDOM"


def test_a_boss_cannot_be_skipped(bot):
    bot("skip")
    assert bot("skip")["blinds"]["big"]["status"] == "SKIPPED"
    assert bot.refused("skip") == NOT_ALLOWED


@pytest.mark.parametrize("method", ["play", "discard"])
@pytest.mark.parametrize("cards", [[], [0, 1, 2, 3, 4, 5], [8], [-1], [1, 1]])
def test_cards_of_the_hand_are_checked(hand, method, cards):
    assert hand.refused(method, cards=cards) == BAD_REQUEST


def test_discards_run_out(hand):
    for _ in range(4):
        hand("discard", cards=[0])
    assert hand.refused("discard", cards=[0]) == BAD_REQUEST


def test_cards_beyond_the_eighth_can_be_played(hand):
    for key in ("S_K", "H_K"):
        hand("add", key=key)
    state = hand("sort", by="suit")
    assert state["hand"]["count"] == 10
    places = [place for place, key in enumerate(keys(state, "hand")) if key[2] == "K"]
    state = hand("play", cards=places)
    assert state["hands"]["Pair"]["played"] == 1 and state["round"]["chips"] == (10 + 20) * 2


def test_a_lost_run_is_over(hand):
    for _ in range(4):
        state = hand("play", cards=[7])
    assert state["state"] == "GAME_OVER" and not state["won"]
    assert hand.refused("play", cards=[0]) == INVALID_STATE
    assert hand("menu")["state"] == "MENU"


def test_the_forced_card_of_cerulean_bell_must_be_played(hand):
    hand.emulator.run.put(blind=2, boss=blinds.NAMES.index("Cerulean Bell"))
    state = hand("play", cards=[0])
    forced = [place for place, card in enumerate(state["hand"]["cards"]) if card["state"].get("highlight")]
    assert len(forced) == 1
    other = [place for place in range(8) if place not in forced]
    assert hand.refused("play", cards=other[:2]) == BAD_REQUEST
    assert hand.refused("highlight", card=forced[0]) == NOT_ALLOWED
    assert hand("play", cards=[*forced, other[0]])["round"]["hands_played"] == 2


def test_face_down_cards_are_hidden_but_keep_their_key(hand):
    hand.emulator.run.put(blind=2, boss=blinds.NAMES.index("The Fish"))
    hand.emulator.run.put(fish=1)
    state = hand("play", cards=[0, 1])
    hidden = [card for card in state["hand"]["cards"] if card["state"].get("hidden")]
    assert len(hidden) == 2 and all(card["key"][1] == "_" for card in hidden)


def test_buying(shop):
    assert shop.refused("buy") == BAD_REQUEST
    assert shop.refused("buy", card=0, pack=0) == BAD_REQUEST
    for params in ({"card": 2}, {"voucher": 1}, {"pack": 2}, {"card": -1}):
        assert shop.refused("buy", **params) == BAD_REQUEST
    state = shop("buy", card=1)
    assert keys(state, "jokers") == ["j_walkie_talkie"] and keys(state, "shop") == ["c_venus"]
    assert state["jokers"]["cards"][0]["cost"]["sell"] == 2
    assert shop("buy", voucher=0)["used_vouchers"].keys() == {"v_grabber"}
    shop("set", money=0)
    for params in ({"card": 0}, {"pack": 0}):
        assert shop.refused("buy", **params) == BAD_REQUEST
    assert shop.refused("reroll") == NOT_ALLOWED
    assert shop.refused("buy_and_use", card=0) == NOT_ALLOWED


def test_full_slots_refuse_jokers_and_consumables(shop):
    for _ in range(5):
        shop("add", key="j_joker")
    assert shop.refused("add", key="j_joker") == NOT_ALLOWED
    assert shop.refused("buy", card=1) == BAD_REQUEST
    for _ in range(2):
        shop("add", key="c_fool")
    assert shop.refused("buy", card=0) == BAD_REQUEST
    assert shop("add", key="j_joker", edition="NEGATIVE")["jokers"]["limit"] == 6
    shop("buy", pack=0)
    assert shop.refused("pack", card=0) == NOT_ALLOWED


def test_packs(shop):
    state = shop("buy", pack=0)
    assert keys(state, "pack") == ["j_juggler", "j_midas_mask"] and "shop" in state
    assert shop.refused("pack") == BAD_REQUEST
    assert shop.refused("pack", card=0, skip=True) == BAD_REQUEST
    assert shop.refused("pack", card=2) == BAD_REQUEST
    assert keys(shop("pack", card=1, targets=[0]), "jokers") == ["j_midas_mask"]
    state = shop("buy", pack=0)
    assert keys(state, "packs") == [] and keys(state, "pack") == ["C_9", "C_Q", "H_T"]
    assert state["pack"]["cards"][1]["modifier"] == {"enhancement": "BONUS"}
    assert shop("pack", card=2)["cards"]["limit"] == 53


def test_a_pack_with_targets(shop):
    shop("buy", pack=0)
    shop("pack", skip=True)
    shop("add", key="p_arcana_mega_2")
    state = shop("buy", pack=0)
    assert state["hand"]["count"] == 8
    least = {key: consumables.LEAST[consumables.KEYS.index(key)] for key in keys(state, "pack")}
    number = next(key for key in least if least[key] == 1)
    card = keys(state, "pack").index(number)
    assert shop.refused("pack", card=card) == BAD_REQUEST
    assert shop.refused("pack", card=card, targets=[0, 1, 2, 3]) == BAD_REQUEST
    state = shop("pack", card=card, targets=[7])
    assert (
        state["state"] == "SMODS_BOOSTER_OPENED" and state["pack"]["count"] == 4 and number not in keys(state, "pack")
    )


def test_selling(bot, hand):
    assert hand.refused("sell", joker=0) == NOT_ALLOWED
    hand("add", key="j_joker", eternal=True)
    hand("add", key="c_pluto")
    assert hand.refused("sell", joker=0) == NOT_ALLOWED
    assert hand.refused("sell", joker=1) == BAD_REQUEST
    assert hand.refused("sell", joker=0, consumable=0) == BAD_REQUEST
    assert hand("sell", consumable=0)["money"] == 5


def test_with_an_open_pack_things_can_be_sold_only_if_it_is_a_buffoon_pack(shop):
    for key in ("j_joker", "c_pluto"):
        shop("add", key=key)
    shop("buy", pack=0)
    run = shop.emulator.run
    assert expressible(run, a.SELL_CONSUMABLE, METHODS) and expressible(run, a.SELL_JOKER, METHODS)
    assert not expressible(run, a.SELL_JOKER, [name for name, method in METHODS.items() if not method.newer])
    assert shop("sell", consumable=0)["consumables"]["count"] == 0
    shop("pack", card=0)
    shop("buy", pack=0)
    assert shop.refused("sell", joker=0) == INVALID_STATE and not expressible(run, a.SELL_JOKER, METHODS)


def test_using_consumables(hand):
    assert hand.refused("use", consumable=0) == BAD_REQUEST
    hand("add", key="c_strength")
    hand("add", key="c_judgement")
    assert hand.refused("use", consumable=0) == BAD_REQUEST
    assert hand.refused("use", consumable=0, cards=[0, 1, 2]) == BAD_REQUEST
    assert hand.refused("use", consumable=1, cards=[0]) == BAD_REQUEST
    state = hand("gamestate")
    rank = state["hand"]["cards"][7]["value"]["rank"]
    state = hand("use", consumable=0, cards=[7])
    assert state["hand"]["cards"][7]["value"]["rank"] == chr(ord(rank) + 1)
    assert hand("use", consumable=0)["jokers"]["count"] == 1
    for _ in range(4):
        hand("add", key="j_joker")
    hand("add", key="c_judgement")
    assert hand.refused("use", consumable=0) == NOT_ALLOWED


def test_consumables_with_targets_need_a_hand(shop):
    shop("add", key="c_strength")
    assert shop.refused("use", consumable=0, cards=[0]) == INVALID_STATE
    shop("add", key="c_pluto")
    assert shop("use", consumable=1)["hands"]["High Card"]["level"] == 2


def test_rearranging(hand):
    for key in ("j_joker", "j_egg", "j_dna"):
        hand("add", key=key)
    for key in ("c_fool", "c_pluto"):
        hand("add", key=key)
    assert keys(hand("rearrange", jokers=[2, 0, 1]), "jokers") == ["j_dna", "j_joker", "j_egg"]
    assert keys(hand("rearrange", consumables=[1, 0]), "consumables") == ["c_pluto", "c_fool"]
    for jokers in ([0, 1], [0, 0, 1], [0, 1, 3], [0, 1, 2, 3]):
        assert hand.refused("rearrange", jokers=jokers) == BAD_REQUEST
    assert hand.refused("rearrange", jokers=[0, 1, 2], consumables=[0, 1]) == BAD_REQUEST
    hand("set", chips=10**6)
    hand("play", cards=[0])
    hand("cash_out")
    assert hand.refused("rearrange", hand=[0]) == INVALID_STATE
    hand("sell", consumable=0)
    hand("sell", consumable=0)
    assert hand.refused("rearrange", consumables=[]) == NOT_ALLOWED


def test_swaps_of_neighbours_make_any_order():
    dice = random.Random(0)
    for _ in range(50):
        order = dice.sample(range(9), 9)
        here = list(range(9))
        for left in swaps(order):
            here[left], here[left + 1] = here[left + 1], here[left]
        assert here == order


ADDED = [
    ("j_blueprint", {"edition": "POLYCHROME", "rental": True}, {"edition": "POLYCHROME", "rental": True}),
    ("j_joker", {"perishable": 3}, {"perishable": 3}),
    ("c_soul", {"edition": "NEGATIVE"}, {"edition": "NEGATIVE"}),
    ("H_T", {"seal": "GOLD", "edition": "HOLO", "enhancement": "GLASS"},
     {"seal": "GOLD", "edition": "HOLO", "enhancement": "GLASS"}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "params", "modifier"), ADDED)
def test_adding_cards(hand, key, params, modifier):
    state = hand("add", key=key, **params)
    area = {"j": "jokers", "c": "consumables"}.get(key[0], "hand")
    assert [card["modifier"] for card in state[area]["cards"] if card["key"] == key and card["modifier"]] == [modifier]


@pytest.mark.parametrize(
    "params",
    [
        {"key": "j_nothing"}, {"key": ""}, {"key": "j_joker", "seal": "RED"}, {"key": "j_joker", "edition": "SHINY"},
        {"key": "c_fool", "edition": "FOIL"}, {"key": "c_fool", "eternal": True}, {"key": "S_A", "rental": True},
        {"key": "S_A", "edition": "NEGATIVE"}, {"key": "j_gros_michel", "eternal": True},
        {"key": "j_joker", "perishable": 0}, {"key": "j_joker", "perishable": 10**6},
        {"key": "j_joker", "perishable": 2, "eternal": True},
    ],
)  # fmt: skip
def test_cards_that_cannot_be_added(hand, params):
    assert hand.refused("add", **params) == BAD_REQUEST


def test_vouchers_and_packs_are_added_in_the_shop_only(hand):
    assert hand.refused("add", key="v_blank") == INVALID_STATE
    assert hand.refused("add", key="p_spectral_mega_1") == INVALID_STATE
    hand("set", chips=10**6)
    hand("play", cards=[0])
    assert hand.refused("add", key="S_A") == INVALID_STATE
    hand("cash_out")
    assert hand.refused("add", key="p_spectral_mega_1") == NOT_ALLOWED
    assert hand.refused("add", key="v_grabber") == NOT_ALLOWED
    assert keys(hand("add", key="v_blank"), "vouchers") == ["v_grabber", "v_blank"]


def test_setting_values(hand):
    state = hand("set", money=77, chips=123, ante=3, round=9, hands=2, discards=1)
    assert (state["money"], state["ante_num"], state["round_num"]) == (77, 3, 9)
    assert (state["round"]["chips"], state["round"]["hands_left"], state["round"]["discards_left"]) == (123, 2, 1)
    assert state["blinds"]["small"]["score"] == 2000
    assert hand.refused("set") == BAD_REQUEST
    assert hand.refused("set", shop=True) == NOT_ALLOWED
    assert hand.refused("set", money=10**12) == BAD_REQUEST


def test_winning_continues_endlessly(bot):
    bot("skip")
    bot("skip")
    bot("select")
    bot("set", ante=8, chips=10**12)
    state = bot("play", cards=[0])
    assert (state["state"], state["won"], state["ante_num"]) == ("ROUND_EVAL", True, 9)
    assert bot("cash_out")["state"] == "SHOP"


def test_saved_runs_continue_exactly(hand, tmp_path):
    hand("play", cards=[0, 1])
    before = hand("gamestate")
    assert hand("save", path="/etc/passwd/../one.jkr")["path"] == str(tmp_path / "files" / "one.jkr")
    after = hand("discard", cards=[0, 1, 2])
    hand("menu")
    hand("load", path="one.jkr")
    assert hand("gamestate") == before and hand("discard", cards=[0, 1, 2]) == after


@pytest.mark.parametrize("path", ["", "..", "a/..", "a/", "x" * 200, ".hidden", "a\0b", "a\nb", "\\"])
def test_only_names_of_files_are_accepted(hand, tmp_path, path):
    for method in ("save", "load", "screenshot"):
        assert hand.refused(method, path=path) == BAD_REQUEST
    assert list((tmp_path / "files").iterdir()) == []


def test_damaged_and_missing_files_are_refused(hand, tmp_path):
    assert hand.refused("load", path="none") == INTERNAL_ERROR
    file = tmp_path / "files" / "one"
    hand("save", path="one")
    content = bytearray(file.read_bytes())
    content[-1000] ^= 1
    for damaged in (
        bytes(content),
        content[:-1],
        b"",
        b"{}\n",
        b'{"format": "ludus-balatro-run/1"}\nabc',
        b"\xff" * 99,
    ):
        file.write_bytes(damaged)
        assert hand.refused("load", path="one") == INTERNAL_ERROR


def test_screenshots_are_pictures(hand, tmp_path):
    path = hand("screenshot", path="C:\\shots\\one.png")["path"]
    with Image.open(path) as picture:
        assert picture.size == (960, 600)


def test_without_a_folder_files_are_refused():
    bot = Bot()
    bot.start()
    for method in ("save", "load", "screenshot"):
        assert bot.refused(method, path="x") == INTERNAL_ERROR


def test_every_action_becomes_a_request_and_back():
    """The moves of the request lead to the same state as the action, with one action for one action."""
    dice, seen = random.Random(3), set()
    for number in range(12):
        run = Run("ghost", "gold", f"TEST{number + 1}", key=0)
        twin = Run("ghost", "gold", f"TEST{number + 1}", key=0)
        for _ in range(80):
            if run.over:
                break
            if run.state == "SELECTING_HAND" and dice.random() < 0.3:
                for one in (run, twin):
                    debugging.change(one, {"chips": 10**9, "money": 50})
            action = choose(run, dice)
            request = request_of(run, action)
            params = protocol.checked(request.method, METHODS[request.method], request.params)
            protocol.check_state(request.method, twin.state)
            perform(twin, moves_of(twin, request.method, params))
            run.take(action)
            seen.add(a.block_of(action)[0])
            assert gamestate(run) == gamestate(twin), (str(request), a.name_of(action))
    assert len(seen) > 18


CARD = {"id", "key", "set", "label", "value", "modifier", "state", "cost"}
SETS = {"DEFAULT", "ENHANCED", "JOKER", "TAROT", "PLANET", "SPECTRAL", "VOUCHER", "BOOSTER"}
ALLOWED = {
    "seal": {"RED", "BLUE", "GOLD", "PURPLE"}, "edition": {"FOIL", "HOLO", "POLYCHROME", "NEGATIVE"},
    "enhancement": {"BONUS", "MULT", "WILD", "GLASS", "STEEL", "STONE", "GOLD", "LUCKY"}, "eternal": {True},
    "rental": {True}, "perishable": set(range(1, 6)), "debuff": {True}, "hidden": {True}, "highlight": {True},
}  # fmt: skip
AREAS = ("jokers", "consumables", "cards", "hand", "shop", "vouchers", "packs", "pack")


def check_card(card):
    assert card.keys() == CARD and card["set"] in SETS and isinstance(card["value"]["effect"], str)
    assert {type(value) for value in (card["id"], card["cost"]["sell"], card["cost"]["buy"])} == {int}
    assert all(value in ALLOWED[name] for part in ("modifier", "state") for name, value in card[part].items())
    if card["set"] in ("DEFAULT", "ENHANCED"):
        assert card["key"] == f"{card['value']['suit']}_{card['value']['rank']}"
    else:
        assert card["key"][:2] == {"JOKER": "j_", "VOUCHER": "v_", "BOOSTER": "p_"}.get(card["set"], "c_")


def test_every_state_of_random_runs_has_the_shape_of_the_interface():
    dice, names, sets = random.Random(5), set(), set()
    for number in range(8):
        run = Run("magic", "gold", f"SHAPE{number + 1}", key=0)
        while not run.over and run.record["decisions"] < 120:
            if number > 1 and run.state == "SELECTING_HAND" and dice.random() < 0.4:
                debugging.change(run, {"chips": 10**9, "money": 60})
            run.take(choose(run, dice))
            state = json.loads(msgspec.json.encode(gamestate(run)))
            names.add(state["state"])
            areas = [state[area] for area in AREAS if area in state]
            assert all(area["count"] == len(area["cards"]) and isinstance(area["limit"], int) for area in areas)
            shown = [card for area in areas for card in area["cards"]]
            assert len({card["id"] for card in shown}) == len(shown)
            for card in shown:
                check_card(card)
                sets.add(card["set"])
            assert ("pack" in state) == (state["state"] == "SMODS_BOOSTER_OPENED")
            assert {blind["status"] for blind in state["blinds"].values()} <= {
                "SELECT", "CURRENT", "UPCOMING", "DEFEATED", "SKIPPED",
            }  # fmt: skip
    assert names == {*protocol.STABLE} - {"MENU"} and sets == SETS


def test_the_released_mod_lacks_some_methods():
    released = [name for name, method in METHODS.items() if not method.newer]
    run = Run("red", "white", SEED)
    run.take(a.SELECT_BLIND)
    assert expressible(run, a.TOGGLE, METHODS) and not expressible(run, a.TOGGLE, released)
    assert a.SORT_BY_SUIT in legal(run, METHODS) and a.SORT_BY_SUIT not in legal(run, released)


def state_of_everything():
    run = Run("red", "gold", SEED)
    for moves in ((a.SELECT_BLIND,), (a.PLAY,), (a.CASH_OUT,)):
        if moves == (a.PLAY,):
            debugging.change(run, {"chips": 10**9})
        for action in moves:
            run.take(action)
    debugging.add(run, {"key": "j_joker", "rental": True})
    debugging.add(run, {"key": "c_fool"})
    return gamestate(run)


CHANGES = {
    "money": lambda state: state.update(money=state["money"] + 1),
    "seed": lambda state: state.update(seed="OTHER"),
    "won": lambda state: state.update(won=True),
    "hands.Flush.level": lambda state: state["hands"]["Flush"].update(level=2),
    "round.reroll_cost": lambda state: state["round"].update(reroll_cost=6),
    "jokers.count": lambda state: state["jokers"]["cards"].clear(),
    "jokers.limit": lambda state: state["jokers"].update(limit=6),
    "jokers.cards[0].key": lambda state: state["jokers"]["cards"][0].update(key="j_egg"),
    "jokers.cards[0].rental": lambda state: state["jokers"]["cards"][0].update(modifier=[]),
    "jokers.cards[0].debuff": lambda state: state["jokers"]["cards"][0].update(state={"debuff": True}),
    "jokers.cards[0].cost.sell": lambda state: state["jokers"]["cards"][0].update(cost={"sell": 9}),
    "consumables.cards[0].edition": lambda state: state["consumables"]["cards"][0].update(
        modifier={"edition": "NEGATIVE"}
    ),
    "shop.cards[0].cost.buy": lambda state: state["shop"]["cards"][0].update(cost={}),
    "packs.cards[1].key": lambda state: state["packs"]["cards"][1].update(key="p_standard_mega_1"),
    "vouchers.count": lambda state: state["vouchers"]["cards"].append({}),
    "used_vouchers": lambda state: state.update(used_vouchers={"v_blank": ""}),
    "cards": lambda state: state["cards"]["cards"][0].update(key="S_A") or state["cards"]["cards"][1].update(key="S_A"),
    "state": lambda state: state.update(state="ROUND_EVAL"),
    "hands.Five of a Kind.chips": lambda state: state.update(hands=[]),
}


@pytest.fixture(scope="module")
def everything():
    return state_of_everything()


@pytest.mark.parametrize("field", CHANGES)
def test_a_difference_is_named(everything, field):
    game = copy.deepcopy(msgspec.json.decode(msgspec.json.encode(everything)))
    assert agreement.difference(game, everything) is None
    CHANGES[field](game)
    found = agreement.difference(game, everything)
    assert found is not None and found.field == field


def test_texts_ids_and_pictures_are_not_compared(everything):
    game = msgspec.json.decode(msgspec.json.encode(everything))
    for area in ("jokers", "shop", "packs", "cards"):
        for card in game[area]["cards"]:
            card.update(id=-1, label="Narr", value={})
    game["packs"]["cards"][0]["key"] = game["packs"]["cards"][0]["key"][:-1] + "3"
    game["cards"]["cards"].reverse()
    game["consumables"]["cards"][0]["state"] = []
    assert agreement.difference(game, everything) is None


def test_newer_versions_of_the_mod_write_other_words(everything):
    game = msgspec.json.decode(msgspec.json.encode(everything))
    game.update(deck="b_red", stake="stake_gold", won=None)
    assert agreement.difference(game, everything) is None
    assert [agreement.word(one) for one in ("e_holo", "Red", "m_glass", "FOIL", 3)] == [
        "HOLO",
        "RED",
        "GLASS",
        "FOIL",
        3,
    ]
    old, new = {"tag_name": "Skip Tag", "tag_effect": ""}, {"tag": {"key": "tag_skip", "name": "Skip Tag"}}
    start = gamestate(Run("red", "white", SEED))
    for tag, same in ((old, False), (new, False), ({"tag": {"name": "Juggle Tag"}}, True)):
        game = msgspec.json.decode(msgspec.json.encode(start))
        del game["blinds"]["small"]["tag_name"]
        game["blinds"]["small"].update(tag)
        assert (agreement.difference(game, start) is None) == same


def test_scores_with_fourteen_digits_are_equal():
    assert agreement.same(123456789012345678, 1.2345678901235e17)
    assert not agreement.same(300, 301) and not agreement.same(1, True) and not agreement.same("1", 1)


def test_infinite_scores_are_written_as_the_largest_number(hand):
    hand.emulator.run.put(score=np.inf)
    assert hand("gamestate")["round"]["chips"] == 1.7e308
