"""Import of models of the reference project: files, lists of cards, and the agents that come of them."""

import contextlib
import lzma
import pathlib
import sqlite3

import jax
import msgpack
import numpy as np
import pytest
from flax.serialization import to_bytes
from flax.traverse_util import flatten_dict, unflatten_dict
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus import agents
from ludus.agents import export, exported, flax_models, trained
from ludus.agents.export import formats
from ludus.agents.neural.networks import shapes_of
from ludus.agents.neural.networks.games.duel import LAYOUT, REFERENCE
from ludus.agents.neural.networks.settings import ModelArgs
from ludus.algorithms.ppo import PPO, checkpoints
from ludus.bridges import open_pool
from ludus.bridges.ygopro.settings import card_numbers
from ludus.cli import run as command
from ludus.evaluation import inspection
from ludus.training import folder as folders
from ludus.training.import_model import import_model
from ludus.types import Discrete, LudusError

DATA = pathlib.Path(__file__).parents[1] / "data"
FILE = lzma.decompress((DATA / "reference_small_film.flax_model.xz").read_bytes())
UNKNOWN_CARD = 4_000_000_000
CODES = (UNKNOWN_CARD, *sorted(card_numbers("duel"))[::-2])
"""codes of cards in another order than in our duel, and one that our duel has not"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model and its list of cards."""
    place = tmp_path_factory.mktemp("model")
    (place / "small.flax_model").write_bytes(FILE)
    (place / "codes.txt").write_text("".join(f"{code} 1\n" for code in CODES))
    return place / "small.flax_model", place / "codes.txt"


@pytest.fixture(scope="module")
def arrays(files):
    return flax_models.read(files[0])


@pytest.fixture(scope="module")
def run(files, tmp_path_factory):
    made = import_model(files[0], tmp_path_factory.mktemp("runs"), files[1])
    assert made[1:] == (107_556, len(CODES), len(CODES) - 1)
    return made.folder


@pytest.fixture(scope="module")
def agent(run):
    return trained.load(run)


def packed(arrays):
    return to_bytes({"params": unflatten_dict(dict(arrays), sep="/"), "batch_stats": {}})


def refused(tmp_path, arrays, message):
    path = tmp_path / "changed.flax_model"
    path.write_bytes(packed(arrays))
    with pytest.raises(LudusError, match=message):
        flax_models.arguments(flax_models.read(path))


def test_settings_are_derived_from_shapes(arrays):
    assert flax_models.arguments(arrays) == ModelArgs(
        reference=True, num_layers=1, num_channels=32, rnn_channels=48, critic_width=24, critic_depth=2,
        embedding_shape=(200, 40),
    )  # fmt: skip


@pytest.mark.parametrize(
    "args",
    [
        ModelArgs(reference=True, embedding_shape=(300, 1024)),
        ModelArgs(reference=True, rnn_type="gru", num_layers=3, num_channels=48, embedding_shape=(20, 8)),
        ModelArgs(reference=True, rnn_type="none", num_channels=32, rnn_channels=128, embedding_shape=(20, 8)),
    ],
)
def test_settings_of_other_networks_are_derived(args):
    params = shapes_of(REFERENCE(LAYOUT, args, 1, Discrete(24)))["params"]
    assert flax_models.arguments(flatten_dict(params, sep="/")) == args


def renamed(arrays, old, new):
    return {name.replace(old, new): array for name, array in arrays.items()}


def without(arrays, part):
    return {name: array for name, array in arrays.items() if not name.startswith(part)}


@pytest.mark.parametrize(
    ("option", "change"),
    [
        ("film=False", lambda arrays: renamed(arrays, "FiLMActor_0", "Actor_0")),
        ("batch_norm=True", lambda arrays: renamed(arrays, "Critic_0", "CrossCritic_0")),
        ("q_head=True", lambda arrays: without(arrays, "Critic_0")),
        ("int_head=True", lambda arrays: arrays | {"Critic_1/Dense_0/bias": arrays["Critic_0/Dense_0/bias"]}),
        ("rnn_type=rwkv", lambda arrays: renamed(arrays, "OptimizedLSTMCell_0", "Rwkv6SelfAttention_0")),
        ("the part Another_0", lambda arrays: renamed(arrays, "OptimizedLSTMCell_0", "Another_0")),
        ("noam=False", lambda arrays: renamed(arrays, "LlamaEncoderLayer", "EncoderLayer")),
        ("version=1", lambda arrays: without(arrays, "Encoder_0/GLUMlp_1")),
        ("use_history=False", lambda arrays: without(arrays, "Encoder_0/Embed_1")),
    ],
)
def test_unsupported_options_are_named(arrays, tmp_path, option, change):
    refused(tmp_path, change(arrays), f"made with {option}, which is not supported")


