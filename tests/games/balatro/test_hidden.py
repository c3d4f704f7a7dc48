"""Hidden information is not in the observation, and is resampled in forks for search."""

import pytest
from table import Table

from ludus.games.balatro import actions, holdings
from ludus.games.balatro.tables import cards


def seen(pool, row=0):
    """The observation as bytes."""
    return {name: value[row].tobytes() for name, value in pool.step.observation.items()} | {
        "mask": pool.step.mask[row].tobytes()
    }


def names(table, state=None):
    """All cards of a state, in no order."""
    state = table.state if state is None else state
    fields = ("rank", "suit", "enhancement", "edition", "seal", "chips")
    return sorted(tuple(int(card[field]) for field in fields) for card in state["cards"][: state["card_count"]])


def before_a_blind():
    return Table()


def in_a_hand():
    return Table().keep("c_pluto").own("j_joker").do("select blind", "discard 1,2")


def in_a_shop():
    return Table().deal("AS", required=1).do("play 1", "cash out")


def in_a_pack():
    return in_a_shop().set(money=50, packs=[0, 1]).do("open pack 1")


def face_down():
    return Table().face("bl_house").do("select blind")


PLACES = [before_a_blind, in_a_hand, in_a_shop, in_a_pack, face_down]


@pytest.mark.parametrize("place", PLACES)
def test_the_order_of_the_pile_is_not_observed(place):
    table = place()
    before = seen(table.pool)
    pile = table["pile"].copy()
    pile[: table["pile_count"]] = pile[: table["pile_count"]][::-1].copy()
    table.set(pile=pile)
    assert seen(table.pool) == before


@pytest.mark.parametrize("place", PLACES)
def test_future_random_numbers_are_not_observed(place):
    table = place()
    before = seen(table.pool)
    table.set(streams=0.25, seed_hash=0.5, seed_text=list(b"ABCDEFGH"), generator=7, key=12345, resamples=0, born=999)
    assert seen(table.pool) == before


def test_visible_cards_are_observed():
    table = in_a_hand()
    before = seen(table.pool)
    table["cards"][table["hand"][0]]["seal"] = cards.RED_SEAL
    assert seen(table.set().pool) != before


def swap(table, place, other):
    """Swap a card of the hand with one of the pile; the position in hand keeps its flags."""
    hand, pile, all_cards = table["hand"].copy(), table["pile"].copy(), table["cards"].copy()
    one, two = int(hand[place]), int(pile[other])
    hand[place], pile[other] = two, one
    all_cards["flags"][two], all_cards["flags"][one] = all_cards["flags"][one], all_cards["flags"][two]
    return table.set(hand=hand, pile=pile, cards=all_cards)


def test_face_down_cards_are_not_observed():
    table = face_down()
    before = seen(table.pool)
    assert set(table.pool.step.observation["hand"][0, :8, 0].tolist()) == {14}
    for place in range(8):
        swap(table, place, 5 * place)
    assert seen(table.pool) == before


def test_face_up_cards_are_observed():
    table = in_a_hand()
    before = seen(table.pool)
    assert seen(swap(table, 0, 0).pool) != before


def test_face_down_jokers_are_not_observed():
    table = Table().own("j_joker", "j_egg", "j_golden").face("bl_final_acorn").do("select blind")
    before = seen(table.pool)
    assert table["jokers"]["face_down"][:3].tolist() == [1, 1, 1]
    table["jokers"]["number"][:3] = table["jokers"]["number"][:3][[2, 0, 1]]
    table["jokers"]["value"][:3] = [5.0, 6.0, 7.0]
    assert seen(table.set().pool) == before


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_redealt_fork_looks_the_same_and_shuffles_the_same_cards(place, seed):
    table = place()
    twin = table.pool.fork([0], seed, seat=0)
    assert seen(twin) == seen(table.pool)
    count = int(table["pile_count"])
    state = twin.states[0]
    assert state["pile"][:count].tolist() != table["pile"][:count].tolist()
    assert names(table, state) == names(table)
    together = [*state["pile"][:count].tolist(), *state["hand"][: state["hand_count"]].tolist()]
    assert sorted(together) == sorted([*table["pile"][:count].tolist(), *table["hand"][: table["hand_count"]].tolist()])


def test_a_redeal_keeps_face_up_cards_and_changes_face_down_ones():
    up, down = in_a_hand(), face_down()
    assert up.pool.fork([0], 0, seat=0).states[0]["hand"][:8].tolist() == up["hand"][:8].tolist()
    state = down.pool.fork([0], 0, seat=0).states[0]
    assert sorted(state["hand"][:8].tolist()) != sorted(down["hand"][:8].tolist())
    flags = state["cards"]["flags"]
    assert [bool(flags[number] & cards.FACE_DOWN) for number in state["hand"][:8]] == [True] * 8
    assert not any(flags[number] & cards.FACE_DOWN for number in state["pile"][: state["pile_count"]])


def test_a_plain_fork_keeps_the_future_and_a_redealt_fork_changes_it():
    table = Table().deal("AS", required=1)
    path = [actions.PLAY, actions.CASH_OUT]

    def shelves(pool):
        for action in path:
            pool.advance([action] * pool.rows)
        return {tuple(state["shelf"]["number"][:2].tolist()) for state in pool.states}

    copies, others = table.pool.fork([0] * 6, 0), table.pool.fork([0] * 6, 0, seat=0)
    table.do("play 1", "cash out")
    assert shelves(copies) == {tuple(table["shelf"]["number"][:2].tolist())}
    assert len(shelves(others)) > 3


def test_forks_of_one_game_differ_from_each_other():
    twins = in_a_hand().pool.fork([0] * 4, 0, seat=0)
    piles = {tuple(state["pile"][:40].tolist()) for state in twins.states}
    assert len(piles) == 4


def test_a_redeal_shuffles_face_down_jokers():
    table = Table().own("j_joker", "j_egg", "j_golden", "j_half").face("bl_final_acorn").do("select blind")
    twins = table.pool.fork([0] * 8, 0, seat=0)
    orders = {tuple(state["jokers"]["number"][:4].tolist()) for state in twins.states}
    assert len(orders) > 1
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(table["jokers"]["number"][:4].tolist()))}
    assert all(seen(twins, row) == seen(table.pool) for row in range(8))


def test_a_blueprint_among_shuffled_jokers_copies_its_new_neighbour():
    table = Table().own("j_blueprint", "j_joker", "j_golden", "j_half").face("bl_final_acorn").do("select blind")
    for state in table.pool.fork([0] * 4, 0, seat=0).states:
        known = state["acts_as"].tolist()
        holdings.refresh(state)
        assert state["acts_as"].tolist() == known
