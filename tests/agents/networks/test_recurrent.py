"""RNNAgent: all games are supported, memories are separate by seat, and cutting padding does not change outputs."""

import dataclasses
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_cards import SMALL_CARDS, made_for, some_cards

from ludus import games
from ludus.agents.neural import agent as deep
from ludus.agents.neural.networks import games as game_networks
from ludus.agents.neural.networks import memory_usage, new_variables, total_params
from ludus.agents.neural.networks.heads import ILLEGAL
from ludus.agents.neural.networks.layout import Entities, Field, Layout, Shown, layout_of, trimmed
from ludus.agents.neural.networks.recurrent import RNNAgent, folded, outputs_of_others
from ludus.agents.neural.networks.settings import ModelArgs
from ludus.bench.inference import DUEL_SHAPED
from ludus.pool import Pool
from ludus.types import Continuous, Discrete, LudusError, Spec, Step

KEY = jax.random.key(0)
ROWS, TIMES = 4, 5
SMALL = ModelArgs(
    num_layers=1,
    num_channels=16,
    rnn_channels=16,
    rwkv_head_size=8,
    memory_length=4,
    critic_width=16,
    critic_depth=1,
    embedding_shape=(999, 8),
)
NUMBERS = Layout((Shown("x", (3,), "float32"),), (Field("x", (3,), "number", (-1.0,), (1.0,), bins=8),))
"""the smallest layout, so that compilation is quick"""


def small(**changes):
    return dataclasses.replace(SMALL, **changes)


def network_of(name, args=SMALL, **more):
    spec, rules = games.load(name).spec, games.load(name).rules
    layout = layout_of(rules.OBSERVATION, spec, game_networks.find(name).layout)
    return RNNAgent(layout, args, spec.seats, spec.actions, spec.seats, **more)


def of_numbers(seats=2, **changes):
    return RNNAgent(NUMBERS, small(**changes), 1, Discrete(3), seats)


def sequence(seed=0, seats=2, times=TIMES):
    """Observations, done and seats, [T, N, ...]."""
    dice = np.random.default_rng(seed)
    seen = dice.uniform(-1, 1, (times, ROWS, 3)).astype(np.float32)
    return seen, dice.random((times, ROWS)) < 0.3, dice.integers(0, seats, (times, ROWS)).astype(np.int32)


def some_memory(network, seed=1):
    """A memory of random numbers, so that every change is visible."""
    dice = np.random.default_rng(seed)

    def fill(leaf):
        return jnp.ones_like(leaf) if leaf.dtype == bool else jnp.asarray(dice.normal(size=leaf.shape), leaf.dtype)

    return jax.tree.map(fill, network.init_rnn_state(ROWS))


@functools.cache
def compiled(network):
    """The network as one compiled function, the same for equal networks."""
    return jax.jit(network.apply, static_argnames=("train", "mutable"))


def close(ours, theirs, atol=1e-5):
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for our, their in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(np.float32(our), np.float32(their), atol=atol)


def weighted_sum(answers):
    """One number that depends on all outputs."""
    parts = [jnp.where(part > ILLEGAL, part, 0.0) for part in jax.tree.leaves(answers)]
    return sum((jnp.cos(jnp.arange(part.size).reshape(part.shape)) * part).sum() for part in parts)


def without_gradient(gradients):
    """The parameters that no gradient reaches."""
    found = jax.tree_util.tree_leaves_with_path(gradients["params"])
    return [jax.tree_util.keystr(path) for path, slope in found if not np.any(slope)]


def graded(network):
    traces = []

    def loss(variables, x, memory, seat, legal):
        traces.append(1)
        memory, policy, value, valid = network.apply(variables, x, memory, switch_or_main=seat, legal=legal)
        return weighted_sum((policy, value)), (memory, policy, value, valid)

    return jax.jit(jax.value_and_grad(loss, has_aux=True)), traces


WHERE_MUCH_IS_SEEN = {"balatro": ("balatro(scale=1e-9)", 40)}
"""variants of games in which all fields are used: in a shop there are prices"""


