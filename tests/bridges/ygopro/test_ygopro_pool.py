"""Duels in the core as a pool: requirements of every pool, visibility of cards, and errors for missing files."""

import json
import types

import numpy as np
import pytest
from pool_checks import CHECKS, ROWS
from real_cores import HERE, needs_wasm, normal_monsters, plain_deck, write_cdb, write_ydk

from ludus import agents
from ludus.bridges import identity_of, open_pool
from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.answers import response
from ludus.bridges.ygopro.choices import Choice
from ludus.bridges.ygopro.pool import _win_reward
from ludus.bridges.ygopro.yrp import read_yrp, write_yrp
from ludus.cli import run
from ludus.games.duel.tables import ROW_OF
from ludus.types import LudusError

SHAPES = {"cards_": (160, 41), "global_": (23,), "actions_": (24, 12), "h_actions_": (32, 14), "mask_": (160, 14)}
QUESTIONER = (10000001, 3, 0, 0, 0x21, 100, 100, 1, 1, 1, 0, "Questioner")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pool")
    write_cdb(folder / "cards.cdb", normal_monsters(), [QUESTIONER])
    write_ydk(folder / "one.ydk", plain_deck())
    write_ydk(folder / "two.ydk", plain_deck(9))
    write_ydk(folder / "questioner.ydk", [QUESTIONER[0]] * 3 + plain_deck()[3:])
    (folder / "script").mkdir()
    (folder / "script" / "c10000001.lua").write_text((HERE / "every_question.lua").read_text())
    return folder


@pytest.fixture
def opened(folder):
    needs_wasm()
    pools = []

    def open_one(rows=2, seed=3, **settings):
        given = {
            "core": "wasm",
            "cards": folder / "cards.cdb",
            "deck1": folder / "one.ydk",
            "deck2": folder / "two.ydk",
        }
        inside = ", ".join(f"{key}={value}" for key, value in (given | settings).items())
        pools.append(open_pool(f"duel@ygopro({inside})", rows, seed))
        return pools[-1]

    yield open_one
    for pool in pools:
        pool.close()


def play(pool, steps, seed=0):
    """Play at random; returns every step."""
    rng, seen = np.random.default_rng(seed), [pool.step]
    for _ in range(steps):
        seen.append(pool.advance(pool.random_actions(int(rng.integers(2**31)))))
    return seen


def test_shapes_seats_and_masks(opened):
    pool = opened()
    assert pool.spec.seats == 2 and pool.spec.actions.n == 24 and pool.spec.zero_sum
    for step in play(pool, 300):
        assert {name: field.shape[1:] for name, field in step.observation.items()} == SHAPES
        assert all(field.dtype == np.uint8 for field in step.observation.values())
        playing = step.observation["global_"][:, 22] == 0
        offered = step.observation["actions_"][:, :, features.MESSAGE] > 0
        assert (step.mask[playing] == offered[playing]).all() and step.mask.any(axis=1).all()
        assert (step.mask[~playing]).all() and not offered[~playing].any()
        assert (step.reward.sum(axis=1) == 0).all()
    assert not step.observation["mask_"].any()


def test_duels_end_and_new_ones_start(opened):
    steps = play(opened(points=1000, seed=5), 400)
    ends = [(step.reward[row], row) for step in steps for row in range(2) if step.discount[row] == 0]
    assert len(ends) > 4 and all(sorted(reward) == [-1, 1] for reward, _ in ends)
    assert sum(int(step.first.sum()) for step in steps) >= len(ends)


def test_the_same_seed_gives_the_same_steps(opened):
    first, second, other = (play(opened(seed=seed), 80) for seed in (3, 3, 4))
    for mine, theirs in zip(first, second, strict=True):
        assert all(np.array_equal(mine.observation[name], theirs.observation[name]) for name in SHAPES)
        assert np.array_equal(mine.seat, theirs.seat)
    assert any(
        not np.array_equal(a.observation["cards_"], b.observation["cards_"]) for a, b in zip(first, other, strict=True)
    )


@pytest.fixture(params=["plain", "scripted"])
def duels(request, opened, folder):
    """A pool of Normal Monsters, and one with a card that causes every kind of question."""
    if request.param == "plain":
        return opened(rows=4)
    return opened(rows=4, deck1=folder / "questioner.ydk", deck2=folder / "questioner.ydk", scripts=folder / "script")


