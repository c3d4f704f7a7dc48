"""Saving and loading: round trips, invalid contents, newest, best, rotation, and other games."""

import json
import math
import pathlib
import threading
from typing import NamedTuple

import hypothesis.extra.numpy
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from ludus import __version__, games
from ludus.agents.checkpoint import (
    best,
    check_game,
    describe,
    flatten,
    list_checkpoints,
    load,
    newest,
    read_manifest,
    rotate,
    save,
    unflatten,
)
from ludus.agents.checkpoint.manifest import StoredFile, decode, encode
from ludus.types import LudusError

DTYPES = ("?", "i1", "<i2", "<i4", "<i8", "u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8")


class Pair(NamedTuple):
    left: object
    right: object


def arrays():
    shapes = hypothesis.extra.numpy.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    return st.sampled_from(DTYPES).flatmap(lambda kind: hypothesis.extra.numpy.arrays(kind, shapes))


def trees():
    leaves = arrays() | st.integers() | st.floats() | st.booleans() | st.none() | st.text(max_size=5)
    keys = st.text("abcxyz_0", min_size=1, max_size=4)
    return st.recursive(
        leaves,
        lambda parts: (
            st.dictionaries(keys, parts, max_size=3)
            | st.lists(parts, max_size=3)
            | st.lists(parts, max_size=3).map(tuple)
            | st.builds(Pair, parts, parts)
        ),
        max_leaves=8,
    )


@given(trees(), trees())
def test_save_and_load_is_identity(tmp_path_factory, make, same, params, learner):
    groups = {"params": flatten(params), "learner": flatten(learner)}
    path = save(tmp_path_factory.mktemp("run"), 1, make()._replace(arrays=groups))
    loaded = load(path)
    assert same(unflatten(params, loaded.arrays["params"]), params)
    assert same(unflatten(learner, loaded.arrays["learner"]), learner)


@given(
    st.none() | st.floats() | st.integers(-(2**60), 2**60).map(float),
    st.dictionaries(st.text(), st.floats(), max_size=4),
    st.integers(0, 2**63 - 1),
)
def test_manifests_round_trip(make, same, score, metrics, steps):
    files = {"params.safetensors": StoredFile("0" * 64, 123)}
    manifest = make(score, metrics=metrics, version=3, steps=steps, parent="000001").manifest._replace(files=files)
    assert same(decode(encode(manifest), "here"), manifest)


def test_describe_fills_in_game_version_and_time(make):
    manifest = describe(games.load("car(track=7)"), {"kind": "mlp"}, {"kind": "ppo"}, version=1, steps=2, score=3.0)
    assert (manifest.format, manifest.game, manifest.ludus) == (1, "car(track=7)", __version__)
    assert manifest.created.endswith("+00:00")
    assert manifest.commit is None or len(manifest.commit) >= 7


def test_folder_layout(tmp_path, make):
    path = save(tmp_path / "runs" / "toy-0001" / "checkpoints", 120, make())
    assert path == tmp_path / "runs" / "toy-0001" / "checkpoints" / "000120"
    assert sorted(file.name for file in path.iterdir()) == ["manifest.json", "params.safetensors"]
    assert [file.name for file in path.parent.iterdir()] == ["000120"]
    assert json.loads((path / "manifest.json").read_text())["agent"] == {"kind": "mlp", "sizes": [4, 4]}


def test_loaded_arrays_are_writable_copies(tmp_path, make):
    path = save(tmp_path, 1, make(value=1.0))
    load(path).arrays["params"]["dense/kernel"][:] = 9.0
    assert (load(path).arrays["params"]["dense/kernel"] == 1.0).all()


@pytest.mark.parametrize("arrange", [np.transpose, np.asfortranarray, lambda x: x[::-1], lambda x: x[:, ::2],
                                     lambda x: np.broadcast_to(x[0], (4, 5))])  # fmt: skip
def test_memory_order_does_not_matter(tmp_path, make, arrange):
    array = arrange(np.arange(20, dtype=np.float32).reshape(4, 5))
    loaded = load(save(tmp_path, 1, make()._replace(arrays={"params": {"x": array}})))
    assert (loaded.arrays["params"]["x"] == array).all()


def test_bfloat16_round_trips(tmp_path, make):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([[1.5, -2, math.inf]], ml_dtypes.bfloat16)
    loaded = load(save(tmp_path, 1, make()._replace(arrays={"params": {"x": array}}))).arrays["params"]["x"]
    assert (loaded.dtype, loaded.tolist()) == (array.dtype, array.tolist())