@pytest.mark.parametrize("name", games.names())
def test_every_game_is_supported(name):
    network = network_of(name, small(film=False))
    elsewhere, steps = WHERE_MUCH_IS_SEEN.get(name, (name, 3))
    pool = Pool(elsewhere, ROWS, seed=1, threads=1)
    pool.play_randomly(steps)
    rows = slice(0, ROWS)
    x = {field: array[rows] for field, array in pool.step.observation.items()}
    seat = pool.step.seat[rows].astype(np.int32)
    legal = None if isinstance(pool.spec.actions, Continuous) else pool.step.mask[rows]
    variables, memory = made_for(network), some_memory(network)
    decide, traces = graded(network)
    (_, (new, policy, value, valid)), gradients = decide(variables, x, memory, seat, legal)
    assert value.shape == (ROWS, pool.spec.seats) and np.isfinite(value).all() and np.all(valid)
    if legal is None:
        assert policy[0].shape == policy[1].shape == (ROWS, len(network.actions.low))
        assert np.isfinite(policy[0]).all()
    else:
        np.testing.assert_array_equal(policy == ILLEGAL, ~legal)
        assert np.isfinite(policy).all()
    assert not without_gradient(gradients)
    for number, (before, after) in enumerate(zip(memory, new, strict=True)):
        waiting = seat != number
        for old, fresh in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
            np.testing.assert_array_equal(fresh[waiting], old[waiting])
            assert not (fresh[~waiting] == old[~waiting]).any()
    changed = {field: np.concatenate([array[:1], array[:1], array[2:]]) for field, array in x.items()}
    (_, (_, _, other, _)), _ = decide(variables, changed, memory, seat, legal)
    np.testing.assert_allclose(np.delete(other, 1, axis=0), np.delete(value, 1, axis=0), atol=1e-6)
    assert len(traces) == 1


CHANGES = [
    {"rnn_type": "lstm"},
    {"rnn_type": "gru"},
    {"rnn_type": "rwkv"},
    {"rnn_type": "transformer"},
    {"rnn_type": "none"},
    {"oppo_info": True},
    {"oppo_info": True, "rnn_type": "none", "rnn_shortcut": True},
    {"rnn_shortcut": True, "int_head": True, "film": False, "version": 1},
]


@pytest.mark.parametrize(
    ("changes", "seats"),
    [*((changes, 2) for changes in CHANGES), (CHANGES[0], 1), (CHANGES[3], 3), (CHANGES[5], 3)],
    ids=lambda value: "-".join(map(str, value.values())) if isinstance(value, dict) else str(value),
)
def test_single_steps_equal_the_scan(changes, seats):
    network = of_numbers(seats, **changes)
    seen, done, seat = sequence(seats=seats)
    variables, memory = made_for(network), some_memory(network)
    apply = compiled(network)
    flat = {"x": seen.reshape(-1, 3)}
    whole, logits, value, _ = apply(variables, flat, memory, done.ravel(), seat.ravel())
    assert logits.shape == (TIMES * ROWS, 3)
    assert value.shape == (TIMES * ROWS, 2 if network.args.int_head else 1)
    found = []
    for time in range(TIMES):
        memory, *answers, _ = apply(variables, {"x": seen[time]}, memory, done[time], seat[time])
        found.append(answers)
    close([logits, value], [jnp.concatenate(part) for part in zip(*found, strict=True)])
    close(whole, memory)


def test_true_means_the_first_of_two_seats():
    network = of_numbers(2)
    seen, done, seat = sequence()
    variables, memory = made_for(network), some_memory(network)
    given = {"x": seen.reshape(-1, 3)}, memory, done.ravel()
    close(compiled(network)(variables, *given, seat.ravel()), compiled(network)(variables, *given, seat.ravel() == 0))


def test_memory_is_used_until_a_new_game_begins():
    network = of_numbers(2)
    seen, _, seat = sequence()
    variables = made_for(network)
    empty, full = network.init_rnn_state(ROWS), some_memory(network)
    done = np.arange(ROWS) < 2
    _, logits, _, _ = compiled(network)(variables, {"x": seen[0]}, full, done, seat[0])
    _, fresh, _, _ = compiled(network)(variables, {"x": seen[0]}, empty, done, seat[0])
    np.testing.assert_allclose(logits[:2], fresh[:2], atol=1e-6)
    assert (abs(logits[2:] - fresh[2:]).max(axis=1) > 1e-5).all()