def test_observations_equal_those_from_querying_everything(duels):
    """The pool queries only locations that may have changed, and writes only changed rows."""
    games = duels._games
    for turn in range(150):
        for row in np.flatnonzero(duels.status == 0).tolist():
            table, fresh = games._tables[row], {name: np.zeros((1, *SHAPES[name]), np.uint8) for name in SHAPES}
            facts = {name: int(table[name]) for name in ("turn", "turn_player", "phase", "damage_step")}
            shown = [(int(card[0]), card[1:].tolist()) for card in table["shown"][: table["shown_count"]]]
            duel = types.SimpleNamespace(
                **facts, query_results=games._rows[row].duel.query_all().query_results, shown=shown
            )
            games._observer.write(games._observer.table_of(duel, int(table["player"])), fresh)
            for name in ("cards_", "global_"):
                kept = duels.step.observation[name][row]
                np.testing.assert_array_equal(kept, fresh[name][0], err_msg=f"{name} of row {row}, turn {turn}")
        duels.advance(duels.random_actions(turn))


def test_compiled_rules_split_questions_like_choices(duels):
    """The compiled reader and the Python reader give the same options and answers."""
    games, sent, met, choices = duels._games, {}, set(), {}
    play_on = games._core.play

    def recording(tables, which, observer):
        for row in which.tolist():
            sent.setdefault(row, tables["answer"][row, : tables["answer_size"][row]].tobytes())
        return play_on(tables, which, observer)

    games._core.play = recording
    for turn in range(400):
        step, actions = duels.step, duels.random_actions(turn)
        playing = [row for row in np.flatnonzero(duels.status == 0).tolist() if row not in games._choices]
        for row in playing:
            choice = choices.get(row) or Choice(games._question(row))
            assert step.mask[row].sum() == len(choice.shown)
            met.add((choice.question.message, len(choice.picked)))
            choices[row] = choice.take(int(actions[row]))
        sent.clear()
        duels.advance(actions)
        for row in playing:
            answer = choices[row].answer
            assert sent.get(row) == (None if answer is None else response(choices[row].question, answer))
            if answer is not None:
                del choices[row]
    assert met >= {("unselect_card", 0), ("tribute", 0), ("tribute", 1), ("idlecmd", 0), ("place", 0)}


def test_a_truncated_duel_keeps_discount_1(opened):
    pool = opened(steps=10)
    steps = play(pool, 11)
    assert (steps[10].discount == 1).all() and steps[11].first.all()
    assert pool.spec.horizon == 10


def test_cards_are_numbered_by_our_table_and_then_by_code(folder, opened):
    pool = opened(deck1=folder / "questioner.ydk", scripts=folder / "script", starts="0")
    numbers = {int(row[0]) * 256 + int(row[1]) for row in pool.step.observation["cards_"][0] if row[4] == 0}
    assert len(ROW_OF) in numbers
    assert numbers - {0, len(ROW_OF)} <= {ROW_OF[code] for code in plain_deck()}


def test_hidden_cards_are_not_in_observations(opened):
    """Of the opponent: no card of hand and deck, and only the location of face-down cards."""
    down = 0
    for step in play(opened(), 300):
        for cards in step.observation["cards_"]:
            theirs = cards[cards[:, 4] == 1]
            hidden = theirs[np.isin(theirs[:, 2], (1, 2, 7))]
            assert not hidden[:, [0, 1, 3, *range(5, 41)]].any()
            face_down = theirs[np.isin(theirs[:, 2], (3, 4)) & np.isin(theirs[:, 5], (2, 6, 7))]
            down += len(face_down)
            assert not face_down[:, [0, 1, *range(6, 41)]].any()
        actions = step.observation["actions_"]
        for row, options in enumerate(actions):
            for option in options[options[:, 0] > 0]:
                card = step.observation["cards_"][row][option[0] - 1]
                assert (option[1:3] == card[:2]).all()
    assert down > 20