def test_no_groups_and_empty_groups(tmp_path, make):
    assert load(save(tmp_path, 1, make()._replace(arrays={}))).arrays == {}
    assert load(save(tmp_path, 2, make()._replace(arrays={"pool": {}}))).arrays == {"pool": {}}


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros(2, ">f4"), r'"params/x" is big-endian \(>f4\); convert it with astype\("float32"\)'),
        (np.array([{}]), '"params/x" is a ndarray of the type object'),
        (np.zeros(2, "U3"), '"params/x" is a ndarray of the type <U3'),
        (np.zeros(2, [("a", "i4")]), '"params/x" has the type .* which cannot be stored'),
        (np.zeros(2, np.complex128), '"params/x" has the type complex128'),
        (np.zeros(2, "M8[s]"), '"params/x" has the type datetime64'),
    ],
)
def test_unsupported_arrays_raise(tmp_path, make, array, words):
    with pytest.raises(LudusError, match=words):
        save(tmp_path, 1, make()._replace(arrays={"params": {"x": array}}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("group", ["", "Params", "a/b", "..", "../x", "a.b", "manifest.json", "1", "a\n"])
def test_invalid_group_names_raise(tmp_path, make, group):
    with pytest.raises(LudusError, match="is not a valid group of arrays"):
        save(tmp_path, 1, make()._replace(arrays={group: {}}))


@pytest.mark.parametrize("name", ["__metadata__", "a\n", "\x1b[31m", "\ud800"])
def test_invalid_array_names_raise(tmp_path, make, name):
    with pytest.raises(LudusError, match="is not a valid name for an array"):
        save(tmp_path, 1, make()._replace(arrays={"params": {name: np.zeros(1)}}))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"agent": {"sizes": [4]}}, '"agent" should be an object with a string "kind"'),
        ({"agent": {"kind": "mlp", "x": math.inf}}, "cannot be written as JSON"),
        ({"agent": {"kind": "mlp", "x": np.zeros(2)}}, "cannot be written as JSON"),
        ({"version": -1}, '"version" should be a whole number from 0, not -1'),
        ({"steps": 1.5}, "version and steps are whole numbers"),
        ({"score": "high"}, "score and metrics are numbers"),
        ({"game": "toy\n"}, '"game" should be a line of text'),
        ({"created": "yesterday"}, '"created" should be a time in UTC'),
        ({"format": 2}, "has the format 2, but ludus .* reads 1"),
        ({"agent": {"kind": "x" * 2**24}}, "larger than 16777216 bytes"),
    ],
)
def test_invalid_manifests_are_not_written(tmp_path, make, fields, words):
    checkpoint = make()
    with pytest.raises(LudusError, match=words):
        save(tmp_path, 1, checkpoint._replace(manifest=checkpoint.manifest._replace(**fields)))
    assert list(tmp_path.iterdir()) == []


def test_numpy_numbers_are_accepted(tmp_path, make):
    path = save(tmp_path, 1, make(np.float32(0.5), metrics={"loss": np.float32(2)}, version=np.int64(3)))
    manifest = read_manifest(path)
    assert (manifest.score, manifest.metrics, manifest.version) == (0.5, {"loss": 2.0}, 3)


def test_existing_checkpoint_is_not_replaced(tmp_path, make):
    path = save(tmp_path, 7, make(value=1.0))
    with pytest.raises(LudusError, match=r"000007\" already exists; save with a higher number"):
        save(tmp_path, 7, make(value=2.0))
    assert (load(path).arrays["params"]["dense/kernel"] == 1.0).all()


@pytest.mark.parametrize("number", [-1, 2**63])
def test_numbers_out_of_range(tmp_path, make, number):
    with pytest.raises(LudusError, match="the number of a checkpoint must be 0 or more"):
        save(tmp_path, number, make())


def test_invalid_folder_raises(tmp_path, make):
    (tmp_path / "file").write_text("")
    with pytest.raises(LudusError, match=r"cannot save .* Not a directory"):
        save(tmp_path / "file" / "checkpoints", 1, make())


def numbers(paths):
    return [int(path.name) for path in paths]


