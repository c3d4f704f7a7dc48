"""The observation of a duel: every column matches the state, and hidden information is not shown."""

import numpy as np
import plain_rows
import pytest

from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.core import CardData
from ludus.dsl import PLAYING
from ludus.games import duel
from ludus.games.duel import action_features, observation, values
from ludus.games.duel.state import (
    ACTIVATES,
    ATTACKS,
    BANISHED_PILE,
    DECK_PILE,
    EXTRA_PILE,
    GRAVE_PILE,
    HAND_PILE,
    MESSAGES,
    MOST_HISTORY,
    PLACES,
    YESNO,
)
from ludus.games.duel.tables import ROWS
from ludus.games.duel.tables import words as w
from ludus.pool import Pool

DECKS = ("duel", "duel(deck1=goat_chaos, deck2=goat_control)", "duel(deck1=extra, deck2=random)")
ROWS_EACH, STEPS, EVERY = 8, 180, 12
PILES = {DECK_PILE: w.DECK, HAND_PILE: w.HAND, GRAVE_PILE: w.GRAVE, BANISHED_PILE: w.BANISHED, EXTRA_PILE: w.EXTRA}


@pytest.fixture(scope="module")
def seen():
    """States of running random duels, and the observations of both seats."""
    found = []
    for name in DECKS:
        pool = Pool(name, ROWS_EACH, 11, threads=1)
        for step in range(STEPS):
            if step % EVERY == 0:
                running = np.flatnonzero(pool.status == PLAYING)
                found += [
                    (pool.states[row : row + 1].copy(), [pool.look(row, seat) for seat in range(2)]) for row in running
                ]
            pool.advance(pool.random_actions(step))
        pool.close()
    return found


def printed(row, position=0):
    card = ROWS[row]
    facts = (card.types, card.level, card.attribute, card.race, card.attack, card.defense)
    return plain_rows.printed(CardData(card.code, 0, *facts), position)


def on_field(state, c):
    """The columns of a card on the field with its current values."""
    card = state["cards"][c]
    shown = printed(int(card["code"]), int(card["position"]))
    if card["place"] == w.MZONE:
        shown = shown._replace(attack=int(values.attack(state, c)), defense=int(values.defense(state, c)))
    shown = shown._replace(counters=((1, int(card["counters"])),), negated=bool(values.negated(state, c)))
    if card["place"] == w.SZONE and shown.types & w.MONSTER:
        shown = shown._replace(types=w.SPELL | w.EQUIP)
    return shown


def knows(state, seat, c):
    card = state["cards"][c]
    if card["controller"] == seat or card["place"] == w.OVERLAY:
        return True
    return bool(card["position"] & w.UP) and card["place"] not in (w.HAND, w.DECK, w.EXTRA)


def lying(state, player):
    """Card, location, sequence and whether it is a material, in the order of the observation."""
    sizes, cards = state["sizes"][player], state["cards"]

    def pile(number):
        numbers = state["piles"][player, number, : sizes[number]].tolist()
        if number == DECK_PILE:
            numbers.sort()
        return [(c, PILES[number], k, False) for k, c in enumerate(numbers)]

    monsters = []
    for zone, c in enumerate(state["monsters"][player].tolist()):
        if c:
            monsters.append((c, w.MZONE, zone, False))
            monsters += [(m, w.MZONE, zone, True) for m in cards[c]["overlay"][: cards[c]["overlays"]].tolist()]
    spells = [(c, w.SZONE, zone, False) for zone, c in enumerate(state["spells"][player].tolist()) if c]
    return [
        *pile(DECK_PILE),
        *pile(HAND_PILE),
        *monsters,
        *spells,
        *pile(GRAVE_PILE),
        *pile(BANISHED_PILE),
        *pile(EXTRA_PILE),
    ]


def expected_row(state, seat, c, location, sequence, overlay, all_seeing=False):
    card = state["cards"][c]
    mine = card["controller"] == seat
    shown = (
        on_field(state, c)
        if location in (w.MZONE, w.SZONE) and not overlay
        else printed(int(card["code"]), int(card["position"]))
    )
    if knows(state, seat, c) or all_seeing:
        return plain_rows.card_row(shown, int(card["code"]), location, sequence, mine, overlay)
    return plain_rows.hidden_row(shown, location, sequence)


