"""A duel as text, for terminals and golden games: the field as a seat sees it, the question and the moves."""

from __future__ import annotations

import numpy as np

from ludus.games.duel.names import Sight
from ludus.games.duel.pieces import says
from ludus.games.duel.questions import QUESTIONS
from ludus.games.duel.state import (
    ACTIVATES, ATTACKS, BANISHED_PILE, DECK_PILE, EXTRA_PILE, GRAVE_PILE, HAND_PILE, NOBODY, NO_QUESTION, PICKS,
)  # fmt: skip
from ludus.games.duel.tables import ROWS
from ludus.games.duel.tables.words import Card
from ludus.games.duel.tables import words as w
from ludus.dsl import PLAYING

PHASES = {1: "draw phase", 2: "standby phase", 4: "main phase 1", 256: "main phase 2", 512: "end phase"}
PILES = {DECK_PILE: "deck", EXTRA_PILE: "extra deck", GRAVE_PILE: "graveyard", BANISHED_PILE: "banished"}
OPEN_PILES = (GRAVE_PILE, BANISHED_PILE)
NEWEST = 6
"""how many cards of a public pile are named, the newest first"""


def text(state: np.void) -> str:
    """The position as seen by the player who has to decide."""
    return text_for(state, -1)


def text_for(state: np.void, seat: int) -> str:
    """The position as a seat sees it."""
    sight = Sight(state, seat)
    lines = [_headline(sight), *_side(sight, 1 - sight.seat), *_side(sight, sight.seat), _chain(sight), _battle(sight)]
    return "\n".join(line for line in [*lines, *_question(sight)] if line)


def _headline(sight: Sight) -> str:
    state = sight.state
    whose = "your" if state["turn_player"] == sight.seat else "the opponent's"
    phase = PHASES.get(int(state["phase"]), "battle phase")
    headline = f"turn {state['turn']}, {whose} {phase}" + (", damage step" if state["in_damage_step"] else "")
    if state["status"] == PLAYING:
        return headline
    winner = int(state["winner"])
    return f"{headline}; " + (
        "you have won" if winner == sight.seat else "you have lost" if winner in (0, 1) else "a draw"
    )


def _side(sight: Sight, player: int) -> list[str]:
    """A player's half of the field: counts, then rows from the edge to the middle."""
    state = sight.state
    sizes = [int(size) for size in state["sizes"][player]]
    mine = player == sight.seat
    hand = "" if mine else f"hand {sizes[HAND_PILE]}, "
    piles = [f"{name} {sizes[pile]}" for pile, name in PILES.items() if sizes[pile] or pile == DECK_PILE]
    counts = hand + ", ".join(piles)
    head = f"{'you' if mine else 'opponent'}: {state['life'][player]} life points; {counts}"
    rows = [_row(sight, player, "monsters", 7), _row(sight, player, "spells", 6)]
    open_piles = [_pile(sight, player, pile) for pile in OPEN_PILES]
    if mine:
        return [head, *rows, *open_piles, _hand(sight, player)]
    return [head, *open_piles, *reversed(rows)]


def _row(sight: Sight, player: int, field: str, zones: int) -> str:
    there = [(zone, int(c)) for zone, c in enumerate(sight.state[field][player][:zones]) if c != NOBODY]
    return _listed(field, [_on_field(sight, player, zone, c, field == "monsters") for zone, c in there])


def _listed(title: str, things: list[str]) -> str:
    return f"  {title}: {' | '.join(things)}" if things else ""


