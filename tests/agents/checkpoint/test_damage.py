"""Damaged and hostile checkpoints: each raises LudusError, and no file outside the checkpoint is read."""

import hashlib
import json
import os
import sys

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from ludus.agents.checkpoint import load, read_manifest, save
from ludus.types import LudusError


@pytest.fixture
def saved(tmp_path, make):
    groups = {
        "params": {"w": np.arange(6, dtype=np.float32)},
        "learner": {"mean/w": np.ones((2, 2)), "count": np.array(3)},
    }
    return save(tmp_path / "run", 1, make(0.5, metrics={"loss": 0.25})._replace(arrays=groups))


def change(path, **fields):
    """Rewrite fields of a manifest; "GONE" removes one."""
    manifest = json.loads((path / "manifest.json").read_text()) | fields
    left = {name: value for name, value in manifest.items() if value != "GONE"}
    overwrite(path / "manifest.json", json.dumps(left).encode())


def put(path, name, data):
    """Write a file, with its checksum in the manifest."""
    overwrite(path / name, data)
    change(path, files={name: {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}})


def overwrite(file, data):
    """Write a new file, because truncating an old one is slow on some file systems."""
    file.unlink(missing_ok=True)
    file.write_bytes(data)


def tensors(header, data=b""):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_truncated_manifest_raises(saved):
    whole = (saved / "manifest.json").read_bytes()
    for length in range(len(whole)):
        overwrite(saved / "manifest.json", whole[:length])
        with pytest.raises(LudusError, match=r"manifest\.json"):
            load(saved)


@pytest.mark.parametrize("name", ["params.safetensors", "learner.safetensors"])
def test_truncated_or_extended_file_raises(saved, name):
    whole = (saved / name).read_bytes()
    for data in [*(whole[:length] for length in range(len(whole))), whole + b"\0"]:
        overwrite(saved / name, data)
        with pytest.raises(LudusError, match=f'{name}" has {len(data)} bytes instead of {len(whole)}'):
            load(saved)


def test_flipped_bit_raises(saved):
    whole = (saved / "params.safetensors").read_bytes()
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= 1 << place % 8
        overwrite(saved / "params.safetensors", data)
        with pytest.raises(LudusError, match=r'params\.safetensors" was changed after it was saved'):
            load(saved)


def test_a_manifest_with_one_bit_flipped_never_changes_the_arrays(saved, same):
    whole, expected = (saved / "manifest.json").read_bytes(), load(saved).arrays
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= 1 << place % 8
        overwrite(saved / "manifest.json", data)
        try:
            loaded = load(saved)
        except LudusError:
            continue
        assert same(loaded.arrays, expected)


def test_missing_files_raise(saved):
    (saved / "learner.safetensors").unlink()
    with pytest.raises(LudusError, match=r'cannot read ".*learner\.safetensors": No such file'):
        load(saved)
    (saved / "manifest.json").unlink()
    with pytest.raises(LudusError, match=r'cannot read ".*manifest\.json": No such file'):
        load(saved)
    with pytest.raises(LudusError, match=r"there is no checkpoint .* contains a manifest\.json"):
        load(saved / "nothing")


@pytest.mark.parametrize("name", ["manifest.json", "params.safetensors"])
def test_links_pipes_and_folders_are_not_read(saved, name):
    file = saved / name
    outside = file.rename(saved.parent / name)
    for make_other in (lambda: file.symlink_to(outside), lambda: os.mkfifo(file), file.mkdir):
        make_other()
        with pytest.raises(LudusError, match=f'{name}" is not a regular file'):
            load(saved)
        file.rmdir() if file.is_dir() else file.unlink()


@pytest.mark.parametrize(
    "name",
    ["../secret.safetensors", "/etc/passwd", "inner/secret.safetensors", "..", ".", "", "secret",
     "secret.safetensors\n", "SECRET.safetensors", "..\\secret.safetensors", ".secret.safetensors", "manifest.json",
     "secret.safetensors\0", "ſ.safetensors"],
)  # fmt: skip
def test_invalid_file_names_raise(saved, name):
    data = (saved / "params.safetensors").read_bytes()
    (saved / "inner").mkdir()
    for place in (saved.parent, saved / "inner", saved):
        (place / "secret.safetensors").write_bytes(data)
    change(saved, files={name: {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}})
    with pytest.raises(LudusError, match='"files" should be an object of file names'):
        load(saved)


