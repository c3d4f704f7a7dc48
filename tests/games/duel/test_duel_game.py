"""The duel as a game: complete menus, invariants of random play, parameters, and rejected input."""

import itertools
from collections import Counter

import numpy as np
import pytest

from ludus import games
from ludus.dsl import PLAYING
from ludus.dsl.rows import new_rows
from ludus.games import duel
from ludus.games.duel import actions, stages, ydk
from ludus.games.duel.state import (
    CANCELS,
    CARD,
    CHAIN,
    FINISHES,
    IDLE,
    MOST_ACTIONS,
    MOST_IN_MAIN,
    PASSES,
    PICKS,
    SUM,
    TRIBUTE,
    UNPICKS,
    UNSELECT,
    YESNO,
)  # fmt: skip
from ludus.games.duel.tables import ROWS
from ludus.pool import Pool
from ludus.types import LudusError

DUELS = ("duel(deck1=any, deck2=any)", "duel(deck1=random, deck2=random)", "duel(deck1=extra, deck2=random)")
MAIN = [
    row for row, card in enumerate(ROWS) if row and stages.kind_of(card) in (stages.MONSTER, stages.SPELL, stages.TRAP)
]


def question_state(question, kinds, fewest=1, most=1, values=(), goal=0):
    """A state with a question and these options."""
    rows = new_rows(1, duel.STATE)
    state = rows[0]
    state["question"], state["fewest"], state["most"], state["goal"] = question, fewest, most, goal
    state["option_count"] = len(kinds)
    state["options"]["kind"][: len(kinds)] = kinds
    state["options"]["value"][: len(values)] = values
    return rows


def menu(rows):
    actions.write_menu(rows[0])
    return rows["menu"][0, : rows["menu_count"][0]].tolist()


def pick(rows, option):
    """Pick an option, as `take` does before the answer is complete."""
    rows["chosen"][0, rows["chosen_count"][0]] = option
    rows["chosen_count"] += 1


def test_single_choices_keep_the_order_of_the_options():
    assert menu(question_state(IDLE, [0] * 5)) == [0, 1, 2, 3, 4]
    assert menu(question_state(CHAIN, [5, 5, PASSES])) == [0, 1, 2]


def test_yes_comes_before_no():
    assert menu(question_state(YESNO, [17, 18])) == [1, 0]


def test_cards_are_picked_one_by_one_and_finish_is_offered_when_enough_are_picked():
    rows = question_state(CARD, [PICKS] * 4, fewest=2, most=3)
    assert menu(rows) == [0, 1, 2, 3]
    pick(rows, 2)
    assert menu(rows) == [0, 1, 3]
    pick(rows, 0)
    assert menu(rows) == [1, 3, actions.FINISH]
    assert not actions.is_complete(rows[0])
    pick(rows, 3)
    assert actions.is_complete(rows[0])


def test_tributes_end_with_the_last_one():
    rows = question_state(TRIBUTE, [PICKS] * 3, fewest=2, most=2)
    pick(rows, 1)
    assert menu(rows) == [0, 2]
    pick(rows, 2)
    assert actions.is_complete(rows[0])


def test_cancelling_and_deselecting_are_not_offered():
    assert menu(question_state(UNSELECT, [PICKS, PICKS, UNPICKS, CANCELS])) == [0, 1]
    assert menu(question_state(UNSELECT, [PICKS, UNPICKS, FINISHES])) == [0, 2]
    assert menu(question_state(UNSELECT, [UNPICKS, CANCELS])) == [0, 1], "all are offered if no option can be completed"


def legal_sets(levels, goal):
    """Minimal sets of cards whose levels sum to at least the goal."""
    indices = range(len(levels))
    sets = (set(some) for size in range(1, len(levels) + 1) for some in itertools.combinations(indices, size))
    return {
        frozenset(some) for some in sets if goal <= sum(levels[k] for k in some) < goal + min(levels[k] for k in some)
    }


@pytest.mark.parametrize(
    ("levels", "goal"), [((4, 4, 1, 3, 8), 8), ((2, 2, 2, 2), 7), ((7, 6, 1, 1), 8), ((12, 1), 6), ((0, 8), 8)]
)
def test_sums_reach_exactly_the_legal_sets(levels, goal):
    reached = set()

    def go_on(picked):
        rows = question_state(SUM, [PICKS] * len(levels), 1, len(levels), levels, goal)
        for option in picked:
            pick(rows, option)
        if picked and actions.is_complete(rows[0]):
            reached.add(frozenset(picked))
            return
        open_now = menu(rows)
        assert open_now, f"{picked} of {levels} leads nowhere"
        for option in open_now:
            go_on((*picked, option))

    go_on(())
    assert reached == legal_sets(levels, goal)


