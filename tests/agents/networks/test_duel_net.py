"""DuelNet: features of the visible cards only, and predicted battles that agree with the game."""

import jax
import numpy as np
import pytest

from ludus.agents import load
from ludus.agents.neural.agent import new_agent
from ludus.agents.neural.networks.games import duel as net
from ludus.agents.neural.networks.games.duel import features
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.agents.players.greedy import duel as greedy
from ludus.games.duel import action_features as act
from ludus.games.duel import observation as see
from ludus.games.duel.state import NOBODY
from ludus.games.duel.tables import ROWS as CARDS
from ludus.games.duel.tables.words import NORMAL
from ludus.pool import Pool
from ludus.types import LudusError, Step

ROWS = 48


@pytest.fixture(scope="module")
def pool():
    pool = Pool("duel", ROWS, seed=3)
    for _ in range(90):
        decision, _ = load("greedy", "duel").act((), (), pool.step, 0)
        pool.advance(decision.action)
    return pool


@pytest.fixture(scope="module")
def agent(pool):
    return new_agent(pool, MLPArgs(width=16))


def test_field_and_hand_become_slots(pool):
    shown, cards = features.read(pool.step.observation), pool.step.observation["cards_"].astype(int)
    place, own = cards[..., see.LOCATION], cards[..., see.CONTROLLER] == 0
    wanted = {
        features.OWN_MONSTERS: (place == see.ON_MZONE) & own, features.THEIR_MONSTERS: (place == see.ON_MZONE) & ~own,
        features.OWN_SPELLS: (place == see.ON_SZONE) & own, features.THEIR_SPELLS: (place == see.ON_SZONE) & ~own,
        features.HAND: (place == see.IN_HAND) & own,
    }  # fmt: skip
    for group, rows in wanted.items():
        here = shown["slots"][..., 1] == 1 + group
        assert here.any() and (here.sum(axis=1) == rows.sum(axis=1)).all()
        codes = cards[..., see.ID_HIGH] * 256 + cards[..., see.ID_LOW]
        for n in range(ROWS):
            assert shown["slots"][n, here[n], 0].tolist() == codes[n, rows[n]].tolist()
            attack = cards[n, rows[n], see.ATTACK] * 256 + cards[n, rows[n], see.ATTACK + 1]
            assert np.allclose(shown["slot_numbers"][n, here[n], 0], attack / 1000)


def test_graveyards_become_sums_of_their_cards(pool):
    shown, cards = features.read(pool.step.observation), pool.step.observation["cards_"].astype(int)
    assert (cards[..., see.LOCATION] == see.IN_GRAVE).any()
    for n in range(ROWS):
        for side in range(2):
            rows = (cards[n, :, see.LOCATION] == see.IN_GRAVE) & (cards[n, :, see.CONTROLLER] == side)
            codes = cards[n, rows, see.ID_HIGH] * 256 + cards[n, rows, see.ID_LOW]
            assert np.allclose(shown["piles"][n, side], features.CODES[codes].sum(axis=0), atol=1e-5)


def test_card_codes_are_distinct_and_0_for_unknown_cards():
    assert len(np.unique(features.CODES, axis=0)) == len(features.CODES)
    assert not features.CODES[0].any()


def test_unknown_card_of_another_engine_has_code_0(pool):
    observation = {name: array.copy() for name, array in pool.step.observation.items()}
    observation["cards_"][..., see.ID_HIGH] = 200
    observation["actions_"][..., act.ID_HIGH] = 200
    observation["h_actions_"][..., act.ID_HIGH] = 200
    shown = features.read(observation)
    choice = greedy.AGENT.act((), (), pool.step._replace(observation=observation), 0)[0].action
    assert pool.step.mask[np.arange(len(choice)), choice].all()
    assert not shown["slots"][..., 0].any() and not shown["options"][..., features.CODE].any()
    assert shown["slots"][..., 1].any()


@pytest.fixture(scope="module")
def plain_monsters(tmp_path_factory):
    """A deck of monsters without effects, so that nothing interferes with battles."""
    plain = [card.code for card in CARDS if card.types & NORMAL and card.level <= 4][:14]
    path = tmp_path_factory.mktemp("decks") / "plain.ydk"
    path.write_text("\n".join(["#main", *map(str, (3 * plain)[:40]), "#extra", "!side"]))
    return path