def _on_field(sight: Sight, player: int, zone: int, c: int, monster: bool) -> str:
    """`m2 Summoned Skull 2500/1200 attack`, `s1 face-down (Mirror Force)`."""
    card = sight.state["cards"][c]
    place = sight.zone(sight.seat, w.MZONE if monster else w.SZONE, zone)
    if card["position"] & w.DOWN:
        known = f" ({sight.name(c)})" if sight.knows(c) else ""
        return f"{place} face-down{' defense' if monster else ''}{known}"
    if not monster:
        on = int(card["equipped_to"])
        return f"{place} {sight.name(c)}" + (f" on {sight.name(on)} {sight.whereabouts(on)}" if on else "")
    attack, defense, negated = (int(value) for value in sight.measured[player, zone])
    strength = f"{attack}" if sight.row(c).types & w.LINK else f"{attack}/{defense}"
    position = "attack" if card["position"] & w.IN_ATTACK else "defense"
    below = [ROWS[sight.state["cards"][m]["code"]].name for m in card["overlay"][: int(card["overlays"])]]
    notes = [f"on {', '.join(below)}"] if below else []
    notes += [f"{card['counters']} counter"] if card["counters"] else []
    notes += ["negated"] if negated else []
    return f"{place} {sight.name(c)} {strength} {position}" + (f" ({'; '.join(notes)})" if notes else "")


def _pile(sight: Sight, player: int, pile: int) -> str:
    count = int(sight.state["sizes"][player, pile])
    cards = sight.state["piles"][player, pile, max(0, count - NEWEST) : count][::-1]
    names = ", ".join(sight.name(int(c)) for c in cards)
    return f"  {PILES[pile]}: {names}{', …' if count > NEWEST else ''}" if count else ""


def _hand(sight: Sight, player: int) -> str:
    count = int(sight.state["sizes"][player, HAND_PILE])
    return _listed("hand", [_in_hand(sight.row(int(c))) for c in sight.state["piles"][player, HAND_PILE, :count]])


def _in_hand(card: Card) -> str:
    if not card.types & w.MONSTER:
        return card.name
    return f"{card.name} {card.attack}/{card.defense} level {card.level}"


def _chain(sight: Sight) -> str:
    """The links in the order in which they were added."""
    links = [sight.state["chain"][k] for k in range(int(sight.state["links"]))]
    shown = (f"{k} {ROWS[link['code']].name} ({_player_name(sight, link)})" for k, link in enumerate(links, start=1))
    return f"chain: {' | '.join(shown)}" if links else ""


def _player_name(sight: Sight, link: np.void) -> str:
    return "you" if link["player"] == sight.seat else "opponent"


def _battle(sight: Sight) -> str:
    attacker, target = int(sight.state["attacker"]), int(sight.state["attack_target"])
    if not attacker or sight.state["cards"][attacker]["place"] != w.MZONE or sight.state["phase"] in PHASES:
        return ""
    return f"{sight.name(attacker)} attacks" + (f" {sight.name(target)} {sight.whereabouts(target)}" if target else "")


def _question(sight: Sight) -> list[str]:
    """The question, the moves, and the effects of their cards."""
    state = sight.state
    if state["status"] != PLAYING or state["question"] == NO_QUESTION:
        return []
    if sight.seat != sight.asked:
        return ["the opponent decides"]
    about = int(sight.subject)
    subject = f" ({sight.name(about)}: {says(sight.row(about)) or 'no effect'})" if about and sight.knows(about) else ""
    moves = [f"  {number} {move}" for number, move in enumerate(sight.moves(), start=1)]
    return [f"{QUESTIONS[sight.question]}{subject}", *moves, *_explained(sight)]


def _explained(sight: Sight) -> list[str]:
    """The effects of the cards that can be used now, each card once."""
    entries = [int(entry) for entry in sight.state["menu"][: int(sight.state["menu_count"])] if entry >= 0]
    usable = dict.fromkeys(int(sight.state["options"][entry]["card"]) for entry in entries if _is_card(sight, entry))
    texts = {sight.row(c).name: says(sight.row(c)) for c in usable if c and sight.knows(c)}
    return [f"  {name}: {line}" for name, line in texts.items() if line]


def _is_card(sight: Sight, entry: int) -> bool:
    kind = int(sight.state["options"][entry]["kind"])
    return kind <= ACTIVATES or kind in (ATTACKS, PICKS)
