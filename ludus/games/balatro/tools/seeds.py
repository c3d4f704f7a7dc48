"""The contents of a seed: bosses, vouchers, tags, shelves, packs and the order in which cards are dealt.

They are found by playing the game: every blind is beaten with the first five cards, every pack is opened, nothing is
taken. Entries have the format of the seed vectors in the tests.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ludus.games.balatro import actions, randomness
from ludus.games.balatro.seeds import parse
from ludus.games.balatro.state import CHOOSING_BLIND, JOKER, PLAYING_CARD, PLAYING_HAND, SHOPPING
from ludus.games.balatro.tables import blinds, cards, consumables, decks, jokers, packs, streams, tags, vouchers
from ludus.games.balatro.tables.rules import SHOWMAN
from ludus.pool import Pool
from ludus.types import JsonObject, LudusError
from ludus.dsl import f64, i64, kernel, record
from ludus.dsl.rows import new_rows

FIVE = actions.PLAY + int((actions.SUBSETS == 0b11111).argmax())
RICH = 1_000_000
"""enough money to open every pack"""
MOST_ANTES, DEALT = 39, 8
ROUNDS = ("small", "big", "boss")


def entry(seed: str, antes: int = 8, deck: str = "red", stake: str = "white") -> JsonObject:
    """The contents of one seed."""
    if not 1 <= antes <= MOST_ANTES:
        raise LudusError(f"a seed can be shown for 1 to {MOST_ANTES} antes, not {antes}")
    name = bytes(parse(seed)).rstrip(b"\0").decode()
    if seed == "random" or not name:
        raise LudusError("a random seed has no fixed contents; give a seed, like 7LB2WVPK")
    walk = Walk(name, deck, stake)
    found = walk.through(antes)
    with_repeats = Walk(name, deck, stake, repeats=True).through(antes)
    return {
        "seed": name, "deck": f"b_{deck}", "stake": decks.STAKES.index(stake) + 1, "antes": found,
        "differs_from_public_analyzers": [ante for ante in found if found[ante] != with_repeats[ante]],
        "first_8_cards_dealt": walk.dealt, "rng": numbers(name),
    }  # fmt: skip


class Walk:
    """Plays through a run: it visits every shop and opens every pack, but buys nothing else."""

    def __init__(self, seed: str, deck: str, stake: str, repeats: bool = False) -> None:
        self.pool = Pool(f"balatro(seed={seed}, deck={deck}, stake={stake}, scale=1e-9, endless=yes)", 1, threads=1)
        self.dealt: dict[str, list[str]] = {}
        self.repeats = repeats
        """whether items on the shelf may appear again, as public analyzers assume"""

    def change(self, **fields: int) -> None:
        """Change these fields of the state."""
        states = self.pool.states.copy()
        for field, value in fields.items():
            states[field] = value
        self.pool.put(states)

    @property
    def state(self) -> np.void:
        state: np.void = self.pool.states[0]
        return state

    def through(self, antes: int) -> JsonObject:
        """The contents of every ante, by its number."""
        found: JsonObject = {}
        while True:
            ante = str(int(self.state["ante"]))
            here = found.setdefault(ante, {"shops": []})
            if self.state["phase"] == CHOOSING_BLIND and "boss" not in here:
                here |= self.announced()
            if self.state["phase"] == SHOPPING:
                here["shops"].append(self.shop())
                if int(ante) == antes and len(here["shops"]) == (2 if antes == 1 else 3):
                    return found
            self.advance()

    def announced(self) -> JsonObject:
        """What is known at the start of an ante."""
        return {
            "boss": blinds.KEYS[self.state["boss"]], "voucher": vouchers.KEYS[self.state["vouchers"][0]],
            "tags": [tags.KEYS[tag] for tag in self.state["offered_tags"]],
        }  # fmt: skip

    def shop(self) -> JsonObject:
        """The offers of a shop; its packs are opened one after the other."""
        shelf = [name_of(item) for item in self.state["shelf"][: self.state["shelf_count"]]]
        return {"shelf": shelf, "packs": [self.open(place) for place in range(len(self.state["packs"]))]}

    def open(self, place: int) -> JsonObject:
        self.change(money=RICH)
        if self.repeats:
            self.change(rules=0, shelf_count=0)
        name = packs.NAMES[self.state["packs"][place]]
        self.pool.advance([actions.BUY_PACK + place])
        contents = [name_of(item) for item in self.state["pack"][: self.state["pack_count"]]]
        self.pool.advance([actions.SKIP_PACK])
        return {"pack": name, "cards": contents}

    def advance(self) -> None:
        """Play the next step."""
        phase = self.state["phase"]
        if phase == CHOOSING_BLIND:
            self.pool.advance([actions.SELECT_BLIND])
            if self.state["ante"] == 1:
                self.dealt[f"{ROUNDS[self.state['blind']]}_ante1"] = self.first_dealt()
        elif phase == PLAYING_HAND:
            self.change(required=0)  # late antes ask for more than any scale would allow five cards to score
            self.pool.advance([FIVE])
        elif phase == SHOPPING:
            self.pool.advance([actions.LEAVE])
        else:
            self.change(rules=SHOWMAN if self.repeats else 0)
            self.pool.advance([actions.CASH_OUT])

    def first_dealt(self) -> list[str]:
        """The first cards from the top of the pile; the array still contains cards that were dealt."""
        top = int(self.state["card_count"])
        return [front(self.state["cards"][number]) for number in self.state["pile"][top - DEALT : top][::-1]]


def front(card: np.void) -> str:
    return f"{cards.SUITS[card['suit']]}_{cards.RANKS[card['rank']]}"


def name_of(item: np.void) -> str:
    """The key of an item with its marks: `j_egg`, `c_fool`, `D_T+m_bonus+e_foil+Red`."""
    if item["kind"] == PLAYING_CARD:
        marks = (cards.ENHANCEMENTS[item["enhancement"]], cards.EDITIONS[item["edition"]], cards.SEALS[item["seal"]])
        return "+".join(filter(None, (front(item), *marks)))
    keys = jokers.KEYS if item["kind"] == JOKER else consumables.KEYS
    return "+".join(filter(None, (keys[item["number"]], cards.EDITIONS[item["edition"]], *_stickers(item))))


def _stickers(item: np.void) -> list[str]:
    return [name for bit, name in enumerate(("eternal", "perishable", "rental")) if item["stickers"] >> bit & 1]


def numbers(seed: str) -> JsonObject:
    """The first random numbers of some streams, for comparing generators."""
    pool = Pool(f"balatro(seed={seed})", 1, threads=1)

    def sampled(name: str) -> np.void:
        out = new_rows(1, SAMPLE)
        sample(pool.states.copy(), streams.stream(name), out)
        row: np.void = out[0]
        return row

    hashed = {name.replace("@", "1"): sampled(name) for name in ("boss", "Tag@", "cdt@", "Joker1sho@", "lucky_mult")}
    return {
        "pseudohash_seed": repr(float(pool.states["seed_hash"][0])),
        "streams": {name: {"initial_hash": repr(float(one["hash"])), "pseudoseed_1_2_3": _texts(one["seeds"])}
                    for name, one in hashed.items()},
        "pseudorandom_float": {name.replace("@", "1"): _texts(sampled(name)["floats"])
                               for name in ("cdt@", "rarity@sho", "wheel")},
        "pseudorandom_int_1_100": {"misprint": sampled("misprint")["hundreds"].tolist()},
    }  # fmt: skip


def _texts(values: Iterable[float]) -> list[str]:
    return [repr(float(value)) for value in values]


SAMPLE = record(hash=f64, seeds=(f64, 3), floats=(f64, 3), hundreds=(i64, 3))


@kernel
def sample(states, stream, out):
    """The hash of a stream's name and its first three numbers, for each way to draw them."""
    state = states[0]
    slot = randomness.slot_of(state, stream)
    out[0].hash = randomness.hash_name(state, stream, state.ante, 0)
    for way in range(3):
        state.streams[slot] = 0.0
        for draw in range(3):
            if way == 0:
                out[0].seeds[draw] = randomness.pseudoseed(state, stream)
            elif way == 1:
                out[0].floats[draw] = randomness.uniform(state, stream)
            else:
                out[0].hundreds[draw] = randomness.below(state, stream, 100) + 1
