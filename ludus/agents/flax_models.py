"""Models of the reference project: a msgpack file of Flax parameters, and the numbers that they have for cards.

The file says nothing about the network, so its settings are derived from the shapes of the arrays. A checkpoint of an
imported model keeps the arrays as they are, and the official code of the card in each row of the table of embeddings;
when it is loaded for a game, the rows are put into the order of that game's card numbers.
"""

from __future__ import annotations

import math
import pathlib
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ludus.agents.neural.networks.settings import Memory, ModelArgs
from ludus.types import Array, Discrete, JsonObject, LudusError

LARGEST_FILE, LARGEST_LIST = 2**30, 2**24
MOST_IDS = 2**16 - 1
"""ids are two bytes of an observation, and 0 is unknown"""
DEEPEST = 16
NDARRAY = 1
"""the type of msgpack extensions that Flax uses for arrays"""
NAME = re.compile(r"\w{1,64}", re.ASCII)
CELLS: dict[Memory, str] = {"lstm": "OptimizedLSTMCell_0", "gru": "GRUCell_0"}
TABLE, CODES = "Encoder_0/Embed_0/embedding", "cards/codes"
RECURRENT = ("OptimizedLSTMCell_0/hf/kernel", "GRUCell_0/hn/kernel")
PARAMS = "params/"
"""the collection of all parameters, in the names of a checkpoint"""
ADVICE = "give a .flax_model file that the reference project has written for duels"


class Embeddings(NamedTuple):
    """Rows of a table of card embeddings."""

    codes: tuple[int, ...]
    """the official code of the card in each row"""
    rows: Array
    """[cards, D]"""


def read(path: pathlib.Path) -> dict[str, Array]:
    """The parameters in a .flax_model file by name, such as `Critic_0/Dense_0/bias`."""
    try:
        import msgpack  # type: ignore[import-untyped]
    except ImportError:
        raise LudusError("reading this file needs msgpack, which comes with Flax: pip install 'ludus[deep]'") from None
    data = _contents(path, LARGEST_FILE)
    try:
        limits = {"max_map_len": 10_000, "max_array_len": 10_000, "max_str_len": 1_000}
        tree = msgpack.unpackb(data, ext_hook=_array_of, strict_map_key=True, **limits)
    except LudusError as error:
        raise LudusError(f'"{path}": {error}; {ADVICE}') from None
    except (ValueError, TypeError, OverflowError, msgpack.UnpackException) as error:
        raise LudusError(f'"{path}" is not a whole file of Flax parameters ({_short(error)}); {ADVICE}') from None
    try:
        return _parameters(tree)
    except LudusError as error:
        raise LudusError(f'"{path}": {error}; {ADVICE}') from None


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:100]


