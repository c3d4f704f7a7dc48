"""A score calculator: scores one played hand in a given situation by the rules of the game.

Situations and results are dictionaries in the format `balatro-score-vectors/1`: the input has cards, jokers, levels and
outcomes of rolls; the output has the poker hand, chips, mult, score and changes.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Sequence

import numpy as np

from ludus.games.balatro import scoring
from ludus.games.balatro.actions import PLAY_SELECTED
from ludus.games.balatro.conditions import FIXED_ROLLS
from ludus.games.balatro.state import BOSS, CONSUMABLE, JOKER, PLAYING_HAND
from ludus.games.balatro.tables import blinds, cards, consumables, decks, hands, jokers
from ludus.pool import Pool
from ludus.types import Array, JsonObject, LudusError

ENHANCEMENTS = ("", *(key.removeprefix("m_") for key in cards.ENHANCEMENTS[1:]))
EDITIONS = ("", "foil", "holo", "poly", "negative")
SEALS = tuple(seal.lower() for seal in cards.SEALS)
OUTCOMES = dict(zip(("lucky_mult", "lucky_money", "bloodstone", "business", "parking", "space", "eight_ball",
                     "glass_break"), FIXED_ROLLS, strict=True))  # fmt: skip
MOST_STEPS, MOST_BYTES = 512, 64 * 2**20
"""maximum number of operations of a score, and maximum size of a file"""
STATES = {
    "mult": "ceremonial green_joker ride_the_bus trousers flash popcorn red_card",
    "chips": "runner square ice_cream castle wee",
    "xmult": "campfire hologram constellation glass caino vampire obelisk madness hit_the_road yorick ramen lucky_cat",
    "uses": "selzer",
    "hands_since_created": "loyalty_card",
}
STATE_NAME = {f"j_{key}": name for name, keys in STATES.items() for key in keys.split()}
"""the name of a joker's value in the format, by key of the joker"""


def read(path: str) -> list[JsonObject]:
    """Read situations from a file."""
    file = pathlib.Path(path)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise LudusError(f"{path} has more than {MOST_BYTES // 2**20} MB; split it into several files")
        found = json.loads(file.read_text())
    except OSError as error:
        raise LudusError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise LudusError(f"{path} is not JSON: {error}") from None
    vectors = found.get("vectors") if isinstance(found, dict) else found
    if not isinstance(vectors, list) or not all(isinstance(vector, dict) for vector in vectors):
        raise LudusError(f'{path} has no situations; it should be {{"vectors": [{{…}}, …]}}')
    return vectors


def score(situations: Sequence[JsonObject]) -> list[JsonObject]:
    """The result of each situation."""
    if not situations:
        return []
    pool = _pool(len(situations))
    states = pool.states.copy()
    for number, (state, situation) in enumerate(zip(states, situations, strict=True), start=1):
        try:
            put(state, situation)
        except (KeyError, ValueError, IndexError, TypeError, AttributeError, OverflowError) as error:
            name = situation.get("id", f"number {number}")
            raise LudusError(f"situation {name} cannot be read: {type(error).__name__}: {error}") from None
    before = states["cards"].copy()
    pool.put(states)
    pool.advance([PLAY_SELECTED] * len(situations))
    results = [
        _result(state, situation) | _changes(state, situation, cards)
        for state, situation, cards in zip(pool.states, situations, before, strict=True)
    ]
    pool.close()
    return results


def steps(situation: JsonObject) -> list[JsonObject]:
    """The steps of a score: after each operation, its source and the current chips and mult."""
    pool = _pool(MOST_STEPS)
    states = pool.states.copy()
    put(states[0], situation)
    states[1:] = states[0]
    states["tally"]["limit"] = np.arange(MOST_STEPS)
    pool.put(states)
    pool.advance([PLAY_SELECTED] * MOST_STEPS)
    tallies = pool.states["tally"][: int(pool.states["tally"]["operations"].max()) + 1]
    pool.close()
    return [
        {"by": _actor(situation, tally) if number else hands.NAMES[tally["hand"]],
         "chips": float(tally["chips"]), "mult": float(tally["mult"])}
        for number, tally in enumerate(tallies)
    ]  # fmt: skip


def _pool(rows: int) -> Pool:
    return Pool("balatro(actions=all, seed=1)", rows, threads=1)