@pytest.mark.parametrize(
    ("name", "rows", "option"),
    [
        ("Encoder_0/GLUMlp_1/gate/kernel", 96, "action_feats=False"),
        ("Critic_0/MLP_0/Dense_0/kernel", 128, "oppo_info=True"),
    ],
)
def test_unsupported_widths_are_named(arrays, tmp_path, name, rows, option):
    refused(tmp_path, arrays | {name: np.zeros((rows, arrays[name].shape[1]), np.float32)}, option)


def test_a_shortcut_is_named(arrays, tmp_path):
    heads = ("FiLMActor_0/Dense_0/kernel", "Critic_0/MLP_0/Dense_0/kernel")
    wide = {name: np.zeros((80, arrays[name].shape[1]), np.float32) for name in heads}
    refused(tmp_path, arrays | wide, "rnn_shortcut=True")


def test_missing_and_misshapen_arrays_are_named(arrays, tmp_path):
    refused(tmp_path, without(arrays, "Encoder_0/Dense_7"), '"Encoder_0/Dense_7/kernel" is missing but should be')
    wrong = {"Encoder_0/na_card_embed": np.zeros((2, 32), np.float32)}
    refused(tmp_path, arrays | wrong, r'na_card_embed" is \[2, 32\] but should be \[1, 32\]')
    refused(tmp_path, {"layer/kernel": np.ones((2, 2), np.float32)}, "g_card_embed")
    refused(tmp_path, arrays | {"Critic_0/Dense_0/bias": np.float32([np.nan])}, "NaN")
    refused(tmp_path, arrays | {"Critic_0/Dense_0/bias": np.zeros(1)}, "'float64', but only float32")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a whole file of Flax parameters"),
        (FILE[:-1], "not a whole file of Flax parameters"),
        (FILE + b"\0", "not a whole file of Flax parameters"),
        (b"\x80\x04\x95cposix\nsystem\n.", "not a whole file of Flax parameters"),
        (b"\x91" * 100_000, "not a whole file of Flax parameters"),
        (msgpack.packb([1, 2]), 'no map "params"'),
        (msgpack.packb({"params": {"a": 1}}), '"a" is not an array'),
        (msgpack.packb({"params": {"../a": {}}}), "unknown part"),
        (msgpack.packb({"params": {}, "batch_stats": {"a": 1}}), "batch_norm=True"),
        (msgpack.packb({"params": {"a": msgpack.ExtType(2, b"")}}), "extension type 2"),
        (msgpack.packb({"params": {"a": msgpack.ExtType(1, msgpack.packb([[2**40, 0], "float32", b""]))}}), "shape"),
        (msgpack.packb({"params": {"a": msgpack.ExtType(1, msgpack.packb([[3], "float32", b"1234"]))}}), "4 bytes"),
        (msgpack.packb({"params": {"a": msgpack.ExtType(1, b"\xc1")}}), "not a whole file"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "other.flax_model"
    path.write_bytes(content)
    with pytest.raises(LudusError, match=message):
        flax_models.read(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(LudusError, match="cannot read"):
        flax_models.read(tmp_path / "none")


@settings(max_examples=150)
@given(data=st.data())
def test_changed_files_are_read_or_refused(tmp_path_factory, data):
    """Bytes are changed, inserted and removed, mostly where the structure of the file is."""
    content = bytearray(FILE)
    for _ in range(data.draw(st.integers(1, 4))):
        place = FILE.find(data.draw(st.sampled_from([b"kernel", b"float32", b"Dense_", b"scale", b"params", b"\xc8"])))
        at = min(max(0, place + data.draw(st.integers(-8, 24))), len(content) - 1)
        if data.draw(st.booleans()):
            at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = tmp_path_factory.getbasetemp() / "changed.flax_model"
    path.write_bytes(content)
    with contextlib.suppress(LudusError):
        flax_models.arguments(flax_models.read(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has 0 lines"),
        ("12\n\n13", "line 2: '' does not begin with the code"),
        ("12\n-4", "line 2"),
        ("12\nDark Hole", "line 2"),
        ("12 1\n13 0\n12 1", "line 3 repeats the card 12 of line 1"),
        ("99999999999", "line 1"),
    ],
)
def test_lists_of_cards_are_checked(tmp_path, text, message):
    path = tmp_path / "codes.txt"
    path.write_text(text)
    with pytest.raises(LudusError, match=message):
        flax_models.read_codes(path)


def test_lists_have_one_or_two_columns(tmp_path):
    path = tmp_path / "codes.txt"
    for text in ("55\n12\n", "55 1\r\n12 0\r\n\n"):
        path.write_text(text)
        assert flax_models.read_codes(path) == (55, 12)


def test_a_list_must_fit_the_table(files, tmp_path):
    long = tmp_path / "long.txt"
    long.write_text("".join(f"{code}\n" for code in range(1, 202)))
    with pytest.raises(LudusError, match="the list has 201 cards, but the model's table has 200 rows"):
        import_model(files[0], tmp_path / "runs", long)
    with pytest.raises(LudusError, match="--code-list FILE"):
        import_model(files[0], tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_an_imported_model_is_a_run(run, agent):
    summary = folders.summary(run)
    assert (summary.name, summary.game, summary.checkpoints) == ("duel-0001", "duel", 1)
    assert agent.manifest.algorithm["kind"] == "import"
    assert isinstance(agents.load(str(run), "duel"), trained.Trained)
    with pytest.raises(LudusError, match="cannot be trained further"):
        checkpoints.restore(PPO(), agent.agent, trained.checkpoint.load(agent.path).arrays, 0)


@pytest.fixture(scope="module")
def played(agent):
    """An observation after some moves in four games, and the agent's output for it."""
    pool, memory = open_pool("duel", 4, seed=3), agent.memory(4)
    for number in range(12):
        decision, memory = agent.act(agent.params, memory, pool.step, number)
        pool.advance(decision.action)
    step = pool.step
    pool.close()
    return step, memory


def test_it_plays_our_duel(played):
    step, _ = played
    assert (step.observation["global_"][:, 4] > 0).all()
    assert (step.observation["h_actions_"][:, 0, 3] > 0).any()


def test_cards_have_the_rows_of_the_models_list(agent, arrays, played):
    """The loaded agent decides as the model does for an observation with the ids of its own list."""
    step, memory = played
    row_of = {number: CODES.index(code) + 1 for code, number in card_numbers("duel").items() if code in CODES}
    x = {name: array.copy() for name, array in step.observation.items()}
    for name, at in (("cards_", 0), ("actions_", 1), ("h_actions_", 1)):
        numbers = x[name][..., at].astype(int) * 256 + x[name][..., at + 1]
        rows = np.vectorize(lambda number: row_of.get(number, 0))(numbers)
        assert (numbers > 0).any()
        assert (rows != numbers).any()
        x[name][..., at], x[name][..., at + 1] = rows // 256, rows % 256
    network = REFERENCE(LAYOUT, flax_models.arguments(arrays), 1, Discrete(24))
    variables = {"params": unflatten_dict(arrays, sep="/")}
    seat, first = step.seat.astype(np.int32), step.first
    expected = jax.jit(network.apply)(variables, x, memory, first, seat)
    found = jax.jit(agent.agent.network.apply)(agent.params, dict(step.observation), memory, first, seat)
    for part, known in zip(found[1:3], expected[1:3], strict=True):
        np.testing.assert_allclose(part, known, rtol=1e-5, atol=1e-5)


def test_inspect_shows_it(run):
    facts = inspection.inspect(run)
    assert facts["agent"]["args"]["reference"]
    assert sum(facts["position"]["probabilities"].values()) == pytest.approx(1.0)
    assert "reference True" in inspection.as_text(facts)


@pytest.fixture
def database(tmp_path):
    """A cards.cdb with one card that our duel lacks."""
    path = tmp_path / "cards.cdb"
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        columns = "id, ot, alias, setcode, type, atk, def, level, race, attribute, category"
        base.execute(f"create table datas ({columns})")
        base.execute("create table texts (id, name)")
        base.execute("insert into datas values (4000000000, 1, 0, 0, 17, 0, 0, 4, 1, 1, 0)")
    return path


def test_cards_of_a_database_have_their_rows_too(agent, arrays, run, database):
    """In duel@ygopro, cards have other numbers than in our duel."""
    stored = trained.checkpoint.load(agent.path)
    game = f"duel@ygopro(cards={database})"
    numbers = card_numbers(game)
    assert numbers[UNKNOWN_CARD] == max(card_numbers("duel").values()) + 1
    description, params = flax_models.numbered(stored.manifest.agent, stored.arrays["params"], game)
    table, known = params["params/Encoder_0/Embed_0/embedding"], arrays["Encoder_0/Embed_0/embedding"]
    assert description["args"]["embedding_shape"] == [len(table) - 1, 40]
    np.testing.assert_array_equal(table[numbers[UNKNOWN_CARD]], known[1])
    np.testing.assert_array_equal(table[numbers[CODES[5]]], known[6])
    missing = next(code for code in numbers if code not in CODES)
    np.testing.assert_array_equal(table[numbers[missing]], known[0])
    np.testing.assert_array_equal(table[0], known[0])


def test_given_embeddings_replace_the_table(files, tmp_path, arrays):
    rows = np.random.default_rng(1).normal(size=(3, 40)).astype(np.float32)
    codes = np.array([7, 5, UNKNOWN_CARD])
    np.savez(tmp_path / "table.npz", codes=codes, embeddings=rows)
    np.save(tmp_path / "table.npy", rows)
    (tmp_path / "codes.txt").write_text("\n".join(map(str, codes)))
    given = flax_models.read_embeddings(tmp_path / "table.npz")
    assert given.codes == (7, 5, UNKNOWN_CARD)
    table = flax_models.with_embeddings(arrays, given)["Encoder_0/Embed_0/embedding"]
    np.testing.assert_array_equal(table, np.concatenate([arrays["Encoder_0/Embed_0/embedding"][:1], rows]))
    made = import_model(files[0], tmp_path / "runs", tmp_path / "codes.txt", tmp_path / "table.npy")
    assert made.cards == 3
    np.savez(tmp_path / "narrow.npz", codes=codes, embeddings=rows[:, :8])
    with pytest.raises(LudusError, match="8 dimensions, but the model reads 40"):
        import_model(files[0], tmp_path / "runs", None, tmp_path / "narrow.npz")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"embeddings": np.ones((2, 40))}, "no array"),
        ({"codes": np.array([1, 2])}, "missing"),
        ({"codes": np.array([1, 2]), "embeddings": np.ones((3, 40))}, "should be floats"),
        ({"codes": np.array([1, 1]), "embeddings": np.ones((2, 40))}, "different codes"),
        ({"codes": np.array([1, 2]), "embeddings": np.full((2, 40), np.nan)}, "NaN"),
        ({"codes": np.array(["a", "b"]), "embeddings": np.ones((2, 40))}, "different codes"),
        ({"codes": np.array([1, None], object), "embeddings": np.ones((2, 40))}, "cannot read"),
    ],
)
def test_tables_of_embeddings_are_checked(tmp_path, content, message):
    path = tmp_path / "table.npz"
    np.savez(path, **content)
    with pytest.raises(LudusError, match=message):
        flax_models.read_embeddings(path)


def test_the_command_prints_the_folder(files, tmp_path, capsys):
    command(["import", str(files[0]), "--code-list", str(files[1]), "--out", str(tmp_path), "--json"])
    assert '"parameters": 107556' in capsys.readouterr().out
    with pytest.raises(LudusError, match="cannot read"):
        command(["import", str(tmp_path / "none"), "--out", str(tmp_path)])


@pytest.mark.parametrize("format", ["onnx", "tflite", "flax"])
def test_imported_models_are_exported(format, agent, tmp_path):
    """`write` compares the file with the agent in its own runtime; the file brings the table of the game's cards."""
    form = formats.find(format)
    pytest.importorskip({"onnx": "onnx", "tflite": "litert_converter", "flax": "flax"}[format], reason=form.NEEDS)
    made = export.write(form, agent, tmp_path / f"small{form.SUFFIX}", None if form.DYNAMIC else 1)
    assert made.metadata.check.agreement == 1.0 and made.metadata.memory == "lstm"
    assert made.metadata.agent["args"]["embedding_shape"] == list(agent.agent.network.args.embedding_shape)
    assert exported.load(made.path).metadata == made.metadata