def test_list_is_sorted_by_number_and_ignores_other_files(tmp_path, make):
    assert list_checkpoints(tmp_path / "nothing") == []
    assert newest(tmp_path) is None
    assert best(tmp_path) is None
    for number in (1_000_000, 999_999, 3):
        save(tmp_path, number, make())
    for name in (".000009.part", "000010", "notes", "000011.bak", "12"):
        (tmp_path / name).mkdir()
    (tmp_path / "000013").write_text("a file")
    assert numbers(list_checkpoints(tmp_path)) == [3, 999_999, 1_000_000]
    assert newest(tmp_path) == tmp_path / "1000000"
    assert list_checkpoints(str(tmp_path)) == list_checkpoints(tmp_path)


def test_save_removes_only_leftovers(tmp_path, make):
    for name in (".000009.part", ".000001.part", ".mine.part", "notes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "params.safetensors").write_bytes(b"half")
    save(tmp_path, 1, make())
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mine.part", "000001", "notes"]


@pytest.mark.parametrize(
    ("scores", "winner"),
    [
        ([1.0, 3.0, 2.0], 1),
        ([1.0, 3.0, 3.0, 2.0], 2),
        ([None, -5.0, None], 1),
        ([math.nan, -math.inf, None], 1),
        ([math.inf, 5.0], 0),
    ],
)
def test_best_has_the_highest_score_and_is_the_newest_of_equals(tmp_path, make, scores, winner):
    for number, score in enumerate(scores):
        save(tmp_path, number, make(score))
    assert best(tmp_path) == tmp_path / f"{winner:06d}"


def test_best_needs_a_score(tmp_path, make):
    save(tmp_path, 1, make(None))
    save(tmp_path, 2, make(math.nan))
    assert best(tmp_path) is None


@pytest.mark.parametrize(
    ("keep", "left"), [(1, [2, 9]), (3, [2, 7, 8, 9]), (8, [2, 3, 4, 5, 6, 7, 8, 9]), (99, list(range(10)))]
)
def test_rotation_keeps_the_newest_and_the_best(tmp_path, make, keep, left):
    for number in range(10):
        save(tmp_path, number, make(5.0 if number == 2 else -number))
    gone = rotate(tmp_path, keep)
    assert numbers(list_checkpoints(tmp_path)) == left
    assert sorted(numbers(gone) + left) == list(range(10))
    assert len(list(tmp_path.iterdir())) == len(left)


def test_rotation_ignores_the_score_of_a_damaged_checkpoint(tmp_path, make):
    for number in range(4):
        save(tmp_path, number, make(float(-number)))
    (tmp_path / "000000" / "manifest.json").write_text("{")
    assert best(tmp_path) == tmp_path / "000001"
    rotate(tmp_path, 1)
    assert numbers(list_checkpoints(tmp_path)) == [1, 3]


def test_rotation_rejects_zero_and_missing_folders(tmp_path):
    with pytest.raises(LudusError, match="at least one"):
        rotate(tmp_path, 0)
    with pytest.raises(LudusError, match=r"cannot remove old checkpoints .* No such file"):
        rotate(tmp_path / "nothing")


def test_concurrent_writers_do_not_remove_each_others_files(tmp_path, make):
    failures = []

    def write(first):
        try:
            for number in range(first, first + 8):
                save(tmp_path, number, make(value=number))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(first,)) for first in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(list_checkpoints(tmp_path)) == 24
    for path in list_checkpoints(tmp_path):
        assert load(path).arrays["params"]["dense/kernel"][0, 0] == int(path.name)


def test_check_game(make):
    def checkpoint(name, **changes):
        return make()._replace(manifest=describe(games.load(name), {"kind": "x"}, {"kind": "y"})._replace(**changes))

    check_game(checkpoint("tictactoe"), games.load("tictactoe"))
    check_game(checkpoint("car(track=7)"), games.load("car"))
    with pytest.raises(LudusError, match="this checkpoint is for tictactoe, not connect4"):
        check_game(checkpoint("tictactoe"), games.load("connect4"))
    with pytest.raises(
        LudusError, match=r"another version of car \(its records have changed\).*ludus 0\.0\.1 at commit abc"
    ):
        check_game(checkpoint("car", fingerprint="old", ludus="0.0.1", commit="abc"), games.load("car"))


def test_package_does_not_import_pickle_or_jax():
    for source in pathlib.Path(load.__code__.co_filename).parent.glob("*.py"):
        text = source.read_text()
        assert "import pickle" not in text
        assert "import jax" not in text
