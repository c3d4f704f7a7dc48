"""Recorded duels of the real engine, replayed decision by decision: is ours asked the same, and does it stand the same?"""

from __future__ import annotations

import gzip
import json
import pathlib
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ludus.duel import engine
from ludus.games.duel import state as words
from ludus.games.duel.tables import EFFECTS, ROW_OF, ROWS
from ludus.games.duel.tables.words import NO_TEXT, SYSTEM
from ludus.types import LudusError

KINDS = {
    words.SUMMONS: "summon", words.SPECIAL_SUMMONS: "spsummon", words.REPOSITIONS: "repos", words.SETS_MONSTER: "mset",
    words.SETS_SPELL: "sset", words.TO_BATTLE: "bp", words.TO_END: "ep", words.TO_MAIN_2: "m2", words.PASSES: "pass",
    words.PICKS: "sel", words.UNPICKS: "unsel", words.FINISHES: "finish", words.CANCELS: "cancel", words.SAYS_NO: "no", words.SAYS_YES: "yes",
}  # fmt: skip
FED = {"hand": 1, "coin": 2, "dice": 3, "random": 4}


class Difference(NamedTuple):
    """Where a replay first goes another way."""

    duel: str
    stage: int
    decision: int
    what: str
    ours: Any
    theirs: Any


