"""The thirty blinds: required score, pay, effects, disabling a boss; winning and losing."""

import pytest
from table import LATER, Table

from ludus.dsl import OVER, PLAYING
from ludus.games.balatro import randomness
from ludus.games.balatro.tables import blinds, cards, hands
from ludus.games.balatro.tables.streams import stream

QUADS = "AS AH AC AD KS KH KC KD"
PAIR = "AS AH KC QD 9S 7H 5C 3D"
"""a pair of aces: (10 + 11 + 11) x 2 = 64"""


def meet(boss, wanted, table=None, **marks):
    """Go to a blind that has dealt exactly these cards; their positions in the pile are found by a trial."""
    table = (table or Table()).face(boss)
    before = table.pool.save()
    table.do("select blind")
    numbers = table["hand"][: table["hand_count"]].tolist()
    table.pool.restore(before)
    states = table.pool.states.copy()
    for number, name in zip(numbers, wanted.split(), strict=True):
        card = states[0]["cards"][number]
        card["rank"], card["suit"] = cards.RANKS.index(name[0]), cards.SUITS.index(name[1])
        for field, value in marks.items():
            card[field] = value
    table.pool.put(states)
    return table.do("select blind").set(required=LATER)


def with_jokers(*keys):
    """A table with jokers; moving one refreshes the derived values."""
    return Table().own(*keys).do("move right joker 1")


def marked(table, flag):
    """The cards in hand with a mark."""
    numbers = table["hand"][: table["hand_count"]]
    return [table.name(number) for number in numbers if table["cards"][number]["flags"] & flag]


def debuffed(table):
    return " ".join(marked(table, cards.DEBUFFED))


def face_down(table):
    return " ".join(marked(table, cards.FACE_DOWN))


def five_cards(table):
    return min(name for name in table.legal if name.startswith("play ") and name.count(",") == 4)


@pytest.mark.parametrize("key", blinds.KEYS)
def test_required_score_and_pay_of_blinds(key):
    asks = {"bl_small": 300, "bl_big": 450, "bl_wall": 1200, "bl_needle": 300, "bl_final_vessel": 1800}.get(key, 600)
    pays = {"bl_small": 3, "bl_big": 4}.get(key, 8 if "final" in key else 5)
    table = Table().face(key).do("select blind")
    assert table["required"] == asks
    table.set(required=1)
    table.do(five_cards(table))
    hands_left = 0 if key == "bl_needle" else 3
    assert (table.phase, table["pay"]) == ("pay", pays + hands_left)


@pytest.mark.parametrize(
    ("ante", "bosses"),
    [(1, 8), (2, 18), (3, 20), (4, 21), (5, 22), (6, 23), (7, 23), (8, 5), (9, 23)],
)
def test_every_boss_of_an_ante_comes_before_one_comes_again(ante, bosses):
    table = Table().redeem("v_directors_cut", "v_retcon").set(ante=ante, money=1000, boss_uses=0)
    met = {int(table.do("reroll boss")["boss"]) for _ in range(bosses)}
    assert len(met) == bosses
    assert all((boss >= blinds.FIRST_SHOWDOWN) == (ante == 8) for boss in met)


def test_the_hook_discards_two_held_cards_after_a_hand():
    table = Table().face("bl_hook").deal(PAIR).do("play 1")
    assert sum(name in PAIR.split()[1:] for name in table.hand()) == 7 - 2
    assert (table["hand_count"], table["pile_count"], table["discards_left"]) == (8, 44 - 3, 4)


@pytest.mark.parametrize(("play", "money"), [("play 1,2", 0), ("play 1", 17)])
def test_the_ox_takes_all_money_for_the_most_played_hand(play, money):
    table = Table().face("bl_ox").set(ox_hand=hands.PAIR, money=17).deal(PAIR).do(play)
    assert table["money"] == money