def _contents(path: pathlib.Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise LudusError(f'cannot read "{path}": {error.strerror}; check the path') from None
    if len(data) > limit:
        raise LudusError(f'"{path}" has more than {limit} bytes, the limit for such a file; give a smaller one')
    return data


def _array_of(kind: int, data: bytes) -> Array:
    """The array in an extension of msgpack: shape, name of the type and values."""
    import msgpack

    if kind != NDARRAY:
        raise LudusError(f"it contains a value of the extension type {kind}, but only arrays are supported")
    content = msgpack.unpackb(data, strict_map_key=True)
    if not (isinstance(content, list) and len(content) == 3 and isinstance(content[2], bytes)):
        raise LudusError("it contains an array that is not shape, type and values")
    shape, name, values = content
    if name != "float32":
        raise LudusError(f"it contains an array of the type {str(name)[:20]!r}, but only float32 is supported")
    known = isinstance(shape, list) and len(shape) <= 4 and all(type(size) is int and size > 0 for size in shape)
    if not known or 4 * math.prod(shape) != len(values):
        raise LudusError(f"it contains an array of {len(values)} bytes that do not fit its shape {str(shape)[:40]}")
    array: Array = np.frombuffer(values, "<f4").reshape(shape).astype(np.float32)
    if not np.isfinite(array).all():
        raise LudusError("it contains an array with NaN or infinity")
    return array


def _parameters(tree: object) -> dict[str, Array]:
    """The arrays of `params` by name; raises LudusError for other content."""
    if not (isinstance(tree, dict) and isinstance(tree.get("params"), dict)):
        raise LudusError('it has no map "params"')
    if tree.get("batch_stats"):
        raise LudusError("it was made with batch_norm=True, which is not supported")
    return dict(_leaves(tree["params"], ()))


def _leaves(tree: Mapping[str, Any], prefix: tuple[str, ...]) -> list[tuple[str, Array]]:
    found: list[tuple[str, Array]] = []
    for key, value in tree.items():
        names = (*prefix, key)
        if not NAME.fullmatch(key) or len(names) > DEEPEST:
            raise LudusError(f'it has the unknown part "{"/".join(names)[:60]!a}"')
        if isinstance(value, dict):
            found += _leaves(value, names)
        elif isinstance(value, np.ndarray):
            found.append(("/".join(names), value))
        else:
            raise LudusError(f'"{"/".join(names)}" is not an array')
    return found


def arguments(arrays: Mapping[str, Array]) -> ModelArgs:
    """The settings of the network with these parameters; raises LudusError for options that are not supported."""
    shapes = {name: array.shape for name, array in arrays.items()}
    channels = _size(shapes, "Encoder_0/g_card_embed", 1)
    _check_options(shapes, channels)
    inputs = _size(shapes, "FiLMActor_0/Dense_0/kernel", 0)
    memory: Memory = next((kind for kind, cell in CELLS.items() if _has(shapes, cell)), "none")
    args = ModelArgs(
        reference=True, num_channels=channels, rnn_type=memory, rnn_channels=inputs,
        num_layers=_count(shapes, "Encoder_0/LlamaEncoderLayer_{}/ln_1/scale") - 1,
        critic_depth=_count(shapes, "Critic_0/MLP_0/Dense_{}/kernel"),
        critic_width=_size(shapes, "Critic_0/Dense_0/kernel", 0),
        embedding_shape=(_size(shapes, TABLE, 0) - 1, _size(shapes, TABLE, 1)),
    )  # fmt: skip
    _check_shapes(shapes, args)
    return args


def _has(shapes: Mapping[str, tuple[int, ...]], part: str) -> bool:
    return any(name.startswith(f"{part}/") for name in shapes)


def _size(shapes: Mapping[str, tuple[int, ...]], name: str, axis: int) -> int:
    """One dimension of an array that every supported model has."""
    shape = shapes.get(name)
    if shape is None or len(shape) != 2:
        raise LudusError(f'its "{name}" is {"missing" if shape is None else f"of shape {list(shape)}"}; {ADVICE}')
    return shape[axis]


def _count(shapes: Mapping[str, tuple[int, ...]], pattern: str) -> int:
    number = 0
    while pattern.format(number) in shapes:
        number += 1
    return number


def _check_options(shapes: Mapping[str, tuple[int, ...]], channels: int) -> None:
    """Raise LudusError that names the option for models of other options than the supported ones."""
    tops = {name.partition("/")[0] for name in shapes}
    known = {"Encoder_0", "FiLMActor_0", "Critic_0", *CELLS.values()}
    found = {
        "film=False": "Actor_0" in tops,
        "batch_norm=True": "CrossCritic_0" in tops,
        "q_head=True": "Critic_0" not in tops and "CrossCritic_0" not in tops,
        "int_head=True": "Critic_1" in tops,
        "rnn_type=rwkv": any("rwkv" in name.lower() for name in tops),
        f"the part {min(tops - known, default='')}": bool(tops - known),
        "noam=False": not _has(shapes, "Encoder_0/LlamaEncoderLayer_0"),
        "version=1": not _has(shapes, "Encoder_0/GLUMlp_1"),
        "use_history=False": not _has(shapes, "Encoder_0/Embed_1"),
    }
    for option, is_used in found.items():
        if is_used:
            _refuse(option)
    state = _size(shapes, "Encoder_0/GLUMlp_1/gate/kernel", 0)
    heads = [_size(shapes, f"{head}/kernel", 0) for head in ("FiLMActor_0/Dense_0", "Critic_0/MLP_0/Dense_0")]
    cell = next((shape[1] for name, shape in shapes.items() if name.endswith(RECURRENT)), 4 * channels)
    if state == 3 * channels:
        _refuse("action_feats=False")
    if heads == [cell + channels] * 2:
        _refuse("rnn_shortcut=True")
    if heads[1] > heads[0]:
        _refuse("oppo_info=True")


def _refuse(option: str) -> None:
    raise LudusError(f"this model was made with {option}, which is not supported; docs/agents.md lists what is")


def _check_shapes(shapes: Mapping[str, tuple[int, ...]], args: ModelArgs) -> None:
    """Raise LudusError unless the network of these settings has exactly these parameters."""
    wanted = _shapes_of(args)
    for name in sorted(wanted.keys() | shapes.keys()):
        if shapes.get(name) != wanted.get(name):
            found, should = (
                "missing" if shape is None else list(shape) for shape in (shapes.get(name), wanted.get(name))
            )
            raise LudusError(f'"{name}" is {found} but should be {should}; {ADVICE}')


def _shapes_of(args: ModelArgs) -> dict[str, tuple[int, ...]]:
    from flax.traverse_util import flatten_dict

    from ludus.agents.neural.networks import shapes_of
    from ludus.agents.neural.networks.games.duel import LAYOUT, REFERENCE

    assert LAYOUT.actions
    variables = shapes_of(REFERENCE(LAYOUT, args, 1, Discrete(LAYOUT.actions.count)))
    return {name: leaf.shape for name, leaf in flatten_dict(variables["params"], sep="/").items()}


def read_codes(path: pathlib.Path) -> tuple[int, ...]:
    """The card codes of a list in the order of their ids, from 1: the first number of each line."""
    codes: dict[int, int] = {}
    lines = _contents(path, LARGEST_LIST).decode("ascii", "replace").rstrip().splitlines()
    for number, line in enumerate(lines, start=1):
        word = next(iter(line.split()), "")
        if not (word.isdigit() and 0 < int(word) < 2**32):
            raise LudusError(f'"{path}", line {number}: {line[:40]!r} does not begin with the code of a card')
        if int(word) in codes:
            raise LudusError(f'"{path}", line {number} repeats the card {word} of line {codes[int(word)]}; remove one')
        codes[int(word)] = number
    if not 0 < len(codes) <= MOST_IDS:
        raise LudusError(f'"{path}" has {len(codes)} lines; a list of cards has 1 to {MOST_IDS}')
    return tuple(codes)


def read_embeddings(path: pathlib.Path, codes: Sequence[int] = ()) -> Embeddings:
    """A table of embeddings: an .npz file of `codes` [n] and `embeddings` [n, D], or .npy for cards of given codes."""
    found = _arrays(path)
    rows = found.get("embeddings")
    if "codes" in found and not codes:
        codes = _checked_codes(path, found["codes"])
    if not codes:
        raise LudusError(f'"{path}" has no array "codes"; add one, or give the cards of its rows with --code-list')
    if rows is None or rows.dtype.kind != "f" or rows.shape[:1] != (len(codes),) or rows.ndim != 2:
        there = "missing" if rows is None else f"{rows.dtype} {list(rows.shape)}"
        raise LudusError(f'"embeddings" of "{path}" is {there}; it should be floats [{len(codes)}, dimensions]')
    table: Array = rows.astype(np.float32)
    if not np.isfinite(table).all():
        raise LudusError(f'"embeddings" of "{path}" contains NaN or infinity; fix the table')
    return Embeddings(tuple(codes), table)


def _checked_codes(path: pathlib.Path, codes: Array) -> tuple[int, ...]:
    kinds = codes.dtype.kind in "iu" and codes.ndim == 1
    if not kinds or not 0 < len(codes) <= MOST_IDS or len(set(codes.tolist())) != len(codes) or codes.min() < 1:
        raise LudusError(f'"codes" of "{path}" should be 1 to {MOST_IDS} different codes of cards; fix the table')
    return tuple(codes.tolist())


def _arrays(path: pathlib.Path) -> dict[str, Array]:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                if sum(member.file_size for member in packed.infolist()) > LARGEST_FILE:
                    raise LudusError(f'"{path}" has more than {LARGEST_FILE} bytes; give a smaller table')
        elif path.stat().st_size > LARGEST_FILE:
            raise LudusError(f'"{path}" has more than {LARGEST_FILE} bytes; give a smaller table')
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"embeddings": loaded}
        with loaded:
            return {name: loaded[name] for name in ("codes", "embeddings") if name in loaded}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, NotImplementedError, zlib.error) as error:
        raise LudusError(
            f'cannot read "{path}" as .npz or .npy ({_short(error)}); numpy.savez writes such a file'
        ) from None