def test_only_files_of_the_checkpoint_are_opened(saved):
    opened = []
    active = [True]
    sys.addaudithook(lambda event, facts: opened.append(str(facts[0])) if event == "open" and active else None)
    load(saved)
    active.clear()
    assert {os.path.dirname(path) for path in opened} == {str(saved)}


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("game", [3, None, ["toy"], "a\x1b[2J", "\ud800"]),
        ("fingerprint", [3, None]),
        ("agent", [None, [], "mlp", {}, {"kind": 3}]),
        ("algorithm", [None, [], {"name": "ppo"}]),
        ("version", [-1, 1.0, "1", None, True, 2**63]),
        ("steps", [-1, 0.5, "1", None, False, 10**400]),
        ("score", ["high", [], {}, True, 10**400, "NaN"]),
        ("metrics", [None, [], {"loss": None}, {"loss": "0"}, {"loss": {}}]),
        ("ludus", [0.1, None]),
        ("commit", [7, []]),
        ("created", [None, 5, "soon", "2026-01-31T12:00:00", "2026-01-31T12:00:00+02:00"]),
        ("parent", [1, ["000001"]]),
        ("files", [None, [], ["params.safetensors"], {"params.safetensors": 5}, {"params.safetensors": {"size": 5}},
                   {"params.safetensors": {"size": -1, "sha256": ""}},
                   {"params.safetensors": {"size": 1, "sha256": 2}}]),
    ],
)  # fmt: skip
def test_missing_or_invalid_fields_raise(saved, field, values):
    change(saved, **{field: "GONE"})
    with pytest.raises(LudusError, match=f'has no field "{field}"'):
        load(saved)
    for value in values:
        change(saved, **{field: value})
        with pytest.raises(LudusError, match=f'"{field}" should be '):
            load(saved)


def test_unknown_fields_and_formats(saved):
    change(saved, surprise=1)
    with pytest.raises(LudusError, match='has the unknown field "surprise"'):
        load(saved)
    for value in (2, 0, "1", None, [], "x" * 1000):
        change(saved, surprise="GONE", format=value)
        with pytest.raises(LudusError, match=r"has the format .{1,70}, but ludus .* reads 1; use the version"):
            load(saved)
    for value in (True, 1.0):
        change(saved, format=value)
        with pytest.raises(LudusError, match='"format" should be a whole number'):
            load(saved)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "is not valid JSON"),
        (b"\xff\xfe", "is not valid JSON"),
        (b"[" * 100_000, "is not valid JSON"),
        (b'{"format": 1, "score": NaN}', "is not valid JSON"),
        (b'{"format": ' + b"1" * 5000 + b"}", "is not valid JSON"),
        (b"[]", r"should be a JSON object, not \[\]"),
        (b" " * (2**24 + 1), "larger than 16777216 bytes"),
    ],
)
def test_invalid_json_raises(saved, text, words):
    (saved / "manifest.json").write_bytes(text)
    for read in (load, read_manifest):
        with pytest.raises(LudusError, match=words):
            read(saved)


def test_total_size_is_limited(saved):
    total = sum((saved / name).stat().st_size for name in ("params.safetensors", "learner.safetensors"))
    load(saved, limit=total)
    with pytest.raises(LudusError, match=f"has {total} bytes of arrays, more than the limit of {total - 1}"):
        load(saved, limit=total - 1)
    change(saved, files={"params.safetensors": {"sha256": "", "size": 2**62}})
    with pytest.raises(LudusError, match="increase the limit"):
        load(saved)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, make):
    return save(tmp_path_factory.mktemp("run"), 1, make())


@given(st.binary(max_size=64), st.booleans())
def test_bytes_with_a_valid_checksum_are_validated(hostile, data, framed):
    put(hostile, "params.safetensors", len(data).to_bytes(8, "little") + data if framed else data)
    with pytest.raises(LudusError, match=r'params\.safetensors" does not contain arrays'):
        load(hostile)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, "does not contain arrays"),
        ({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 2**60]}}, "does not contain arrays"),
        ({"a": {"dtype": "F32", "shape": [0, 2**62], "data_offsets": [0, 0]}}, "does not contain arrays"),
        ({"a": {"dtype": "F32", "shape": [1] * 100, "data_offsets": [0, 4]}}, "does not contain arrays"),
        ({"a": {"dtype": "O", "shape": [1], "data_offsets": [0, 4]}}, "does not contain arrays"),
        (
            {"a": {"dtype": "F8_E8M0", "shape": [4], "data_offsets": [0, 4]}},
            "the type F8_E8M0, which ludus does not support",
        ),
        ({"a\x1b": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, "an array with the name"),
    ],
)
def test_inconsistent_headers_raise(saved, header, words):
    end = next(iter(header.values()))["data_offsets"][1]
    put(saved, "params.safetensors", tensors(header, bytes(min(end, 4))))
    with pytest.raises(LudusError, match=words):
        load(saved)


def test_missing_ml_dtypes_raises(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    put(saved, "params.safetensors", tensors({"a": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}, bytes(4)))
    with pytest.raises(LudusError, match="bfloat16 arrays, which need ml_dtypes: pip install ml_dtypes"):
        load(saved)