def test_network_without_memory_has_an_empty_state():
    network = of_numbers(2, rnn_type="none")
    assert network.init_rnn_state(7) == ()
    variables = made_for(network)
    assert compiled(network)(variables, {"x": np.zeros((3, 3), np.float32)}, ())[0] == ()


def test_stop_every_truncates_gradients():
    """All kinds of memory are tested in test_memory."""
    network = of_numbers(1)
    seen, _, seat = sequence(seats=1, times=4)
    variables = made_for(network)

    def last_value(seen, stop_every):
        cut = network.clone(stop_every=stop_every)
        value = cut.apply(variables, {"x": seen.reshape(-1, 3)}, network.init_rnn_state(ROWS), None, seat.ravel())[2]
        return value.reshape(4, ROWS)[-1].sum()

    gradients = jax.jit(jax.grad(last_value), static_argnums=1)
    reaches = {every: np.any(np.asarray(gradients(seen, every)), axis=(1, 2)).tolist() for every in (0, 2)}
    assert reaches == {0: [True] * 4, 2: [False, False, True, True]}


def test_switch_processes_one_seat_after_the_other():
    """Outputs for steps sorted by seat equal those of each seat alone, and the other memory is unchanged until then."""
    network, alone = of_numbers(2, switch=True), of_numbers(1)
    seen, done, _ = sequence()
    switch = np.zeros((TIMES, ROWS), bool)
    for row, time in enumerate((0, 2, 3)):
        switch[time, row] = True  # the last row never changes
    variables, memory = made_for(alone), some_memory(network)
    new, logits, value, _ = compiled(network)(
        variables, {"x": seen.reshape(-1, 3)}, memory, done.ravel(), switch.ravel()
    )
    logits, value = logits.reshape(TIMES, ROWS, -1), value.reshape(TIMES, ROWS, -1)
    for row, time in enumerate((0, 2, 3, TIMES)):
        for part, seat in ((slice(0, time), 0), (slice(time, TIMES), 1)):
            own = (jax.tree.map(lambda leaf, row=row: leaf[row : row + 1], memory[seat]),)
            if part.start < part.stop:
                own, own_logits, own_value, _ = compiled(alone)(
                    variables, {"x": seen[part, row]}, own, done[part, row], np.zeros(part.stop - part.start, np.int32)
                )
                close([logits[part, row], value[part, row]], [own_logits, own_value])
            close(jax.tree.map(lambda leaf, row=row: leaf[row : row + 1], new[seat]), own[0])


@pytest.mark.parametrize("switch", [False, True])
def test_seat_numbers_keep_memories_apart_with_and_without_switch(switch):
    """As in an unrolled reference: each seat steps its own memory, which is reset only when a game begins."""
    network, alone = of_numbers(2, switch=switch), of_numbers(1)
    seen, done, seat = sequence()
    variables, memory = made_for(alone), some_memory(network)
    given = {"x": seen.reshape(-1, 3)}, memory, done.ravel(), seat.ravel()
    new, logits, value, _ = compiled(network)(variables, *given)
    policies, values, kept = np.zeros((TIMES, ROWS, 3)), np.zeros((TIMES, ROWS, 1)), list(memory)
    for time, number in itertools.product(range(TIMES), range(2)):
        acts, opens = seat[time] == number, done[time]
        before = jax.tree.map(lambda leaf, opens=opens: jnp.where(opens[:, None], 0.0, leaf), kept[number])
        (after,), policy, value_now, _ = compiled(alone)(
            variables, {"x": seen[time]}, (before,), None, np.zeros(ROWS, int)
        )
        policies[time, acts], values[time, acts] = policy[acts], value_now[acts]
        kept[number] = jax.tree.map(lambda a, b, acts=acts: jnp.where(acts[:, None], a, b), after, before)
    close([logits, value], [policies.reshape(-1, 3), values.reshape(-1, 1)])
    close(new, tuple(kept))