def with_embeddings(arrays: dict[str, Array], given: Embeddings) -> dict[str, Array]:
    """The parameters with another table; the row of unknown cards stays as it is."""
    table = arrays[TABLE]
    if given.rows.shape[1] != table.shape[1]:
        raise LudusError(
            f"the embeddings have {given.rows.shape[1]} dimensions, but the model reads {table.shape[1]}; "
            "give the table that the model was trained with"
        )
    return arrays | {TABLE: np.concatenate([table[:1], given.rows])}


def stored(arrays: Mapping[str, Array], codes: Sequence[int]) -> tuple[ModelArgs, dict[str, Array]]:
    """The settings of the network and the parameters for a checkpoint, for cards of these codes in rows 1, 2, …"""
    args = arguments(arrays)
    rows = len(arrays[TABLE]) - 1
    if len(codes) > rows:
        raise LudusError(
            f"the list has {len(codes)} cards, but the model's table has {rows} rows for cards; "
            "give the list that the model was trained with"
        )
    named = {PARAMS + name: array for name, array in arrays.items()}
    return args, named | {CODES: np.array(codes, np.int64)}


def numbers_of(codes: Array, game: str) -> dict[int, int]:
    """The number of each card by its code: first the cards of the game, then others that the model knows."""
    from ludus.bridges.ygopro.settings import card_numbers  # imports the tables of all cards

    numbers = card_numbers(game)
    others = sorted(set(codes.tolist()) - numbers.keys())
    return numbers | {code: number for number, code in enumerate(others, start=max(numbers.values(), default=0) + 1)}


def numbered(agent: JsonObject, arrays: Mapping[str, Array], game: str) -> tuple[JsonObject, dict[str, Array]]:
    """The description and the parameters of an imported agent with the rows in the order of the game's card numbers."""
    params = dict(arrays)
    codes, table = params.pop(CODES), params[PARAMS + TABLE]
    row_of = {code: row for row, code in enumerate(codes.tolist(), start=1)}
    numbers = numbers_of(codes, game)
    rows = np.zeros(max(numbers.values()) + 1, np.int64)
    if len(codes) >= len(table) or len(rows) > MOST_IDS + 1:
        raise LudusError("the table of this checkpoint does not fit its list of cards; import the model again")
    for code, number in numbers.items():
        rows[number] = row_of.get(code, 0)
    params[PARAMS + TABLE] = table[rows]
    return agent | {"args": agent["args"] | {"embedding_shape": [len(rows) - 1, table.shape[1]]}}, params