def test_which_hand_the_ox_looks_for_is_fixed_when_an_ante_begins():
    table = Table().face("bl_ox").deal(QUADS).do("play 1,2").set(required=1).do("play 3,4")
    assert (table["ante"], table["ox_hand"]) == (2, hands.PAIR)
    table.do("cash out", "leave").deal(QUADS).do("play 1,2,3,4", "play 1,2,3")
    assert table["ox_hand"] == hands.PAIR


def test_the_house_deals_the_first_hand_face_down():
    table = Table().face("bl_house").do("select blind")
    assert len(marked(table, cards.FACE_DOWN)) == 8
    assert len(marked(table.do("play 1"), cards.FACE_DOWN)) == 7
    assert len(marked(table.do("discard 1,2"), cards.FACE_DOWN)) <= 7


@pytest.mark.parametrize("seed", ["7LB2WVPK", "AAAA", "LUDUS", "WHEEL", "1", "SEVEN"])
def test_the_wheel_turns_one_in_seven_cards_by_the_seed(seed):
    table = Table(seed).face("bl_wheel")
    twin = table.pool.states.copy()[0]
    rolls = [randomness.uniform(twin, stream("wheel")) for _ in range(8)]
    assert len(marked(table.do("select blind"), cards.FACE_DOWN)) == sum(roll < 1 / 7 for roll in rolls)


def test_the_wheel_with_doubled_chances():
    table = with_jokers("j_oops", "j_oops", "j_oops").face("bl_wheel").do("select blind")
    assert len(marked(table, cards.FACE_DOWN)) == 8  # eight in seven


@pytest.mark.parametrize(("level", "after", "score"), [(3, 2, (10 + 15 + 22) * 3), (1, 1, 64)])
def test_the_arm_lowers_the_level_before_the_hand_scores(level, after, score):
    table = Table().face("bl_arm").set(levels=level).deal(PAIR).do("play 1,2")
    assert (table["levels"][hands.PAIR], table["score"]) == (after, score)


@pytest.mark.parametrize(
    ("key", "suit", "smeared"),
    [("bl_club", "C", "SC"), ("bl_goad", "S", "SC"), ("bl_window", "D", "HD"), ("bl_head", "H", "HD")],
)
def test_a_suit_is_debuffed(key, suit, smeared):
    table = meet(key, QUADS)
    assert debuffed(table) == f"A{suit} K{suit}"
    assert table.do("play 1,2,3,4")["score"] == (60 + 3 * 11) * 7
    table = meet(key, QUADS, with_jokers("j_joker", "j_smeared"))
    assert debuffed(table) == " ".join(f"{rank}{one}" for rank in "AK" for one in smeared)
    assert debuffed(meet(key, QUADS, enhancement=cards.WILD)) == QUADS
    assert debuffed(meet(key, QUADS, enhancement=cards.STONE)) == ""


def test_the_fish_turns_what_is_drawn_after_a_hand():
    table = Table().face("bl_fish").do("select blind")
    assert face_down(table) == ""
    assert face_down(table.do("discard 1,2,3")) == ""
    assert len(marked(table.do("play 1,2,3"), cards.FACE_DOWN)) == 3
    assert len(marked(table.do("discard 1,2,3,4,5"), cards.FACE_DOWN)) <= 3


@pytest.mark.parametrize(("play", "score"), [("play 1,2,3,4", 0), ("play 1,2,3,4,5", (60 + 44) * 7)])
def test_the_psychic_requires_five_cards(play, score):
    assert Table().face("bl_psychic").deal(QUADS).do(play)["score"] == score


def test_the_water_leaves_no_discards():
    table = Table().face("bl_water").do("select blind")
    assert table["discards_left"] == 0
    assert not any(name.startswith("discard") for name in table.legal)


def test_the_manacle_holds_one_card_less():
    table = Table().face("bl_manacle").do("select blind")
    assert table["hand_count"] == 7
    assert table.do("play 1,2,3")["hand_count"] == 7


def test_the_eye_lets_a_hand_score_once():
    table = Table().face("bl_eye").deal("AS AH KS KH 9D 7C 5S 3D").do("play 1,2")
    assert table["score"] == 64
    assert table.do("play 1,2")["score"] == 64  # kings, but a pair again
    assert table.do("play 1")["score"] == 64 + 15  # the next king alone


