"""Goofspiel compared with a reference that uses sets of cards."""

import functools

from hypothesis import given
from hypothesis import strategies as st

from ludus.dsl import OVER, PLAYING
from ludus.pool import Pool

orders = st.permutations(range(1, 14))


@functools.cache
def pool() -> Pool:
    return Pool("goofspiel", 1, threads=1)


def check_view(step, seat: int, hands: list[set], points: list[int], prize: int, to_come: set) -> None:
    seen = {name: values[seat].tolist() for name, values in step.observation.items()}
    assert seen["prize"] == prize
    assert seen["points"] == [points[seat], points[1 - seat]]
    assert [{card for card in range(1, 14) if held[card - 1]} for held in seen["cards"]] == [
        hands[seat],
        hands[1 - seat],
    ]
    assert {card for card in range(1, 14) if seen["prizes_left"][card - 1]} == to_come
    assert step.mask[seat].nonzero()[0].tolist() == sorted(card - 1 for card in hands[seat])


@given(st.integers(0, 2**32), orders, orders)
def test_random_games_agree_with_the_reference(seed, first, second):
    step = pool().reset(seed)
    prizes = pool().states[0]["prizes"].tolist()
    hands, points = [set(range(1, 14)), set(range(1, 14))], [0, 0]
    assert sorted(prizes) == list(range(1, 14))
    for turn, bids in enumerate(zip(first, second, strict=True)):
        for seat in range(2):
            check_view(step, seat, hands, points, prizes[turn], set(prizes[turn + 1 :]))
        assert pool().status[0] == PLAYING
        step = pool().advance([bid - 1 for bid in bids])
        for seat in range(2):
            hands[seat].remove(bids[seat])
            points[seat] += prizes[turn] * (bids[seat] > bids[1 - seat])
    result = (points[0] > points[1]) - (points[0] < points[1])
    assert pool().status[0] == OVER
    assert step.reward.tolist() == [[result, -result]] * 2
    assert step.discount.tolist() == [0, 0]


def test_the_order_of_prizes_is_random():
    orders = Pool("goofspiel", 400, 1).states["prizes"]
    assert all(len(set(orders[:, place].tolist())) == 13 for place in range(13))


@given(st.integers(0, 12), st.integers(0, 1))
def test_a_redeal_keeps_what_was_shown(rounds, seat):
    pool().reset(7)
    for card in range(rounds):
        pool().advance([card, 12 - card])
    before = pool().states[0]["prizes"].tolist()
    dealt = pool().fork([0] * 60, 5, seat).states["prizes"]
    assert (dealt[:, : rounds + 1] == before[: rounds + 1]).all()
    assert all(sorted(order) == list(range(1, 14)) for order in dealt.tolist())
    assert all(len(set(dealt[:, place].tolist())) > 1 for place in range(rounds + 1, 13) if rounds < 11)