def test_the_pages_of_a_long_menu_contain_all_options():
    rows = question_state(CARD, [PICKS] * 60, fewest=1, most=3)
    pick(rows, 7)
    seen = []
    for _ in range(3):
        page = menu(rows)
        assert len(page) <= MOST_ACTIONS and page[-1] == actions.MORE
        seen += page[:-1]
        rows["page"] += 1
    assert sorted(seen) == sorted([*(k for k in range(60) if k != 7), actions.FINISH])
    assert menu(rows)[0] == 0 and rows["page"][0] == 0, "the first page follows the last"
    assert menu(question_state(IDLE, [0] * 24)) == list(range(24)), "24 options need no page"
    assert menu(question_state(IDLE, [0] * 25))[-1] == actions.MORE


@pytest.fixture(scope="module")
def played():
    """States of several thousand decisions in random duels with all kinds of decks."""
    states = []
    for name in DUELS:
        pool = Pool(name, 16, 3, threads=1)
        for step in range(250):
            states.append(pool.states.copy())
            pool.advance(pool.random_actions(step))
        pool.close()
    return np.concatenate(states)


def test_a_running_duel_always_offers_an_action(played):
    running = played[played["status"] == PLAYING]
    assert len(running) > 10_000
    assert (running["menu_count"] >= 1).all() and (running["menu_count"] <= MOST_ACTIONS).all()
    assert (running["seat"] == running["asked"]).all()
    assert (running["question"] > 0).all() and (played[played["status"] != PLAYING]["menu_count"] == 0).all()


def test_cards_are_neither_lost_nor_doubled(played):
    for state in played[::101]:
        cards, sizes = state["cards"], state["sizes"]
        lying = Counter(state["piles"][p, k, n] for p in range(2) for k in range(5) for n in range(sizes[p, k]))
        lying += Counter(c for zones in ("monsters", "spells") for c in state[zones].ravel() if c)
        lying += Counter(c for card in cards[cards["overlays"] > 0] for c in card["overlay"][: card["overlays"]])
        dealt = {c for c in range(1, len(cards)) if cards["code"][c] and (cards["place"][c] or c not in tokens(state))}
        assert set(lying) == dealt and set(lying.values()) == {1}


def tokens(state):
    return {c for c in range(151, 161) if state["cards"]["code"][c]}


def test_duels_end_long_before_the_horizon():
    pool = Pool("duel(deck1=any, deck2=random)", 32, 4, threads=2)
    longest, ended = 0, 0
    for step in range(700):
        over = pool.status != PLAYING
        ended += int(over.sum())
        longest = max(longest, int(pool.states["decisions"].max()))
        pool.advance(pool.random_actions(step))
    assert ended > 20 and longest < duel.LIMIT / 2