def put(state: np.void, situation: JsonObject) -> None:
    """Set up a situation in a new game: the cards to play are selected, and no score can end the round."""
    state["phase"], state["ox_hand"], state["required"] = PLAYING_HAND, -1, np.inf
    for field in ("money", "discards_left"):
        state[field] = situation[field]
    state["hands_left"] = situation["hands_left"] + 1
    state["deck"] = decks.NAMES.index(situation["deck_type"])
    _put_cards(state, situation)
    _put_jokers(state, situation)
    _put_levels(state, situation)
    _put_blind(state, situation["blind"])
    _put_round(state, situation)


def _put_cards(state: np.void, situation: JsonObject) -> None:
    played, held, deck = situation["play"], situation["held"], situation["deck"]
    for number, card in enumerate([*played, *held]):
        _put_card(state["cards"][number], card)
    known = len(played) + len(held)
    state["cards"]["flags"][: len(played)] |= cards.SELECTED
    state["hand_count"] = known
    state["hand"][:known] = range(known)
    rest = _rest_of_deck(situation)
    state["cards"]["enhancement"][known : known + len(rest)] = rest
    state["card_count"], state["pile_count"] = deck["full_size"], deck["remaining"]
    state["starting_cards"] = deck["starting_size"]


def _rest_of_deck(situation: JsonObject) -> list[int]:
    """Enhancements of the unseen cards, so that the deck has the given number of each."""
    deck = situation["deck"]
    seen = [card.get("enh") for card in (*situation["play"], *situation["held"])]
    steel, stone = (deck[kind] - seen.count(kind) for kind in ("steel", "stone"))
    others = deck["enhanced"] - sum(kind is not None for kind in seen) - steel - stone
    rest = [cards.STEEL] * steel + [cards.STONE] * stone + [cards.BONUS] * others
    return rest + [0] * (deck["full_size"] - len(seen) - len(rest))


def _put_card(card: np.void, given: JsonObject) -> None:
    card["rank"] = cards.RANKS.index(given["rank"].replace("10", "T"))
    card["suit"] = cards.SUITS.index(given["suit"])
    card["enhancement"] = ENHANCEMENTS.index(given.get("enh") or "")
    card["edition"] = EDITIONS.index(given.get("edition") or "")
    card["seal"] = SEALS.index(given.get("seal") or "")
    card["flags"] = cards.DEBUFFED if given.get("debuffed") else 0
    card["chips"] = given.get("extra_chips", 0)