def expected_cards(state, seat, all_seeing=False):
    lines = [line for player in (seat, 1 - seat) for line in lying(state, player)]
    rows = []
    for c, *where in lines:
        if where[2]:  # a material has the controller of its monster
            state["cards"]["controller"][c] = state["cards"]["controller"][state["cards"]["overlaid_on"][c]]
        rows.append(expected_row(state, seat, c, *where, all_seeing))
    return rows, [line[0] for line in lines]


def test_observed_cards_match_the_state(seen):
    for states, views in seen:
        for seat, view in enumerate(views):
            rows, _ = expected_cards(states[0].copy(), seat)
            assert view["cards_"][: len(rows)].tolist() == rows
            assert not view["cards_"][len(rows) :].any()
            assert not view["mask_"].any()


def test_observed_numbers_match_the_state(seen):
    for states, views in seen:
        state = states[0]
        for seat, view in enumerate(views):
            life = [state["life"][player] for player in (seat, 1 - seat)]
            counts = [
                [sizes[0], sizes[1], (state["monsters"][p] > 0).sum(), (state["spells"][p] > 0).sum(), *sizes[2:]]
                for p in (seat, 1 - seat)
                for sizes in [state["sizes"][p].tolist()]
            ]
            phase = 5 if state["in_damage_step"] else plain_rows.PHASE_IDS[int(state["told_phase"])]
            whose = [seat == state["first_player"], seat == state["turn_player"]]
            expected = [
                life[0] // 256,
                life[0] % 256,
                life[1] // 256,
                life[1] % 256,
                min(state["turn"], 16),
                phase,
                *whose,
            ]
            assert view["global_"].tolist() == [*expected, *counts[0], *counts[1], 0]


def expected_action(state, seat, entry, numbers):
    """The columns of an option, from its description in the format of recorded duels."""
    row = plain_rows.action_row(MESSAGES[state["question"]])
    if entry < 0:
        row[plain_rows.FINISH] = int(entry == -1)
        return row
    kind, c, effect, value, _ = state["options"][entry].tolist()
    if kind == PLACES:
        row[plain_rows.PLACE] = plain_rows.place_id(seat, (c, effect, value))
        return row
    names = {
        0: "summon",
        1: "spsummon",
        2: "repos",
        3: "mset",
        4: "sset",
        6: "bp",
        7: "ep",
        9: "m2",
        10: "pass",
        14: "cancel",
    }
    if kind == ATTACKS:
        plain_rows.of_command(row, ["attack", 0, 0, 0, 0, value])
    elif kind in names:
        plain_rows.of_command(row, [names[kind]])
    elif kind == ACTIVATES:
        text = duel.observation.action_features.TEXT_IDS[effect] if effect >= 0 else 1
        row[plain_rows.ACT], row[plain_rows.EFFECT] = plain_rows.ACTIVATE, int(text)
    elif kind == 17:
        row[plain_rows.ACT] = plain_rows.CANCEL
    elif kind == 18:
        line = int(state["line"])
        c = int(state["about"])
        row[plain_rows.ACT], row[plain_rows.EFFECT] = (
            plain_rows.ACTIVATE,
            plain_rows.effect_id((0 if line >= 30 else 1, line)),
        )
    elif kind == 16:
        row[plain_rows.POSITION] = plain_rows.POSITION_IDS[value]
    elif kind == 19:
        row[plain_rows.EFFECT] = plain_rows.effect_id((0 if value >= 30 else 1, value))
    elif kind == 20:
        row[plain_rows.EFFECT] = plain_rows.FIRST_RACE + plain_rows.bit_id(value) - 1
    elif kind == 13:
        row[plain_rows.FINISH] = 1
    if c:
        row[plain_rows.SPEC] = 0 if kind in (16, 19) else numbers.index(c) + 1
        if knows(state, seat, c) or state["cards"][c]["place"] == w.HAND:
            row[plain_rows.ID_HIGH : plain_rows.ID_LOW + 1] = plain_rows.two_bytes(int(state["cards"][c]["code"]))
    return row


def test_action_features_match_the_reference(seen):
    questions = set()
    for states, views in seen:
        state = states[0].copy()
        seat = int(state["asked"])
        _, numbers = expected_cards(state, seat)
        wanted = [expected_action(state, seat, int(entry), numbers) for entry in state["menu"][: state["menu_count"]]]
        assert views[seat]["actions_"][: len(wanted)].tolist() == wanted
        assert not views[seat]["actions_"][len(wanted) :].any()
        assert not views[1 - seat]["actions_"].any(), "the seat that does not decide has actions"
        questions.add(MESSAGES[state["question"]])
    assert len(questions) >= 8