def test_the_mouth_lets_one_kind_of_hand_score():
    table = Table().face("bl_mouth").deal("AS AH KS KH 9D 7C 5S 3D").do("play 1,2")
    assert table.do("play 3")["score"] == 64
    assert table.do("play 1,2")["score"] == 64 + (10 + 20) * 2


def test_the_plant_debuffs_faces():
    table = meet("bl_plant", "AH KS QS JS TS 9S 8S 7S")
    assert debuffed(table) == "KS QS JS"
    assert table.do("play 2")["score"] == 5
    assert debuffed(meet("bl_plant", QUADS, with_jokers("j_joker", "j_pareidolia"))) == QUADS
    assert debuffed(meet("bl_plant", QUADS, enhancement=cards.STONE)) == ""


def test_the_serpent_always_draws_three_cards():
    table = Table().face("bl_serpent").deal(PAIR)
    assert table.do("play 1,2,3,4,5")["hand_count"] == 3 + 3
    assert table.do("discard 1")["hand_count"] == 5 + 3
    assert table.do("discard 1")["hand_count"] == 7 + 3


def test_the_pillar_debuffs_cards_played_this_ante():
    table = Table().deal(PAIR, required=1).do("play 1,2", "cash out", "leave").face("bl_pillar").do("select blind")
    flags = table["cards"]["flags"][:52]
    assert [number for number in range(52) if flags[number] & cards.DEBUFFED] == [0, 1]
    table.set(required=1).do("play 1,2,3", "cash out", "leave").face("bl_pillar").do("select blind")
    assert not (table["cards"]["flags"][:52] & cards.DEBUFFED).any()  # another ante


def test_the_needle_gives_one_hand():
    assert Table().face("bl_needle").do("select blind")["hands_left"] == 1


def test_the_tooth_costs_a_dollar_a_card():
    table = Table().face("bl_tooth").deal(PAIR)
    assert table.do("play 1,2,3")["money"] == 4 - 3
    assert table.do("play 1,2")["money"] == -1
    assert table.do("discard 1,2")["money"] == -1


@pytest.mark.parametrize(
    ("hand", "play", "score"),
    [
        (PAIR, "play 1,2", 5 + 22),  # 10 x 2 becomes 5 x 1
        (PAIR, "play 1", 3 + 11),  # half of 5 is rounded up, mult is at least 1
        ("AS KS 9S 5S 3S", "play 1,2,3,4,5", (18 + 38) * 2),  # 35 x 4
    ],
)
def test_the_flint_halves_the_hand(hand, play, score):
    assert Table().face("bl_flint").deal(hand).do(play)["score"] == score


def test_the_mark_deals_faces_face_down():
    table = meet("bl_mark", "AS KS QS JS TS 9S 8S 7S")
    assert face_down(table) == "KS QS JS"
    assert face_down(Table().face("bl_mark").deal(PAIR).do("play 1,2")) == "QS"  # it comes with the ten


def test_amber_acorn_hides_and_shuffles_jokers_until_the_end_of_the_round():
    keys = ["j_joker", "j_jolly", "j_sly", "j_mad", "j_zany"]
    table = Table().own(*keys).face("bl_final_acorn").do("select blind")
    assert sorted(table.owned()) == sorted(keys)
    assert table.owned() != keys
    assert table["jokers"]["face_down"][:5].all()
    table.set(required=1).do("play 1")
    assert not table["jokers"]["face_down"][:5].any()


def test_verdant_leaf_debuffs_all_cards_until_a_joker_is_sold():
    table = meet("bl_final_leaf", PAIR, Table().own("j_egg").keep("c_pluto"))
    assert debuffed(table) == PAIR
    assert debuffed(table.do("sell consumable 1")) == PAIR
    assert debuffed(table.do("sell joker 1")) == ""
    assert table.do("play 1,2")["score"] == 64