def test_attacks_end_as_predicted(plain_monsters):
    pool = Pool(f"duel(deck1={plain_monsters}, deck2={plain_monsters})", 64, seed=5)
    ends = set()
    for turn in range(150):
        step, shown = pool.step, features.read(pool.step.observation)
        action = np.asarray(load("random", "duel").act(pool.spec, (), step, turn)[0].action)
        margin, is_battle = (shown["option_numbers"][np.arange(64), action, column] for column in (0, 1))
        targets = step.observation["actions_"][np.arange(64), action, act.SPEC].astype(int) - 1
        picked = shown["options"][np.arange(64), action, features.MESSAGE] == 3
        lies = step.observation["cards_"][np.arange(64), targets, see.POSITION]
        before = (pool.states["monsters"] != NOBODY).sum(axis=2)
        over = pool.advance(action).discount == 0
        after = (pool.states["monsters"] != NOBODY).sum(axis=2)
        for row in np.flatnonzero(picked & (is_battle != 0) & np.isin(lies, (1, 4)) & ~over):
            lost, beaten = (before - after)[row, [step.seat[row], 1 - step.seat[row]]].tolist()
            upright = lies[row] == 1
            assert beaten == (margin[row] > 0 or (margin[row] == 0 and upright))
            assert lost == (margin[row] <= 0 and upright)
            ends.add((bool(upright), int(np.sign(margin[row]))))
    assert ends >= {(True, 1), (True, -1), (False, 1), (False, -1)}


def test_hidden_cards_are_not_read():
    """Features and greedy actions are the same with and without hidden cards in the observation."""
    plain, open_ = (Pool(f"duel(oppo_info={word})", 16, seed=4) for word in ("no", "yes"))
    for _ in range(60):
        for name, array in features.read(plain.step.observation).items():
            assert np.array_equal(array, features.read(open_.step.observation)[name]), name
        decisions = [load("greedy", "duel").act((), (), each.step, 0)[0] for each in (plain, open_)]
        assert np.array_equal(decisions[0].action, decisions[1].action)
        plain.advance(decisions[0].action)
        open_.advance(decisions[0].action)


def test_evaluate_agrees_with_act(pool, agent):
    params = agent.init(pool.spec, 0)
    decision, _ = agent.act(params, (), pool.step, 1)
    steps = Step(
        {name: array[None] for name, array in pool.step.observation.items()}, *(part[None] for part in pool.step[1:])
    )
    evaluated = agent.evaluate(params, (), agent.packed(steps))
    chosen = np.take_along_axis(np.asarray(evaluated.policy[0]), np.asarray(decision.action)[:, None], axis=1)[:, 0]
    assert np.allclose(chosen, decision.log_prob, atol=1e-5)
    assert np.allclose(evaluated.value[0], decision.value, atol=1e-5)
    assert pool.step.mask[np.arange(ROWS), decision.action].all()


def test_padding_of_options_changes_nothing(pool, agent):
    params, shown = agent.init(pool.spec, 0), features.read(pool.step.observation)
    long = features.read(pool.step.observation, lambda lengths: dict.fromkeys(lengths, 24))
    assert shown["options"].shape[1] < long["options"].shape[1] == 24
    few, many = (agent.network.apply(params, x, legal=pool.step.mask)[1:3] for x in (shown, long))
    assert all(np.allclose(one, other, atol=1e-5) for one, other in zip(few, many, strict=True))


def test_gradients_reach_all_parameters(pool, agent):
    step, params = pool.step, agent.init(pool.spec, 0)

    def loss(params):
        _, policy, value, _ = agent.network.apply(params, agent.shown(step.observation, step.mask), legal=step.mask)
        return (jax.numpy.where(step.mask, policy, 0) * np.cos(np.arange(24))).sum() + value.sum()

    gradients = jax.tree_util.tree_leaves_with_path(jax.grad(loss)(params)["params"])
    assert [jax.tree_util.keystr(path) for path, gradient in gradients if not np.any(gradient)] == []


def test_duel_uses_its_own_network_by_default(pool):
    assert isinstance(new_agent(pool, MLPArgs()).network, net.DuelNet)
    with pytest.raises(LudusError, match="has ids of cards, which an MLPAgent cannot read"):
        new_agent(pool, MLPArgs(own=False)).init(pool.spec, 0)
