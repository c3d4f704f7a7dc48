"""ReferenceNet computes what the reference project's network does: recorded outputs of its models.

The model `small_film` is in tests/data. Larger ones are tested if LUDUS_REFERENCE_WEIGHTS names a folder that contains
`published/model.flax_model.gz` and `published/vectors.npz`.
"""

import gzip
import lzma
import os
import pathlib

import jax
import numpy as np
import pytest
from flax.traverse_util import unflatten_dict

from ludus.agents import flax_models
from ludus.agents.neural.networks.games.duel import LAYOUT, REFERENCE
from ludus.agents.neural.networks.heads import ILLEGAL
from ludus.types import Discrete

DATA = pathlib.Path(__file__).parents[2] / "data"
LARGER = os.environ.get("LUDUS_REFERENCE_WEIGHTS", "")
NAMES = ("cards_", "global_", "actions_", "h_actions_")


class Model:
    """A model with its recorded inputs and outputs."""

    def __init__(self, file: bytes, vectors: pathlib.Path, folder: pathlib.Path) -> None:
        path = folder / "model.flax_model"
        path.write_bytes(file)
        self.arrays = flax_models.read(path)
        self.args = flax_models.arguments(self.arrays)
        self.network = REFERENCE(LAYOUT, self.args, 1, Discrete(24))
        self.known = dict(np.load(vectors))
        self.apply = jax.jit(self.network.apply)

    def observation(self, prefix="", shape=()):
        """The recorded observation; sequences are flattened, by step and then by game."""
        found = {name: self.known[prefix + name] for name in NAMES}
        return {name: array.reshape(-1, *array.shape[2:]) if prefix else array for name, array in found.items()}

    def state(self, name):
        return self.known[f"{name}_0"], self.known[f"{name}_1"]

    def variables(self, arrays=None):
        return {"params": unflatten_dict(self.arrays if arrays is None else arrays, sep="/")}

    def single(self, state, arrays=None):
        """Memory, logits, value and valid of the eight single steps."""
        return self.apply(self.variables(arrays), self.observation(), (state, state), None, np.zeros(8, np.int32))


@pytest.fixture(scope="module", params=["small_film", *(["published"] if LARGER else [])])
def model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "small_film":
        file = lzma.decompress((DATA / "reference_small_film.flax_model.xz").read_bytes())
        return Model(file, DATA / "reference_small_film.npz", folder)
    place = pathlib.Path(LARGER) / request.param
    return Model(gzip.decompress((place / "model.flax_model.gz").read_bytes()), place / "vectors.npz", folder)


def same(found, known):
    np.testing.assert_allclose(np.asarray(found).reshape(known.shape), known, rtol=1e-4, atol=2e-5)


def check(model, out, prefix):
    """Compare logits and value with the recorded ones."""
    same(out[1], model.known[f"{prefix}_logits"])
    same(out[2], model.known[f"{prefix}_value"])


@pytest.mark.parametrize("start", ["out", "zero"])
def test_single_steps(model, start):
    state = model.state("rstate_in")
    state = state if start == "out" else tuple(map(np.zeros_like, state))
    memory, logits, value, valid = out = model.single(state)
    check(model, out, start)
    for number in range(2):
        same(memory[0][number], model.known[f"{start}_rstate_{number}"])
        np.testing.assert_array_equal(memory[1][number], state[number])
    np.testing.assert_array_equal(valid, model.known[f"{start}_valid"])
    np.testing.assert_array_equal(np.asarray(logits) == ILLEGAL, model.known["action_mask"])
    assert value.shape == (8, 1)


def first_of(done):
    """Which steps open a game [T, N]: here a game ends with a step that is `done`."""
    return np.concatenate([np.zeros_like(done[:1]), done[:-1]])


@pytest.mark.parametrize("players", [1, 2])
def test_sequences_with_a_game_end(model, players):
    """One memory, or one for each of two players; step by step and as one sequence."""
    known, name = model.known, f"seq{players}"
    done = known["seq_done"]
    main = known["seq_main"] if players == 2 else np.ones_like(done)
    start = (model.state("seq_rstate1"), model.state(f"seq_rstate{players}"))
    memory, *out = model.apply(
        model.variables(), model.observation("seq_"), start, first_of(done).ravel(), main.ravel()
    )
    check(model, (memory, *out), f"{name}_scan")
    for number in range(2 * players):
        same(memory[number // 2][number % 2], known[f"{name}_scan_rstate_{number}"])
    memory = start
    for step, rows in enumerate(np.arange(done.size).reshape(done.shape)):
        x = {part: array[rows] for part, array in model.observation("seq_").items()}
        memory, logits, value, _ = model.apply(model.variables(), x, memory, first_of(done)[step], main[step])
        same(logits, known[f"{name}_step_logits"][step])
        same(value, known[f"{name}_step_value"][step])
        for number in range(2 * players):
            # The reference resets a memory after the last step of a game, we before the first step of the next.
            after = np.where(done[step][:, None], 0, memory[number // 2][number % 2])
            same(after, known[f"{name}_step_rstate_{number}"][step])


def test_sequences_sorted_by_player(model):
    """In the reference a switch takes effect after its step, here before the next."""
    known, switched = model.known, first_of(model.known["seq_switch"])
    network = model.network.clone(args=type(model.args)(**(vars(model.args) | {"switch": True})))
    start = (model.state("seq_rstate1"), model.state("seq_rstate2"))
    memory, *out = jax.jit(network.apply)(
        model.variables(), model.observation("seq_"), start, first_of(known["seq_done"]).ravel(), switched.ravel()
    )
    check(model, (memory, *out), "seq3_scan")
    for number in range(2):
        same(memory[1][number], known[f"seq3_scan_rstate_{number}"])


def test_exchanged_arrays_are_noticed(model):
    """The recorded outputs are sensitive to every array: exchange pairs of equal shape."""
    by_shape = {}
    for name, array in model.arrays.items():
        by_shape.setdefault(array.shape, []).append(name)
    pairs = [names[:2] for names in by_shape.values() if len(names) > 1]
    assert len(pairs) > 10
    for one, other in pairs:
        changed = model.arrays | {one: model.arrays[other], other: model.arrays[one]}
        _, logits, value, _ = model.single(model.state("rstate_in"), changed)
        real = ~model.known["action_mask"]
        moved = np.abs(np.asarray(logits) - model.known["out_logits"])[real].max()
        assert max(moved, np.abs(value - model.known["out_value"]).max()) > 2e-3, (one, other)


def test_ids_and_categories_out_of_range_do_not_become_nan(model):
    x = {name: array.copy() for name, array in model.observation().items()}
    x["cards_"][0, 0, :] = 255
    x["actions_"][0, 0, 1:] = 255
    state = model.state("rstate_in")
    _, logits, value, _ = model.apply(model.variables(), x, (state, state), None, np.zeros(8, np.int32))
    assert np.isfinite(logits).all()
    assert np.isfinite(value).all()
    same(logits[1:], model.known["out_logits"][1:])