def _put_jokers(state: np.void, situation: JsonObject) -> None:
    state["joker_count"] = len(situation["jokers"])
    for place, given in enumerate(situation["jokers"]):
        joker = state["jokers"][place]
        joker["kind"], joker["number"] = JOKER, jokers.number_of(given["key"])
        joker["edition"] = EDITIONS.index(given.get("edition") or "")
        joker["debuffed"] = bool(given.get("debuffed"))
        joker["born"] = joker["rounds"] = place + 1
        gathered = given.get("state") or {}
        joker["value"] = gathered.get(STATE_NAME.get(given["key"], ""), jokers.START[joker["number"]])
        joker["counter"] = hands.NAMES.index(gathered["hand"]) if "hand" in gathered else -1
        price = jokers.PRICE[joker["number"]] + cards.EDITION_PRICE[joker["edition"]]
        joker["sell_value"] = given["sell"] - max(1, price // 2)
    negatives = sum(given.get("edition") == "negative" for given in situation["jokers"])
    state["joker_slots"] = situation["joker_slots"] - negatives


def _put_levels(state: np.void, situation: JsonObject) -> None:
    for name, given in situation["levels"].items():
        hand = hands.NAMES.index(name)
        state["levels"][hand] = given.get("level", 1)
        state["plays"][hand] = given.get("played", 0)
        state["plays_this_round"][hand] = given.get("played_round", 0)
    for name, count in situation.get("observatory", {}).items():
        state["owned_vouchers"][scoring.OBSERVATORY] = 1
        first = int(state["consumable_count"])
        state["consumables"]["kind"][first : first + count] = CONSUMABLE
        state["consumables"]["number"][first : first + count] = consumables.PLANET_OF[hands.NAMES.index(name)]
        state["consumable_count"] += count


def _put_blind(state: np.void, blind: JsonObject) -> None:
    number = blinds.KEYS.index(blind["key"])
    state["blind"], state["boss"] = min(number, BOSS), max(number, BOSS)
    state["disabled"] = bool(blind.get("disabled"))
    state["eye_hands"] = sum(1 << hands.NAMES.index(name) for name in blind.get("eye_hands") or ())
    state["mouth_hand"] = hands.NAMES.index(blind["mouth_hand"]) if blind.get("mouth_hand") else -1


def _put_round(state: np.void, situation: JsonObject) -> None:
    current, outcomes = situation["round"], situation.get("outcomes", {})
    state["hands_played"] = 0 if current["first_hand"] else 1
    state["tarots_used"], state["skips"] = current["tarots_used"], current["skips"]
    if current.get("idol"):
        state["idol_rank"] = cards.RANKS.index(current["idol"]["rank"].replace("10", "T"))
        state["idol_suit"] = cards.SUITS.index(current["idol"]["suit"])
    if current.get("ancient_suit"):
        state["ancient_suit"] = cards.SUITS.index(current["ancient_suit"])
    for place, name in enumerate(OUTCOMES):
        if name in outcomes:
            state["tally"]["fixed"] |= 1 << place
            state["tally"]["fixed_to"] |= int(outcomes[name]) << place
    state["tally"]["misprint"] = outcomes.get("misprint", -1)


def _result(state: np.void, situation: JsonObject) -> JsonObject:
    tally = state["tally"]
    hand = hands.NAMES[tally["hand"]]
    places = [place for place in range(tally["count"]) if (tally["scoring"] >> place) & 1]
    royal = hand == "Straight Flush" and all(situation["play"][place]["rank"] in "10JQKA" for place in places)
    return {
        "hand": hand, "display_name": "Royal Flush" if royal else hand, "scoring": places,
        "refused": bool(tally["refused"]), "level_used": int(tally["level"]), "chips": float(tally["chips"]),
        "mult": float(tally["mult"]), "score": _whole(float(tally["score"])), "money": int(tally["dollars"]),
    }  # fmt: skip


def _whole(number: float) -> float | int:
    return int(number) if abs(number) < 2**53 else number


def _changes(state: np.void, situation: JsonObject, before: Array) -> JsonObject:
    tally, owned = state["tally"], situation["jokers"]
    left = {int(joker["rounds"]) - 1: joker for joker in state["jokers"][: state["joker_count"]]}
    broken = [place for place in range(tally["count"]) if (tally["broken"] >> place) & 1]
    return {
        "jokers_after": [_state_of(owned[place]["key"], left[place]) if place in left else None
                         for place in range(len(owned))],
        "jokers_removed": [place for place in range(len(owned)) if place not in left],
        "cards_destroyed": broken, "cards_changed": _changed_cards(state, before, broken),
    }  # fmt: skip


def _state_of(key: str, joker: np.void) -> JsonObject:
    if key == "j_todo_list":
        return {"hand": hands.NAMES[joker["counter"]]}
    return {STATE_NAME[key]: float(joker["value"])} if key in STATE_NAME else {}


def _changed_cards(state: np.void, before: Array, broken: Sequence[int]) -> list[JsonObject]:
    found = []
    for place in range(state["tally"]["count"]):
        card = state["cards"][place - sum(gone < place for gone in broken)]
        old = before[place]
        if place not in broken and (card["enhancement"], card["chips"]) != (old["enhancement"], old["chips"]):
            enhancement = ENHANCEMENTS[card["enhancement"]] or None
            found.append({"index": place, "enh": enhancement, "extra_chips": int(card["chips"])})
    return found


def _actor(situation: JsonObject, tally: np.void) -> str:
    by = int(tally["done_by"])
    if by < scoring.BY_CARD:
        return jokers.NAMES[jokers.number_of(situation["jokers"][by]["key"])]
    seen = [*situation["play"], *situation["held"]]
    if by in (scoring.BY_CARD, scoring.BY_HELD, scoring.BY_EDITION) and 0 <= tally["done_on"] < len(seen):
        card = seen[int(tally["done_on"])]
        return f"{card['rank']}{card['suit']}"
    return {scoring.BY_PLANET: "Observatory", scoring.BY_DECK: "Plasma Deck"}.get(by, "")
