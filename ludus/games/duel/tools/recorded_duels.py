"""Replays of recorded duels of the real engine: questions, options and states are compared at every decision."""

from __future__ import annotations

import gzip
import json
import lzma
import pathlib
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ludus.games.duel.tools import engine
from ludus.games.duel.tools.engine import Columns
from ludus.games.duel import state as words
from ludus.games.duel.tables import EFFECTS, ROW_OF, ROWS
from ludus.games.duel.tables.words import LINK, NO_TEXT, SYSTEM
from ludus.games.duel.text import text
from ludus.types import JsonObject, LudusError

KINDS = {
    words.SUMMONS: "summon", words.SPECIAL_SUMMONS: "spsummon", words.REPOSITIONS: "repos", words.SETS_MONSTER: "mset",
    words.SETS_SPELL: "sset", words.TO_BATTLE: "bp", words.TO_END: "ep", words.TO_MAIN_2: "m2", words.PASSES: "pass",
    words.PICKS: "sel", words.UNPICKS: "unsel", words.FINISHES: "finish",
    words.CANCELS: "cancel", words.SAYS_NO: "no", words.SAYS_YES: "yes",
}  # fmt: skip
OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
CODES = [card.code for card in ROWS]
Finding = tuple[str, object, object]
"""what differs, our value, and the recorded value"""
RandomResult = tuple[str, int, Sequence[Any]]
"""kind, player, and the results: numbers, card codes, or cards with their locations"""


def _text(row: np.void) -> tuple[int, int]:
    if row["text"] == NO_TEXT:
        return 0, 0
    return (0, int(row["text"]) - SYSTEM) if row["text"] >= SYSTEM else (CODES[row["card"]], int(row["text"]))


TEXTS = [_text(row) for row in EFFECTS]
"""the text of each effect: card code and line, or 0 and the line of a text of the game itself"""
FED = {"hand": 1, "coin": 2, "dice": 3, "random": 4}


class Difference(NamedTuple):
    """The first difference of a replay."""

    duel: str
    stage: int
    decision: int
    what: str
    ours: object
    theirs: object
    position: str = ""
    """the position as text"""


def read(path: pathlib.Path) -> Iterator[JsonObject]:
    """The duels of a file, one per line; .gz and .xz files are decompressed."""
    try:
        with OPENERS.get(path.suffix, open)(path, "rt") as lines:
            for line in lines:
                yield json.loads(line)
    except OSError as error:
        raise LudusError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise LudusError(f"{path} does not hold recorded duels, one JSON object per line: {error}") from error


def replay(duel: JsonObject) -> tuple[int, Difference | None]:
    """The number of matching decisions, and the first difference."""
    decks = [(side["main"], side["extra"]) for side in duel["decks"]]
    game = engine.Duel(decks, duel["lp"], duel["hand"])
    decisions = duel["dec"]
    game.feed(random_of(decisions[0]))
    game.begin()
    for number, decision in enumerate(decisions):
        found = compare(game, decision)
        if found:
            return number, Difference(duel["id"], duel["stage"], number, *found, text(game.state))
        following = decisions[number + 1] if number + 1 < len(decisions) else duel["end"]
        game.feed(random_of(following))
        game.answer(chosen(game, decision))
    found = compare_end(game, duel["end"])
    return len(decisions), Difference(
        duel["id"], duel["stage"], len(decisions), *found, text(game.state)
    ) if found else None


def random_of(decision: JsonObject) -> list[int]:
    """Random results as numbers for the engine: kind, player, count, then the numbers."""
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


def compare(game: engine.Duel, decision: JsonObject) -> Finding | None:
    """The first difference at a question: player, kind, options, state."""
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
    if (
        "cancel" in decision
        and message in ("card", "tribute")
        and bool(state["may_cancel"]) != bool(decision["cancel"])
    ):
        return "cancel", bool(state["may_cancel"]), decision["cancel"]
    return compare_state(game, decision["s"])


def compare_state(game: engine.Duel, recorded: JsonObject) -> Finding | None:
    mine = digest(game)
    for key, value in recorded.items():
        if comparable_state(key, mine[key]) != comparable_state(key, value):
            return f"state {key}", mine[key], value
    return None


def comparable(listed: list[Any], message: str) -> object:
    """Activations are compared as sets, everything else in order."""
    if message in ("idlecmd", "battlecmd", "chain"):
        loose = sorted(json.dumps(one) for one in listed if one[0] in ("act", "chain", "spsummon"))
        return loose, [one for one in listed if one[0] not in ("act", "chain", "spsummon")]
    return listed


def comparable_state(key: str, value: Any) -> object:
    """Drop attack and defense of face-down monsters, which are not compared."""
    if key == "m":
        return [
            [None if one is None else one if one[1] & 5 else [*one[:2], *one[4:]] for one in side] for side in value
        ]
    return value


def compare_end(game: engine.Duel, end: JsonObject) -> Finding | None:
    """The first difference at the end: winner, reason or final state."""
    if end["reason"] == "cut":
        return None
    state = game.state
    ours = (int(state["winner"]), int(state["win_reason"])) if state["status"] else None
    theirs = (end["winner"], end["reason"])
    return compare_state(game, end["s"]) if ours == theirs else ("end", ours, theirs)