def test_outputs_of_others_start_with_the_next_seat():
    outputs = tuple(jnp.full((1, 1), 10.0 * seat) for seat in (1, 2, 3))
    new = jnp.array([[[1.0]], [[2.0]], [[3.0]]])
    done, seat = jnp.array([[False], [False], [True]]), jnp.array([[1], [0], [2]])
    last, from_others = outputs_of_others(outputs, new, done, seat)
    np.testing.assert_array_equal(from_others[:, 0], [[30, 10], [1, 30], [0, 0]])
    np.testing.assert_array_equal([leaf[0, 0] for leaf in last], [0, 0, 3])


def layout_with_hidden():
    """A layout with numbers for actor and critic, and two cards only for the critic."""
    secret = Entities("secret", 2, (Field("secret", (), "category", (0.0,), (3.0,), share=1),), positions=True)
    return dataclasses.replace(NUMBERS, shown=(*NUMBERS.shown, Shown("secret", (2,), "int8")), hidden=(secret,))


def test_hidden_fields_affect_only_the_critic():
    network = RNNAgent(layout_with_hidden(), small(oppo_info=True), 1, Discrete(3), seats=2)
    seen, _, seat = sequence()
    variables, memory = made_for(network), some_memory(network)
    x = {"x": seen[0], "secret": np.zeros((ROWS, 2), np.int8)}
    new, logits, value, _ = compiled(network)(variables, x, memory, None, seat[0])
    other_memory, other, other_value, _ = compiled(network)(
        variables, {**x, "secret": x["secret"] + 3}, memory, None, seat[0]
    )
    np.testing.assert_array_equal(other, logits)
    close(other_memory, new, atol=0)
    assert (abs(other_value - value) > 1e-4).all()
    with pytest.raises(LudusError, match="has no secret"):
        compiled(network)(variables, {"x": seen[0]}, memory, None, seat[0])
    blind = RNNAgent(layout_with_hidden(), SMALL, 1, Discrete(3), seats=2)
    assert compiled(blind)(made_for(blind), {"x": seen[0]}, blind.init_rnn_state(ROWS), None, seat[0])


def test_memory_of_the_other_seat_affects_only_the_critic():
    network = of_numbers(2, oppo_info=True)
    seen, _, _ = sequence()
    variables, (mine, theirs) = made_for(network), some_memory(network)
    given = {"x": seen[0]}, None, np.zeros(ROWS, np.int32)
    x, done, seat = given
    _, logits, value, _ = compiled(network)(variables, x, (mine, theirs), done, seat)
    _, other, worth, _ = compiled(network)(variables, x, (mine, (theirs[0], theirs[1] + 1)), done, seat)
    np.testing.assert_array_equal(other, logits)
    assert (abs(worth - value) > 1e-4).all()


def test_q_head_has_no_value():
    network = of_numbers(2, q_head=True)
    seen, _, seat = sequence()
    variables = made_for(network)
    assert "critic" not in variables["params"]
    memory, values, valid = compiled(network)(variables, {"x": seen[0]}, network.init_rnn_state(ROWS), None, seat[0])
    assert values.shape == (ROWS, 3) and valid.shape == (ROWS,) and len(memory) == 2


def test_batch_renormalisation_updates_statistics_only_in_training():
    network = of_numbers(2, batch_norm=True, int_head=True)
    seen, _, seat = sequence()
    variables = new_variables(network, KEY)
    given = {"x": seen[0]}, network.init_rnn_state(ROWS), None, seat[0]
    (_, _, value, _), changed = compiled(network)(variables, *given, train=True, mutable=("batch_stats",))
    assert value.shape == (ROWS, 2) and np.isfinite(value).all()
    steps = [leaf for leaf in jax.tree.leaves(changed) if leaf.dtype == jnp.int32]
    assert steps and all(step == 1 for step in steps)
    calm = compiled(network)({**variables, **changed}, *given)[2]
    assert abs(calm - compiled(network)(variables, *given)[2]).max() > 1e-6


@pytest.fixture(scope="module")
def duel():
    """A small network for a card game that masks padding, its variables, and observations with ten cards."""
    network = RNNAgent(SMALL_CARDS, small(card_mask=True), 1, Discrete(12), seats=2)
    variables = made_for(network)
    variables["params"]["actor"]["Dense_1"]["kernel"] *= 0.01  # policies begin nearly even
    return network, variables, some_cards(ROWS)


