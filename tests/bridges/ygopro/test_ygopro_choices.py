"""Questions split into single choices, with expected results worked out by hand."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from ludus.bridges.ygopro.choices import FINISH, MAX_OPTIONS, TURN_PAGE, Choice
from ludus.bridges.ygopro.declarable_cards import declarable, matches
from ludus.bridges.ygopro.library import card_of
from ludus.bridges.ygopro.messages import Question

CARDS = [[0, 2, place, 100 + place] for place in range(4)]


def ask(message, options, **facts):
    return Choice(Question(0, message, options, facts))


def answers(choice):
    """Every answer that can be reached, as sorted tuples."""
    if choice.answer is not None:
        return {tuple(sorted(choice.answer))}
    return set().union(*(answers(choice.take(action)) for action in range(len(choice.shown))))


def test_a_question_for_one_option_takes_one_choice():
    choice = ask("idlecmd", [["bp"], ["ep"]])
    assert choice.shown == [0, 1] and choice.answer is None
    assert choice.take(1).answer == [1]


def test_yes_is_offered_before_no():
    choice = ask("yesno", ["no", "yes"], desc=[0, 30])
    assert choice.shown == [1, 0] and choice.take(0).answer == [1]


def test_several_cards_are_picked_one_by_one_until_finish():
    choice = ask("card", CARDS, min=1, max=2, cancel=1)
    assert choice.shown == [0, 1, 2, 3]
    second = choice.take(2)
    assert second.shown == [0, 1, 3, FINISH] and second.answer is None
    assert second.take(3).answer == [2]
    assert second.take(0).answer == [2, 0]


def test_with_a_minimum_of_zero_finish_is_offered_at_once():
    choice = ask("card", CARDS, min=0, max=1, cancel=1)
    assert choice.shown == [0, 1, 2, 3, FINISH]
    assert choice.take(4).answer == []


def test_a_tribute_that_counts_as_two_can_finish_the_selection():
    monsters = [[0, 4, 0, 1, 1], [0, 4, 1, 2, 2], [0, 4, 2, 3, 1]]
    choice = ask("tribute", monsters, min=2, max=2, cancel=1)
    assert choice.take(1).shown == [0, 2, FINISH]
    assert answers(choice) == {(1,), (0, 1), (1, 2), (0, 2)}


def test_unselecting_and_cancel_are_offered_only_without_alternatives():
    options = [["sel", *CARDS[0]], ["unsel", *CARDS[1]], ["finish"]]
    assert ask("unselect_card", options, min=1, max=2, finish=1, cancel=0).shown == [0, 2]
    assert ask("unselect_card", [["unsel", *CARDS[1]], ["cancel"]], min=1, max=1, finish=0, cancel=1).shown == [0, 1]


def test_counters_are_removed_one_by_one():
    choice = ask("counter", [[0, 4, 0, 1, 2], [0, 4, 1, 2, 1]], count=2, kind=1)
    assert choice.take(1).shown == [0]
    assert answers(choice) == {(0, 0), (0, 1)}


def test_zones_and_types_need_the_exact_count():
    assert len(answers(ask("place", [[0, 4, zone] for zone in range(5)], count=2))) == 10
    assert answers(ask("announce_race", [1, 2, 4], count=2)) == {(0, 1), (0, 2), (1, 2)}


def test_options_that_do_not_fit_on_a_page_are_on_the_next():
    choice = ask("announce_card", list(range(60)))
    pages = []
    for _ in range(3):
        pages.append(choice.shown)
        assert len(choice.shown) <= MAX_OPTIONS and choice.shown[-1] == TURN_PAGE
        choice = choice.take(len(choice.shown) - 1)
    assert choice.shown == pages[0]
    assert sorted(index for page in pages for index in page[:-1]) == list(range(60))
    assert choice.take(23).take(4).answer == [27]


def test_a_page_that_is_just_full_is_the_only_one():
    assert ask("announce_card", list(range(24))).shown == list(range(24))


levels = st.lists(st.tuples(st.integers(1, 8), st.sampled_from([0, 0, 0, 2, 5])), min_size=1, max_size=6)


def is_valid(cards, mode, goal, fewest, most):
    """Whether the core accepts these cards, written directly from its rules."""
    if mode == 0:
        values = [[value for value in card if value] for card in cards]
        return fewest <= len(cards) <= most and goal in {sum(each) for each in itertools.product(*values)}
    if not cards:
        return False
    low = [min(value for value in card if value) for card in cards]
    return sum(max(card) for card in cards) >= goal > sum(low) - min(low)


@given(levels, st.integers(0, 1), st.integers(1, 12), st.integers(1, 2), st.integers(2, 4))
def test_sums_reach_exactly_the_valid_sets(cards, mode, goal, fewest, most):
    options = [[0, 2, place, 100 + place, *card] for place, card in enumerate(cards)]
    sets = itertools.chain.from_iterable(itertools.combinations(range(len(cards)), k) for k in range(1, len(cards) + 1))
    valid = {each for each in sets if is_valid([cards[index] for index in each], mode, goal, fewest, most)}
    choice = ask("sum", options, mode=mode, sum=goal, min=fewest, max=most, must=[])
    if valid:
        assert answers(choice) == valid


def test_mandatory_cards_count_towards_the_sum():
    options = [[0, 2, 0, 100, 3, 0], [0, 2, 1, 101, 4, 0]]
    choice = ask("sum", options, mode=0, sum=7, min=1, max=2, must=[[0, 4, 0, 99, 4, 0]])
    assert answers(choice) == {(0,)}


OPERATOR, CARD_OPERATOR = 0x40000000 << 32, 0x40000100 << 32
IS_CODE, IS_TYPE, IS_SET, OR, AND, NOT = (
    CARD_OPERATOR,
    CARD_OPERATOR | 2 << 32,
    CARD_OPERATOR | 1 << 32,
    OPERATOR | 5 << 32,
    OPERATOR | 4 << 32,
    OPERATOR | 7 << 32,
)
MONSTER, SPELL = card_of(10, 0, 0x3008, 0x11, 1, 1, 4, 1, 1), card_of(20, 0, 0, 0x2, 0, 0, 0, 0, 0)
OTHER_NAME = card_of(30, 10, 0, 0x11, 1, 1, 4, 1, 1)


def test_conditions_of_declarable_cards():
    assert matches(MONSTER, [10, IS_CODE, 20, IS_CODE, OR]) and matches(SPELL, [10, IS_CODE, 20, IS_CODE, OR])
    assert not matches(SPELL, [1, IS_TYPE]) and matches(SPELL, [1, IS_TYPE, NOT])
    assert matches(MONSTER, [0x1008, IS_SET]) and not matches(MONSTER, [0x4008, IS_SET])
    assert not matches(OTHER_NAME, [1, IS_TYPE]) and matches(OTHER_NAME, [1, IS_TYPE, OPERATOR | 0x14 << 32])
    assert not matches(MONSTER, [1, IS_TYPE, 1])


def test_cards_of_the_duel_are_preferred():
    cards = [MONSTER, SPELL]
    assert declarable(cards, [1, IS_TYPE, NOT, NOT], {10}) == [10]
    assert declarable(cards, [2, IS_TYPE], {10}) == [20]