def test_a_duel_at_the_horizon_is_won_by_life_points():
    pool = Pool("duel", 3, 5, threads=1)
    states = pool.states.copy()
    states["decisions"] = duel.LIMIT - 1
    states["life"] = [[8000, 7000], [100, 200], [5000, 5000]]
    pool.put(states)
    step = pool.advance(np.zeros(3, int))
    assert step.discount.tolist() == [0, 0, 0]
    assert step.reward.tolist() == [[1, -1], [-1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("winner", "turn", "worth"),
    [
        (0, 1, 16),
        (0, 3, 8),
        (0, 5, 4),
        (0, 7, 2),
        (0, 8, 1.5),
        (0, 9, 1.0),
        (1, 1, 8),
        (1, 3, 4),
        (1, 5, 2),
        (1, 6, 1.5),
    ],
)
def test_quick_victories_count_more(winner, turn, worth):
    for first in range(2):
        state = new_rows(1, duel.STATE)[0]
        state["first_player"], state["turn"], state["winner"] = first, turn, winner if first == 0 else 1 - winner
        assert duel.quick(state) == worth


def test_threads_play_the_same_duels():
    saved = []
    for threads in (1, 2):
        pool = Pool(DUELS[1], 32, 9, threads)
        pool.worth_a_thread = 1e-9
        pool.play_randomly(150, seed=2)
        saved.append(pool.save())
        pool.close()
    assert all(np.array_equal(one, two) for one, two in zip(saved[0][2:], saved[1][2:], strict=True))


def test_a_deck_is_shuffled_and_dealt(played):
    pool = Pool("duel(starts=0)", 200, 6, threads=1)
    deck = ydk.named("yugi")
    tops = Counter()
    for state in pool.states:
        mine = state["cards"][1:][(state["cards"]["owner"] == 0)[1:] & (state["cards"]["code"] > 0)[1:]]
        assert sorted(ROWS[code].code for code in mine["code"]) == sorted(deck.main + deck.extra)
        assert state["sizes"][:, 1].tolist() == [5, 5] and state["first_player"] == 0
        tops[int(state["piles"][0, 1, 0])] += 1
    assert len(tops) > 30, "every card can be on top"


def test_either_player_starts():
    first = Pool("duel", 300, 6, threads=1).states["first_player"]
    assert 100 < first.sum() < 200
    assert Pool("duel(starts=1)", 9, 6, threads=1).states["turn_player"].tolist() == [1] * 9


def test_random_decks_are_legal_and_differ():
    pool = Pool("duel(deck1=random, deck2=any)", 64, 8, threads=1)
    made = set()
    for state in pool.states:
        rows = state["deck1"][state["deck1"] > 0]
        codes = tuple(ROWS[row].code for row in rows)
        extra = int((state["deck1"][MOST_IN_MAIN:] > 0).sum())
        main = codes[: len(codes) - extra]
        ydk.check(ydk.Deck(main, codes[len(main) :]))
        kinds = Counter(stages.kind_of(ROWS[row]) for row in rows)
        assert (kinds[stages.MONSTER], kinds[stages.SPELL], kinds[stages.TRAP]) == (22, 12, 6)
        made.add(codes)
        given = state["deck2"][state["deck2"] > 0]
        assert any(np.array_equal(given, rows[rows > 0]) for rows in duel.setup.DECKS)
    assert len(made) == 64


def test_points_and_opening_hands():
    state = Pool("duel(points=300, opening=7)", 1, 1, threads=1).states[0]
    assert state["life"].tolist() == [300, 300]
    assert sorted(state["sizes"][:, 1].tolist()) == [7, 7]


def test_a_deck_of_a_file(tmp_path):
    path = tmp_path / "mine.ydk"
    ydk.write_ydk(ydk.random_deck(5), path)
    state = Pool(f"duel(deck1={path})", 1, 1, threads=1).states[0]
    assert sorted(ROWS[row].code for row in state["deck1"][:MOST_IN_MAIN] if row) == sorted(ydk.random_deck(5).main)


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("deck1=yugy", 'deck1=yugy is not allowed: unknown deck "yugy"; did you mean "yugi"?'),
        ("deck2=none.ydk", "none.ydk cannot be read: No such file"),
        ("starts=2", '"2" is not one of 0, 1, random'),
        ("points=0", '"0" is not a whole number from 1 to 60000'),
        ("opening=-1", '"-1" is not a whole number from 0 to 15'),
        ("oppo_info=perhaps", '"perhaps" is not one of no, yes'),
        ("seed=3", 'duel has no parameter "seed"; it has: deck1'),
    ],
)
def test_invalid_settings_raise_an_error(setting, sentence):
    with pytest.raises(LudusError) as caught:
        games.load(f"duel({setting})")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("cards", "sentence"),
    [
        (lambda main: main[:39], "the main deck has 39 cards; it must have 40 to 60"),
        (lambda main: [*main[:36], *[main[0]] * 4], "appears 4 times"),
        (lambda main: [*main[:39], 123], "card 123 is unknown"),
    ],
)
def test_illegal_decks_raise_an_error(tmp_path, cards, sentence):
    path = tmp_path / "bad.ydk"
    codes = cards([ROWS[row].code for row in MAIN[:40]])
    path.write_text("#main\n" + "\n".join(map(str, codes)))
    with pytest.raises(LudusError) as caught:
        games.load(f"duel(deck1={path})")
    assert sentence in str(caught.value)


def test_an_illegal_action_raises_an_error_and_the_duel_continues():
    pool = Pool("duel", 2, 1, threads=1)
    before = pool.states.tobytes()
    with pytest.raises(LudusError, match="action 23 of row 1 is not legal for seat"):
        pool.advance([0, 23])
    assert before == pool.states.tobytes()
    pool.advance([0, 0])