def output_of(network, variables, x, legal=None):
    seat = np.arange(ROWS, dtype=np.int32) % 2
    return compiled(network)(variables, x, some_memory(network), None, seat, legal=legal)


def test_masked_padding_can_be_cut_off(duel):
    network, variables, x = duel
    cut = trimmed(SMALL_CARDS, x)
    assert [cut[name].shape[1] for name in ("cards", "acts", "past")] == [32, 8, 16]
    short, whole = output_of(network, variables, cut), output_of(network, variables, x)
    assert short[1].shape == whole[1].shape == (ROWS, 12)
    np.testing.assert_array_equal(short[1] == ILLEGAL, whole[1] == ILLEGAL)
    close(short, whole)
    unmasked = network.clone(args=dataclasses.replace(network.args, card_mask=False))
    assert abs(output_of(unmasked, variables, cut)[2] - output_of(unmasked, variables, x)[2]).max() > 1e-4


def test_unknown_entities_can_be_removed(duel):
    """Unknown cards without an id are masked, and are removed by `trimmed` and `packed`."""
    cards = dataclasses.replace(SMALL_CARDS.entities[0], unknown=(2, 1))
    layout = dataclasses.replace(SMALL_CARDS, entities=(cards,))
    network = duel[0].clone(layout=layout)
    x, dice = some_cards(ROWS, 36), np.random.default_rng(4)
    x["cards"][:, 3, 2], x["cards"][:, 3, :2] = 1, (0, 7)  # an unknown card with an id
    unknown = dice.permuted(np.tile(np.arange(4, 36), (ROWS, 1)), axis=1)[:, :20]
    for row, chosen in enumerate(unknown):
        x["cards"][row, chosen, :] = 0
        x["cards"][row, chosen, 2] = 1
        x["acts"][row, :5, 3] = [0, 1, 4, *(1 + np.setdiff1d(np.arange(4, 36), chosen)[-2:])]
    cut = trimmed(layout, x)
    assert cut["cards"].shape[1] == 32 and (cut["cards"][:, :, 2] != 0).sum(axis=1).tolist() == [16] * ROWS
    close(output_of(network, duel[1], cut), output_of(network, duel[1], x))
    other = {**x, "cards": np.where((x["cards"][..., 2:3] == 1) & (x["cards"][..., 1:2] == 0), 0, x["cards"])}
    close(output_of(network, duel[1], other), output_of(network, duel[1], x))
    fewer = dataclasses.replace(layout, entities=(dataclasses.replace(cards, keep_identified=False),))
    kept = trimmed(fewer, x)["cards"][:, :, 2]
    assert (kept != 1).all() and (kept != 0).sum() == (x["cards"][:, :, 2] > 1).sum()
    agent = deep.DeepAgent(network, Spec(seats=2, actions=Discrete(12), zero_sum=True))
    row = np.zeros((1, ROWS), bool)
    steps = Step({name: array[None] for name, array in x.items()}, row[..., None], row, row, row, row)
    packed = agent.packed(steps).observation
    np.testing.assert_array_equal(packed["cards"][0], cut["cards"])
    np.testing.assert_array_equal(packed["acts"][0, :, :8], cut["acts"])
    assert packed["acts"].shape == (1, ROWS, 12, 4)


def test_masked_columns_affect_only_the_critic():
    """If the observation contains hidden cards, the policy ignores them and the critic uses them."""
    cards = dataclasses.replace(SMALL_CARDS.entities[0], mask="mask", masked=(2, 1, 2, 3))
    layout = dataclasses.replace(SMALL_CARDS, entities=(cards,), hidden=(SMALL_CARDS.entities[0],))
    network = RNNAgent(layout, small(card_mask=True, oppo_info=True), 1, Discrete(12), seats=2)
    variables, x = made_for(network), some_cards(ROWS)
    mask = np.zeros((ROWS, 40, 4), np.uint8)
    mask[:, :10], mask[:, 4:7] = 1, (0, 1, 0, 0)
    other = {name: array.copy() for name, array in x.items()}
    other["cards"][:, 4:7, [0, 1, 3, 4, 5, 6, 7]] = 0
    plain, shown = (
        output_of(network, variables, other | {"mask": mask}),
        output_of(network, variables, x | {"mask": mask}),
    )
    close(plain[1], shown[1])
    assert abs(np.asarray(plain[2]) - np.asarray(shown[2])).max() > 1e-4
    close(output_of(network, variables, trimmed(layout, x | {"mask": mask})), shown)
    close(output_of(network, variables, x | {"mask": 0 * mask})[1], output_of(network, variables, x)[1])