def test_verdant_leaf_leaves_only_the_hand_itself():
    assert meet("bl_final_leaf", PAIR).do("play 1,2")["score"] == 10 * 2


def test_crimson_heart_disables_another_joker_from_hand_to_hand():
    table = Table().own("j_joker", "j_joker", "j_joker").face("bl_final_heart").deal("AS KS QS JS 9S 7S 5S 3S")
    before = None
    for _ in range(3):
        disabled = table["jokers"]["debuffed"][:3].tolist()
        assert sum(map(bool, disabled)) == 1
        assert disabled != before
        score = table["score"]
        table.set(hands_left=4).do("play 8")
        played = int(table["tally"]["chips"])
        assert table["score"] - score == played * (1 + 4 + 4)
        before = disabled
    disabled = table["jokers"]["debuffed"][:3].tolist()
    assert table.do("discard 1")["jokers"]["debuffed"][:3].tolist() == disabled  # only a hand changes it
    table.set(required=1).do("play 1")
    assert not table["jokers"]["debuffed"][:3].any()


def test_cerulean_bell_forces_one_card_in_every_hand():
    table = Table().face("bl_final_bell").do("select blind")
    (forced,) = marked(table, cards.FORCED)
    place = str(table.hand().index(forced) + 1)
    choices = [name for name in table.legal if name.startswith(("play ", "discard ")) and name[-1].isdigit()]
    assert len(choices) == 2 * (1 + 7 + 21 + 35 + 35)
    assert all(place in name.split()[1].split(",") for name in choices)
    assert f"select card {place}" not in table.legal
    table.do(f"discard {place}")
    assert len(marked(table, cards.FORCED)) == 1


GIVEN_BACK = [
    ("bl_wall", "required", 1200, 600),
    ("bl_final_vessel", "required", 1800, 600),
    ("bl_needle", "required", 300, 300),
    ("bl_water", "discards_left", 0, 4),
    ("bl_needle", "hands_left", 1, 4),
]


@pytest.mark.parametrize(("key", "field", "before", "after"), GIVEN_BACK)
def test_selling_luchador_undoes_the_effects_of_the_boss(key, field, before, after):
    table = Table().own("j_luchador").face(key).do("select blind")
    assert table[field] == before
    assert table.do("sell joker 1")[field] == after


@pytest.mark.parametrize(("key", "field", "before", "after"), [*GIVEN_BACK, ("bl_manacle", "hand_count", 7, 8)])
def test_with_chicot_a_boss_has_no_effect(key, field, before, after):
    assert Table().face(key).do("select blind")[field] == before
    assert with_jokers("j_joker", "j_chicot").face(key).do("select blind")[field] == after


def test_restored_hand_size_includes_jokers():
    table = Table().own("j_luchador", "j_drunkard").face("bl_water").do("select blind", "sell joker 1")
    assert table["discards_left"] == 4 + 1
    table = Table().own("j_luchador", "j_troubadour").face("bl_needle").do("select blind", "sell joker 1")
    assert table["hands_left"] == 4 - 1


@pytest.mark.parametrize("key", ["bl_club", "bl_goad", "bl_window", "bl_head", "bl_plant", "bl_final_leaf"])
def test_a_disabled_boss_debuffs_no_cards(key):
    table = meet(key, QUADS, Table().own("j_luchador"))
    assert debuffed(table) != ""
    assert debuffed(table.do("sell joker 1")) == ""
    assert debuffed(meet(key, QUADS, with_jokers("j_joker", "j_chicot"))) == ""


@pytest.mark.parametrize("key", ["bl_house", "bl_mark"])
def test_a_disabled_boss_hides_no_cards(key):
    table = meet(key, QUADS, Table().own("j_luchador"))
    assert face_down(table) != ""
    assert face_down(table.do("sell joker 1")) == ""