def test_a_deck_is_shown_in_sorted_order(opened):
    for step in play(opened(), 20):
        for cards in step.observation["cards_"]:
            deck = cards[(cards[:, 2] == 1) & (cards[:, 4] == 0)].astype(int)
            numbers = deck[:, 0] * 256 + deck[:, 1]
            assert (np.diff(numbers) >= 0).all() and numbers.all()


def test_oppo_info_shows_hidden_cards_and_marks_them(opened):
    plain, seeing = (play(opened(oppo_info=info), 60) for info in (0, 1))
    for step, all_ in zip(plain, seeing, strict=True):
        for cards, everything, mask in zip(
            step.observation["cards_"], all_.observation["cards_"], all_.observation["mask_"], strict=True
        ):
            there = everything[:, 2] > 0
            assert everything[there][:, :2].any(axis=1).all()
            assert (mask[there].any(axis=1)).all() and not mask[~there].any()
            known = mask[:, 0] == 1
            assert (cards[known] == everything[known]).all()
            assert not cards[there & ~known][:, :2].any()


def test_history_has_own_actions_newest_first(opened):
    pool = opened(rows=1, starts="0")
    step = pool.step
    assert not step.observation["h_actions_"].any()
    taken = step.observation["actions_"][0, 0]
    step = pool.advance(np.array([0]))
    newest = step.observation["h_actions_"][0, 0]
    assert newest[0] == 0 and (newest[1:12] == taken[1:]).all() and tuple(newest[12:]) == (0, 2)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_pool_passes_every_protocol_check(opened, check):
    check(lambda: opened(rows=ROWS, points=1000))


def test_points_turns_and_counts(opened):
    pool = opened(rows=1, points=1234, opening=4, starts="1")
    look = pool.step.observation["global_"][0].tolist()
    assert look[:8] == [4, 210, 4, 210, 1, 2, 1, 1]
    assert look[8:22] == [36, 4, 0, 0, 0, 0, 0] * 2
    assert pool.step.seat[0] == 1


def test_a_duel_as_text(opened):
    pool = opened(rows=1, starts="0")
    text = pool.describe()
    assert "turn 1, Main Phase 1" in text and "seat 0: idlecmd" in text and "0: summon" in text
    assert pool.action_name(3) == "3"
    with pytest.raises(LudusError, match="has no picture"):
        pool.scene()


def test_an_illegal_action_raises_and_the_duel_continues(opened):
    pool = opened(rows=1)
    before = pool.describe()
    with pytest.raises(LudusError, match="action 23 of row 0 is not legal"):
        pool.advance(np.array([23]))
    assert pool.describe() == before
    pool.advance(np.array([0]))


def test_the_name_of_a_pool_opens_it_again(opened):
    pool = opened()
    name, fingerprint = identity_of(pool)
    assert name.startswith("duel@ygopro(core=wasm") and len(fingerprint) == 16
    again = open_pool(name, 1)
    again.close()