def test_agent_cuts_off_masked_padding(duel, monkeypatch):
    """The decision is the same as with padding, and the last of twelve actions stays available."""
    network, variables, x = duel
    agent = deep.DeepAgent(network, Spec(seats=2, actions=Discrete(12), zero_sum=True), greedy=True)
    whole, widths = deep._act, []

    def watched(agent, params, memory, shown, *rest):
        widths.append([shown[name].shape[1] for name in ("cards", "acts", "past")])
        return whole(agent, params, memory, shown, *rest)

    monkeypatch.setattr(deep, "_act", watched)
    legal = np.zeros((ROWS, 12), bool)
    for last, acts in ((4, 8), (11, 12)):
        legal[:, last] = True
        step = Step(x, legal, np.zeros(ROWS, np.int8), np.zeros((ROWS, 2)), np.ones(ROWS), np.ones(ROWS, bool))
        decision, _ = agent.act(variables, agent.memory(ROWS), step, 0)
        plain, _ = whole(agent, variables, agent.memory(ROWS), x, legal, step.seat, step.first, 0)
        assert widths.pop() == [32, acts, 16]
        np.testing.assert_array_equal(decision.action, plain.action)
        close(decision.value, plain.value)


def test_legal_actions_are_not_cut_off(duel):
    network, variables, x = duel
    legal = np.zeros((ROWS, 12), bool)
    legal[:, 0], legal[1, 7] = True, True
    cut = trimmed(SMALL_CARDS, x, legal)
    assert cut["acts"].shape[1] == 8
    close(output_of(network, variables, cut, legal), output_of(network, variables, x, legal))
    legal[1, 8] = True
    assert trimmed(SMALL_CARDS, x, legal)["acts"].shape[1] == 12


def test_folded_ids_do_not_change_outputs(duel):
    network, variables, x = duel
    ready = folded(network, variables)
    assert jax.tree.leaves(ready["folded"])
    close(output_of(network, ready, x), output_of(network, variables, x), atol=1e-6)
    learned = jax.tree.map(lambda leaf: leaf * 1.5, variables)
    close(folded(network, {**ready, **learned}), folded(network, learned), atol=0)
    plain = of_numbers()
    own = made_for(plain)
    assert jax.tree.structure(folded(plain, own)) == jax.tree.structure(own)


def test_gradients_reach_all_parameters(duel):
    network, variables, x = duel
    seat = np.arange(ROWS, dtype=np.int32) % 2
    (_, (_, logits, _, valid)), gradients = graded(network)[0](variables, x, some_memory(network), seat, None)
    assert not without_gradient(gradients)
    np.testing.assert_array_equal(logits == ILLEGAL, x["acts"][..., 2] == 0)
    assert valid.all()


def test_frozen_table_has_no_gradient(duel):
    network, variables, x = duel
    frozen = network.clone(args=dataclasses.replace(network.args, freeze_id=True))
    encoder = variables["params"]["encoder"]

    def loss(ids):
        params = {**variables["params"], "encoder": {**encoder, "ids": ids}}
        return weighted_sum(output_of(frozen, {"params": params}, x)[1:3])

    assert not np.any(jax.jit(jax.grad(loss))(encoder["ids"]))


def test_valid_and_legal_follow_the_observation(duel):
    network, variables, x = duel
    over = {**x, "table": x["table"].copy()}
    over["table"][1, 4] = 1
    legal = np.arange(12)[None] < np.array([[1], [3], [5], [12]])
    _, logits, value, valid = output_of(network, variables, over, legal)
    np.testing.assert_array_equal(valid, [True, False, True, True])
    np.testing.assert_array_equal(logits == ILLEGAL, ~legal)
    empty = {**x, **{name: np.zeros_like(x[name]) for name in ("cards", "acts", "past")}}
    _, logits, value, _ = output_of(network, variables, empty)
    assert (logits == ILLEGAL).all() and np.isfinite(value).all()