def test_a_disabled_boss_lets_go_of_cards_and_jokers():
    table = Table().own("j_luchador").face("bl_final_bell").do("select blind", "sell joker 1")
    assert marked(table, cards.FORCED) == []
    table = Table().own("j_luchador", "j_joker", "j_joker").face("bl_final_heart").deal(PAIR)
    while table["jokers"][0]["debuffed"]:
        table.do("play 8")
    assert table["jokers"]["debuffed"][:3].any()
    assert not table.do("sell joker 1")["jokers"]["debuffed"][:2].any()
    assert table.deal(PAIR).do("play 1")["tally"]["score"] == 16 * (1 + 4 + 4)


def test_a_small_blind_has_nothing_to_disable():
    table = Table().own("j_luchador").do("select blind", "sell joker 1")
    assert (table["disabled"], table["required"]) == (0, 300)


def play_run(table):
    """Beat blind after blind with tiny required scores; returns all rewards."""
    rewards = []
    while table["status"] == PLAYING:
        phase = {"blind": "select blind", "pay": "cash out", "shop": "leave"}
        table.do(phase[table.phase] if table.phase in phase else five_cards(table))
        rewards.append(table.reward)
    return rewards


@pytest.mark.parametrize("reward", ["win", "blinds", "shaped"])
def test_all_rewards_of_a_won_run_sum_up_to_one(reward):
    table = Table(scale=1e-9, reward=reward)
    rewards = play_run(table)
    assert (table["status"], table["won"], table["beaten"]) == (OVER, 1, 24)
    assert sum(rewards) == pytest.approx(1, abs=1e-5)
    paid = [reward for reward in rewards if reward]
    if reward == "win":
        assert paid == [1]
    else:
        assert paid == pytest.approx([ante / 108 for ante in range(1, 9) for _ in range(3)])


@pytest.mark.parametrize(("reward", "paid"), [("win", 0), ("blinds", 1 / 108), ("shaped", 1 / 108)])
def test_a_lost_run_earns_the_rewards_of_its_beaten_blinds(reward, paid):
    table = Table(reward=reward).deal(PAIR, required=1).do("play 1")
    total = table.reward
    for name in ("cash out", "leave", "select blind", *["play 1"] * 4):
        total += table.do(name).reward
    assert (table["status"], table["won"]) == (OVER, 0)
    assert total == pytest.approx(paid, abs=1e-6)


def test_a_shaped_reward_pays_for_a_part_of_a_blind_at_once_and_for_the_rest_at_its_end():
    table = Table(reward="shaped").deal(PAIR, required=128).do("play 1,2")
    assert table.reward == pytest.approx(64 / 128 / 108)
    before = float(table["score"]) / 128
    table.set(score=127).do("play 1")
    assert table.phase == "pay"
    assert table.reward == pytest.approx((1 - before) / 108)


@pytest.mark.parametrize(("endless", "status"), [("no", OVER), ("yes", PLAYING)])
def test_after_the_eighth_ante_a_run_is_won_or_goes_on(endless, status):
    table = Table(endless=endless).set(ante=8).face("bl_final_vessel").deal(PAIR, required=1).do("play 1")
    assert (table["status"], table["won"]) == (status, 1)
    if endless == "yes":
        assert table.do("cash out", "leave", "select blind")["required"] == 110_000
        assert (table["ante"], table["status"]) == (9, PLAYING)


def test_a_blind_is_lost_with_its_last_hand():
    table = Table().deal(PAIR, required=65).set(hands_left=2).do("play 3")
    assert table["status"] == PLAYING
    assert table.do("play 1")["status"] == OVER


def test_a_blind_is_lost_without_cards():
    assert Table().deal("AS").set(pile_count=0).do("play 1")["status"] == OVER


@pytest.mark.parametrize(("required", "saved"), [(4 * 64, True), (4 * 64 + 1, False)])
def test_mr_bones_saves_a_run_that_has_a_quarter_of_the_score(required, saved):
    table = Table().own("j_mr_bones").deal(PAIR, required=required).set(hands_left=1).do("play 1,2")
    assert table["status"] == (PLAYING if saved else OVER)
    assert table.owned() == ([] if saved else ["j_mr_bones"])
    assert (table.phase == "pay") == saved