def test_quick_wins_give_larger_rewards():
    assert [_win_reward(0, turn) for turn in (1, 3, 5, 7, 8)] == [16, 8, 4, 2, 1.5]
    assert [_win_reward(1, turn) for turn in (1, 3, 5, 6)] == [8, 4, 2, 1.5]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            "",
            "needs your libocgcore .version 11., or wasm for npm's ocgcore-wasm: write .*core=…., or set LUDUS_OCGCORE",
        ),
        ("core=nowhere.so", "needs your cards.cdb, or a folder of .cdb files"),
        ("core=nowhere.so, cards={0}/cards.cdb", "there is no core at nowhere.so"),
        ("core=x, cards={0}/none.cdb", "there is no card database at"),
        ("core=x, cards={0}/one.ydk", "is not a card database"),
        ("core=x, cards={0}/cards.cdb, scripts={0}/none", "there is no script folder at"),
        ("core=x, cards={0}/cards.cdb, deck=yugi", 'has no parameter "deck"'),
        ("core=x, cards={0}/cards.cdb, starts=2", "starts=2 is not allowed"),
        ("core=x, cards={0}/cards.cdb, points=many", "points=many is not allowed"),
    ],
)
def test_missing_files_and_wrong_settings_raise(folder, settings, message, monkeypatch):
    for variable in ("LUDUS_OCGCORE", "LUDUS_CARDS_CDB", "LUDUS_CARD_SCRIPTS"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(LudusError, match=message):
        open_pool(f"duel@ygopro({settings.format(folder)})" if settings else "duel@ygopro", 1)


def test_environment_variables_replace_missing_settings(folder, monkeypatch):
    monkeypatch.setenv("LUDUS_OCGCORE", "nowhere.so")
    monkeypatch.setenv("LUDUS_CARDS_CDB", str(folder / "cards.cdb"))
    with pytest.raises(LudusError, match=r"there is no core at nowhere\.so"):
        open_pool("duel@ygopro", 1)


def test_unknown_engines_raise():
    with pytest.raises(LudusError, match="names an unknown engine"):
        open_pool("duel@edopro", 1)


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        (plain_deck()[:39], "has 39 cards in its main deck; it needs 40 to 60"),
        ([plain_deck()[0]] * 4 + plain_deck()[4:], "copies of card"),
        ([77, *plain_deck()[1:]], "card 77 is not in the card database"),
        (
            [QUESTIONER[0], *plain_deck()[1:]],
            r"Questioner needs its script c10000001.lua, but no script folder was given",
        ),
        (["ghost", *plain_deck()[1:]], "line 2: 'ghost' is not a card number"),
    ],
)
def test_unplayable_decks_raise(folder, opened, cards, message, tmp_path):
    deck = write_ydk(tmp_path / "bad.ydk", cards)
    with pytest.raises(LudusError, match=message):
        opened(deck1=deck)


def test_the_error_for_an_unknown_deck_lists_the_known_ones(opened):
    with pytest.raises(
        LudusError,
        match=r'there is no deck "ghosts"; name a .ydk file, a folder of them, any, random, or one of .*yugi',
    ):
        opened(deck1="ghosts")


def test_the_error_for_a_missing_package_has_the_install_command(folder, monkeypatch, tmp_path):
    needs_wasm()
    monkeypatch.setenv("LUDUS_OCGCORE_WASM", str(tmp_path))
    with pytest.raises(LudusError, match=r"npm install --prefix .* ocgcore-wasm@"):
        open_pool(f"duel@ygopro(core=wasm, cards={folder}/cards.cdb)", 1)


def test_agents_of_the_native_duel_play_here(opened):
    pool = opened(rows=3)
    player = agents.load("trained", pool.name)
    params, memory = player.init(pool.spec, 0), player.memory(pool.rows)
    for turn in range(20):
        decision, memory = player.act(params, memory, pool.step, turn)
        assert pool.step.mask[np.arange(3), decision.action].all() or (pool.status != 0).any()
        pool.advance(decision.action)


def test_random_decks_have_only_playable_cards(opened):
    pool = opened(rows=6, deck1="random", deck2="random")
    decks = set()
    for cards in pool.step.observation["cards_"]:
        own = cards[(cards[:, 4] == 0) & (cards[:, 2] != 0)]
        assert len(own) == 40
        decks.add(tuple(sorted(own[:, 0].astype(int) * 256 + own[:, 1])))
    known = {ROW_OF[card.code] for card in normal_monsters()}
    assert len(decks) == 6 and all(known.issuperset(deck) for deck in decks)


def test_duels_are_saved_as_replays_and_replayed(opened, folder, tmp_path, capsys):
    pool = opened(rows=1, keep=tmp_path / "kept", points=300)
    for turn in range(400):
        pool.advance(pool.random_actions(turn))
        if pool.status[0]:
            break
    (kept,) = (tmp_path / "kept").glob("*.yrp")
    game = f"duel@ygopro(core=wasm, cards={folder / 'cards.cdb'})"
    run(["duel", "replay", str(kept), "--game", game, "--json"])
    result = json.loads(capsys.readouterr().out)
    assert result["over"] and result["winner"] in (0, 1) and min(result["points"]) <= 0 and result["answers"] > 5
    run(["duel", "replay", str(kept)])
    assert "300 points" in capsys.readouterr().out
    replay = read_yrp(kept)
    write_yrp(replay._replace(responses=(*replay.responses, b"\1\0\0\0")), kept)
    with pytest.raises(LudusError, match="this core plays the replay differently"):
        run(["duel", "replay", str(kept), "--game", game])