def card_words(cards: Columns, c: int) -> list[int]:
    """A card as controller, location, sequence, code; for a material, its monster's location and its own index."""
    code = CODES[cards["code"][c]]
    if cards["place"][c] == 128:
        above = cards["overlaid_on"][c]
        return [
            cards["controller"][above],
            cards["place"][above] | 128,
            cards["sequence"][above],
            code,
            cards["sequence"][c],
        ]
    return [cards["controller"][c], cards["place"][c], cards["sequence"][c], code]


def effect_words(row: int) -> list[int]:
    """The text of an effect: card code and line, 0 and a line of the game itself, or None."""
    return list(TEXTS[row]) if row >= 0 else [0, 0]


def options(game: engine.Duel) -> list[Any]:
    """The options of the question, in the format of the recordings."""
    state, cards = game.state, game.columns()
    question = int(state["question"])
    return [option_words(cards, question, *option) for option in state["options"][: state["option_count"]].tolist()]


def option_words(cards: Columns, question: int, kind: int, c: int, effect: int, value: int, _: int) -> object:
    if kind == words.ACTIVATES:
        return ["chain" if question == words.CHAIN else "act", *card_words(cards, c), effect_words(effect)]
    if kind == words.ATTACKS:
        return ["attack", *card_words(cards, c), value]
    if kind == words.PLACES:
        return [c, effect, value]
    if kind in (words.POSITIONS, words.DECLARES):
        return value
    if kind == words.CHOOSES:
        return [CODES[cards["code"][c]] if c else 0, value]
    if kind in (words.SAYS_NO, words.SAYS_YES):
        return KINDS[kind]
    if kind == words.PICKS and question != words.UNSELECT:
        extra = [value] if question == words.TRIBUTE else [value, 0] if question == words.SUM else []
        return [*card_words(cards, c), *extra]
    return [KINDS[kind], *(card_words(cards, c) if c else [])]


def chosen(game: engine.Duel, decision: JsonObject) -> list[int]:
    """The indices of the recorded choice among our options."""
    picked = decision["c"] if isinstance(decision["c"], list) else [decision["c"]]
    ours = options(game)
    found: list[int] = []
    for index in picked:
        wanted = decision["o"][index]
        found.append(next(k for k, one in enumerate(ours) if one == wanted and k not in found))
    return found


def digest(game: engine.Duel) -> JsonObject:
    """The state of the duel, in the format of the recordings."""
    state, cards, values = game.state, game.columns(), game.values()
    sizes, piles, codes = state["sizes"].tolist(), state["piles"], cards["code"]
    monsters, spells = state["monsters"].tolist(), state["spells"].tolist()

    def pile(player: int, number: int) -> list[int]:
        return piles[player, number, : sizes[player][number]].tolist()

    def named(player: int, number: int) -> list[int]:
        return [CODES[codes[c]] for c in pile(player, number)]

    return {
        "lp": state["life"].tolist(), "turn": int(state["turn"]), "tp": int(state["turn_player"]),
        "ph": int(state["told_phase"]),
        "ds": int(state["in_damage_step"]),
        "m": [[monster(cards, c, values[7 * p + k]) for k, c in enumerate(row)] for p, row in enumerate(monsters)],
        "s": [[spell(cards, c, values[14 + 8 * p + k]) for k, c in enumerate(row)] for p, row in enumerate(spells)],
        "h": [named(player, words.HAND_PILE) for player in range(2)],
        "g": [named(player, words.GRAVE_PILE) for player in range(2)],
        "b": [[[CODES[codes[c]], cards["position"][c]] for c in pile(p, words.BANISHED_PILE)] for p in range(2)],
        "x": [sorted(named(player, words.EXTRA_PILE)) for player in range(2)],
        "d": [sizes[player][words.DECK_PILE] for player in range(2)],
        "dc": [zlib.crc32(np.array(named(player, words.DECK_PILE), "<u4").tobytes()) for player in range(2)],
        "ch": [link_words(state["chain"][k]) for k in range(state["links"])],
    }  # fmt: skip


def link_words(link: np.void) -> list[object]:
    place = [int(link["controller"]), int(link["place"]), int(link["sequence"])]
    return [*place, CODES[link["code"]], effect_words(int(link["effect"]))]


def monster(cards: Columns, c: int, values: list[int]) -> list[object] | None:
    if c == 0:
        return None
    row = ROWS[cards["code"][c]]
    counters = [[1, cards["counters"][c]]] if cards["counters"][c] else []
    below = [CODES[cards["code"][m]] for m in cards["overlay"][c][: cards["overlays"][c]]]
    level = 0 if row.types & LINK else row.level
    return [row.code, cards["position"][c], *values[:2], level, counters, below, cards["owner"][c], values[2]]


def spell(cards: Columns, c: int, values: list[int]) -> list[object] | None:
    if c == 0:
        return None
    on = cards["equipped_to"][c]
    return [
        CODES[cards["code"][c]],
        cards["position"][c],
        [],
        cards["owner"][c],
        values[2],
        card_words(cards, on)[:3] if on else 0,
    ]