def test_id_out_of_range_gives_finite_outputs(duel):
    network, variables, x = duel
    broken = {**x, "cards": np.where(x["cards"] > 0, 255, 0).astype(np.uint8)}
    _, logits, value, _ = output_of(network, variables, broken)
    assert np.isfinite(logits).all() and np.isfinite(value).all()


def test_rows_are_independent(duel):
    network, variables, x = duel
    other = {name: array.copy() for name, array in x.items()}
    for name, array in some_cards(ROWS, seed=9).items():
        other[name][2] = array[2]
    (_, logits, value, _), (_, other_logits, other_value, _) = (
        output_of(network, variables, seen) for seen in (x, other)
    )
    close(
        [np.delete(part, 2, axis=0) for part in (logits, value)],
        [np.delete(part, 2, axis=0) for part in (other_logits, other_value)],
    )
    assert abs(value[2] - other_value[2]) > 1e-4


def test_bfloat16_is_close_to_float32(duel):
    network, variables, x = duel
    rough = network.clone(dtype=jnp.bfloat16)
    memory, logits, value, _ = output_of(rough, variables, x)
    _, exact, worth, _ = output_of(network, variables, x)
    assert logits.dtype == value.dtype == jnp.float32
    np.testing.assert_allclose(value, worth, atol=0.1 * np.abs(worth).max() + 0.05)
    legal = exact > ILLEGAL
    np.testing.assert_allclose(np.where(legal, logits, 0), np.where(legal, exact, 0), atol=0.01)
    again = jax.eval_shape(rough.apply, variables, x, memory, None, np.zeros(ROWS, np.int32))[0]
    assert jax.tree.map(lambda leaf: leaf.dtype, again) == jax.tree.map(lambda leaf: leaf.dtype, memory)


def test_default_network_has_the_documented_size():
    network = RNNAgent(DUEL_SHAPED, ModelArgs(), 1, Discrete(24), seats=2)
    learned, megabytes = total_params(network), memory_usage(network)
    assert abs(learned / 4_343_242 - 1) < 0.03
    rwkv = RNNAgent(DUEL_SHAPED, ModelArgs(rnn_type="rwkv"), 1, Discrete(24), seats=2)
    assert abs(total_params(rwkv) / 4_641_994 - 1) < 0.03
    two_seats_of_two_vectors = 2 * 2 * 512 * 4 / 1e6
    assert memory_usage(network, 10) - megabytes == pytest.approx(10 * two_seats_of_two_vectors)
    assert megabytes == pytest.approx(learned * 4 / 1e6)


@pytest.mark.parametrize(
    ("network", "rows", "memories", "seat", "message"),
    [
        (of_numbers(2), 4, 2, None, "pass the seat to move"),
        (of_numbers(2), 4, 1, 0, "there are 1 memories for 2 seats"),
        (of_numbers(2), 6, 2, 0, "a batch of 6 is not a multiple of 4 rows"),
        (of_numbers(3), 4, 3, True, "there are 3 memories; pass the seat's number"),
        (of_numbers(1, oppo_info=True), 4, 1, 0, "this game has neither"),
        (of_numbers(3, switch=True), 4, 3, 0, "switch is for sequences of two seats"),
        (RNNAgent(NUMBERS, small(q_head=True), 1, Continuous((0.0,), (1.0,))), 4, 1, 0, "actions are continuous"),
    ],
)
def test_invalid_inputs_raise(network, rows, memories, seat, message):
    x = {"x": np.zeros((rows, 3), np.float32)}
    main = None if seat is None else np.full(rows, seat)
    with pytest.raises(LudusError) as error:
        jax.eval_shape(lambda: network.init(KEY, x, network.init_rnn_state(4)[:memories], switch_or_main=main))
    assert message in str(error.value)


def test_wrong_shapes_raise():
    network = of_numbers(1)
    with pytest.raises(LudusError, match="x has the shape"):
        network.init(KEY, {"x": np.zeros((4, 2), np.float32)}, network.init_rnn_state(4))