def test_the_history_lists_actions_newest_first():
    pool = Pool(DECKS[1], 4, 3, threads=1)
    kept = [[[], []] for _ in range(4)]
    for step in range(150):
        shown, actions, before = pool.step, pool.random_actions(step), pool.states.copy()
        pool.advance(actions)
        for row in range(4):
            if before["status"][row] != PLAYING:
                kept[row] = [[], []]
                continue
            state, done = before[row], shown.observation["actions_"][row, actions[row]].tolist()
            turn_page = not any(done[:3] + done[4:])
            if done[plain_rows.ACT] != plain_rows.CANCEL and not turn_page:
                phase = int(shown.observation["global_"][row, 5])
                kept[row][state["asked"]].insert(0, ([0, *done[1:]], int(state["turn"]), phase))
        for row in np.flatnonzero(pool.status == PLAYING):
            for seat in range(2):
                mine = kept[row][seat][:MOST_HISTORY]
                turn = int(pool.states["turn"][row])
                wanted = [[*done, min(16, turn - then), phase] for done, then, phase in mine]
                view = pool.look(row, seat)["h_actions_"]
                assert view[: len(mine)].tolist() == wanted
                assert not view[len(mine) :].any()


def perturbed(state, seat, dice):
    """A state that differs only in what the seat may not know."""
    cards, codes = state["cards"], state["codes"]
    main = [row for row, card in enumerate(ROWS) if row and not card.types & (w.EXTRA_DECK | w.TOKEN)]
    for c in range(1, len(cards)):
        if cards["code"][c] and not knows(state, seat, c) and cards["controller"][c] != seat:
            cards["code"][c] = codes[c] = dice.choice(main)
    for player in range(2):
        size = state["sizes"][player, DECK_PILE]
        order = dice.permutation(state["piles"][player, DECK_PILE, :size])
        state["piles"][player, DECK_PILE, :size] = order
        cards["sequence"][order] = np.arange(size)


def test_hidden_information_is_not_observed(seen):
    dice = np.random.default_rng(1)
    pool = Pool("duel", 1, 1, threads=1)
    for states, views in seen:
        for seat in range(2):
            other = states.copy()
            perturbed(other[0], seat, dice)
            pool.put(other)
            view = pool.look(0, seat)
            for name in view:
                assert np.array_equal(view[name], views[seat][name]), f"{name} shows what is hidden"


def test_oppo_info_shows_hidden_cards_and_the_mask_marks_them():
    pool = Pool("duel(deck1=goat_chaos, deck2=extra, oppo_info=yes)", 6, 2, threads=1)
    for step in range(120):
        pool.advance(pool.random_actions(step))
        for row in np.flatnonzero(pool.status == PLAYING)[: 1 + (step % 20 == 0) * 5]:
            seat = int(pool.states["asked"][row])
            state, view = pool.states[row].copy(), pool.look(row, seat)
            rows, numbers = expected_cards(state, seat, all_seeing=True)
            assert view["cards_"][: len(rows)].tolist() == rows
            for line, c in enumerate(numbers):
                place = int(state["cards"]["place"][c])
                wanted = [1] * 14 if knows(state, seat, c) else plain_rows.hidden_mask(place)
                assert view["mask_"][line].tolist() == wanted
            assert not view["mask_"][len(rows) :].any()


def test_a_finished_duel_is_observed_as_finished():
    pool = Pool("duel", 4, 2, threads=1)
    for step in range(600):
        pool.advance(pool.random_actions(step))
        over = pool.status != PLAYING
        assert (pool.step.observation["global_"][:, 22] == over).all()
        assert not pool.step.observation["actions_"][over].any()


def test_an_observation_fits_the_networks_layout():
    from ludus.agents.neural.networks import games as game_networks
    from ludus.agents.neural.networks.layout import check_ids, layout_of

    layout = game_networks.find("duel").layout
    assert layout_of(duel.OBSERVATION, duel.SPEC, layout) is layout
    for name in DECKS:
        pool = Pool(name, 16, 2, threads=1)
        for step in range(100):
            pool.advance(pool.random_actions(step))
            check_ids(layout, pool.step.observation, len(ROWS))


def test_constants_agree_with_the_tables():
    assert observation.LOOKS.shape == (len(ROWS), 41) and observation.LOOKS.max() <= 255
    assert action_features.MESSAGE_IDS[YESNO] == features.MESSAGE_IDS["yesno"]
    assert action_features.SYSTEM_TEXTS == features.SYSTEM_TEXTS and action_features.FIRST_RACE == features.FIRST_RACE