def read(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    """The duels of a file, one a line, compressed or not."""
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            for line in lines:
                yield json.loads(line)
    except OSError as error:
        raise LudusError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise LudusError(f"{path} does not hold recorded duels, one JSON object a line: {error}") from error


def replay(duel: dict[str, Any]) -> tuple[int, Difference | None]:
    """How many decisions are right, and the first that is not."""
    decks = [(side["main"], side["extra"]) for side in duel["decks"]]
    game = engine.Duel(decks, duel["lp"], duel["hand"])
    decisions = duel["dec"]
    game.feed(random_of(decisions[0]))
    game.begin()
    for number, decision in enumerate(decisions):
        found = compare(game, decision)
        if found:
            return number, Difference(duel["id"], duel["stage"], number, *found)
        following = decisions[number + 1] if number + 1 < len(decisions) else duel["end"]
        game.feed(random_of(following))
        game.answer(chosen(game, decision))
    found = compare_end(game, duel["end"])
    return len(decisions), Difference(duel["id"], duel["stage"], len(decisions), *found) if found else None


def random_of(decision: dict[str, Any]) -> list[int]:
    """What chance decided, as numbers for the engine: kind, player, how many, the numbers."""
    fed: list[int] = []
    for kind, player, results in decision.get("r", []):
        if kind == "hand":
            numbers = [ROW_OF[code] for code in results]
        elif kind == "random":
            numbers = [card[2] for card in results]
        else:
            numbers = list(results)
        fed += [FED[kind], player, len(numbers), *numbers]
    return fed


def compare(game: engine.Duel, decision: dict[str, Any]) -> tuple[str, Any, Any] | None:
    """What differs at a question: who is asked, what, the options, the state."""
    state = game.state
    if state["status"] != 0:
        return "over", int(state["winner"]), decision["m"]
    message = words.MESSAGES[state["question"]]
    if (state["asked"], message) != (decision["p"], decision["m"]):
        return "question", (int(state["asked"]), message, options(game)), (decision["p"], decision["m"], decision["o"])
    ours, theirs = options(game), decision["o"]
    if comparable(ours, message) != comparable(theirs, message):
        return "options", ours, theirs
    for key, field in (("min", "fewest"), ("max", "most")):
        if key in decision and message in ("card", "tribute") and int(state[field]) != decision[key]:
            return key, int(state[field]), decision[key]
    if "cancel" in decision and message in ("card", "tribute") and bool(state["may_cancel"]) != bool(decision["cancel"]):
        return "cancel", bool(state["may_cancel"]), decision["cancel"]
    mine = digest(game)
    for key, value in decision["s"].items():
        if comparable_state(key, mine[key]) != comparable_state(key, value):
            return f"state {key}", mine[key], value
    return None


def comparable(listed: list[Any], message: str) -> Any:
    """Activations are compared as sets, everything else in order."""
    if message in ("idlecmd", "battlecmd", "chain"):
        loose = sorted(json.dumps(one) for one in listed if one[0] in ("act", "chain", "spsummon"))
        return loose, [one for one in listed if one[0] not in ("act", "chain", "spsummon")]
    return listed


def comparable_state(key: str, value: Any) -> Any:
    """Attack and defense of face-down monsters are nobody's business."""
    if key == "m":
        return [[None if one is None else one if one[1] & 5 else [*one[:2], *one[4:]] for one in side] for side in value]
    return value


def compare_end(game: engine.Duel, end: dict[str, Any]) -> tuple[str, Any, Any] | None:
    if end["reason"] == "cut":
        return None
    state = game.state
    ours = (int(state["winner"]), int(state["win_reason"])) if state["status"] else None
    theirs = (end["winner"], end["reason"])
    return None if ours == theirs else ("end", ours, theirs)


def card_words(game: engine.Duel, c: int) -> list[int]:
    """A card as controller, location, sequence, code; of a material, where its monster lies, and its place below."""
    card = game.state["cards"][c]
    code = ROWS[card["code"]].code
    if card["place"] == 128:
        above = game.state["cards"][card["overlaid_on"]]
        return [int(above["controller"]), int(above["place"]) | 128, int(above["sequence"]), code, int(card["sequence"])]
    return [int(card["controller"]), int(card["place"]), int(card["sequence"]), code]


def effect_words(row: int) -> list[int]:
    """The text of an effect: card code and number, 0 and the number of the game's own lines, or nothing."""
    if row < 0:
        return [0, 0]
    effect = EFFECTS[row]
    if effect["text"] == NO_TEXT:
        return [0, 0]
    if effect["text"] >= SYSTEM:
        return [0, int(effect["text"]) - SYSTEM]
    return [ROWS[effect["card"]].code, int(effect["text"])]


def options(game: engine.Duel) -> list[Any]:
    """The options of the question, as the recordings have them."""
    state = game.state
    return [option_words(game, state["question"], state["options"][k]) for k in range(state["option_count"])]


def option_words(game: engine.Duel, question: int, option: Any) -> Any:
    kind, c = int(option["kind"]), int(option["card"])
    if kind == words.ACTIVATES:
        return ["chain" if question == words.CHAIN else "act", *card_words(game, c), effect_words(int(option["effect"]))]
    if kind == words.ATTACKS:
        return ["attack", *card_words(game, c), int(option["value"])]
    if kind == words.PLACES:
        return [c, int(option["effect"]), int(option["value"])]
    if kind in (words.POSITIONS, words.DECLARES):
        return int(option["value"])
    if kind == words.CHOOSES:
        return [ROWS[game.state["cards"][c]["code"]].code if c else 0, int(option["value"])]
    if kind in (words.SAYS_NO, words.SAYS_YES):
        return KINDS[kind]
    if kind == words.PICKS and question != words.UNSELECT:
        extra = [int(option["value"])] if question == words.TRIBUTE else [int(option["value"]), 0] if question == words.SUM else []
        return [*card_words(game, c), *extra]
    return [KINDS[kind], *(card_words(game, c) if c else [])]


def chosen(game: engine.Duel, decision: dict[str, Any]) -> list[int]:
    """The recorded choice among our own options, by what it says."""
    picked = decision["c"] if isinstance(decision["c"], list) else [decision["c"]]
    ours = options(game)
    found: list[int] = []
    for index in picked:
        wanted = decision["o"][index]
        found.append(next(k for k, one in enumerate(ours) if one == wanted and k not in found))
    return found


def digest(game: engine.Duel) -> dict[str, Any]:
    """How the duel stands, as the recordings have it."""
    state = game.state
    return {
        "lp": state["life"].tolist(), "turn": int(state["turn"]), "tp": int(state["turn_player"]), "ph": int(state["told_phase"]),
        "ds": int(state["in_damage_step"]),
        "m": [[monster(game, int(c)) for c in side] for side in state["monsters"]],
        "s": [[spell(game, int(c)) for c in side] for side in state["spells"]],
        "h": [codes(game, player, words.HAND_PILE) for player in range(2)],
        "g": [codes(game, player, words.GRAVE_PILE) for player in range(2)],
        "b": [[[ROWS[card["code"]].code, int(card["position"])] for card in pile(game, player, words.BANISHED_PILE)] for player in range(2)],
        "x": [sorted(codes(game, player, words.EXTRA_PILE)) for player in range(2)],
        "d": [int(state["sizes"][player, words.DECK_PILE]) for player in range(2)],
        "dc": [zlib.crc32(np.array(codes(game, player, words.DECK_PILE), "<u4").tobytes()) for player in range(2)],
        "ch": [link_words(state["chain"][k]) for k in range(state["links"])],
    }  # fmt: skip


def link_words(link: Any) -> list[Any]:
    place = [int(link["controller"]), int(link["place"]), int(link["sequence"])]
    return [*place, ROWS[link["code"]].code, effect_words(int(link["effect"]))]


def pile(game: engine.Duel, player: int, number: int) -> Any:
    state = game.state
    return state["cards"][state["piles"][player, number, : state["sizes"][player, number]]]


def codes(game: engine.Duel, player: int, number: int) -> list[int]:
    return [ROWS[card["code"]].code for card in pile(game, player, number)]


def monster(game: engine.Duel, c: int) -> Any:
    if c == 0:
        return None
    card, (attack, defense, level, negated) = game.state["cards"][c], game.values(c)
    counters = [[1, int(card["counters"])]] if card["counters"] else []
    below = [ROWS[game.state["cards"][m]["code"]].code for m in card["overlay"][: card["overlays"]]]
    return [ROWS[card["code"]].code, int(card["position"]), attack, defense, level, counters, below, int(card["owner"]), negated]


def spell(game: engine.Duel, c: int) -> Any:
    if c == 0:
        return None
    card, (_, _, _, negated) = game.state["cards"][c], game.values(c)
    target = card_words(game, int(card["equipped_to"]))[:3] if card["equipped_to"] else 0
    return [ROWS[card["code"]].code, int(card["position"]), [], int(card["owner"]), negated, target]
