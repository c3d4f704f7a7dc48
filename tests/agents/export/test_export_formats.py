"""Every kind of agent in every format: the file decides as the agent does, and says what it is."""

import asyncio
import importlib.util
import json
import zipfile

import numpy as np
import pytest
from small_agents import KINDS, made, of_network

from ludus import agents
from ludus.agents import checkpoint, export, exported
from ludus.agents.export import formats, metadata, recording
from ludus.agents.export.agents import model_of
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.agents.trained import count_parameters
from ludus.bridges import open_pool
from ludus.evaluation import scores
from ludus.server.service import Service
from ludus.server.stores.memory import MemoryStore
from ludus.types import LudusError, Step

PACKAGES = {"onnx": ("onnx", "onnxruntime"), "tflite": ("litert_converter", "ai_edge_litert")}


def needs(name):
    """Skip a test if the packages of a format are missing."""
    missing = [package for package in PACKAGES.get(name, ()) if importlib.util.find_spec(package) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: {formats.find(name).NEEDS}")


@pytest.fixture(scope="session")
def file_of(agent_of, tmp_path_factory):
    """Exports each agent once in each format."""
    known = {}

    def write(kind, name, **settings):
        key = kind, name, *settings.items()
        if key not in known:
            needs(name)
            form = formats.find(name)
            path = tmp_path_factory.mktemp("exported") / f"{kind}{form.SUFFIX}"
            settings = {"batch": None if form.DYNAMIC else 1, **settings}
            known[key] = export.write(form, agent_of(kind), path, **settings)
        return known[key]

    return write


# Every kind in ONNX, which ludus writes itself; in other formats those with operations of their own.
CASES = [(kind, "onnx") for kind in KINDS]
CASES += [(kind, "stablehlo") for kind in ("continuous", "rwkv", "transformer", "world_model", "table")]
CASES += [(kind, "flax") for kind in ("mlp", "lstm", "world_model", "table")]
CASES += [(kind, "tflite") for kind in ("lstm", "transformer", "continuous", "table")]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_file_decides_as_its_agent(kind, name, file_of, agent_of):
    check_file(kind, file_of(kind, name), agent_of(kind))


def check_file(kind, written, agent):
    """Play the file and the agent side by side on games that the export has not seen."""
    assert written.metadata.check.max_error <= 1e-4
    assert written.metadata.check.agreement == 1.0
    loaded = exported.load(written.path)
    assert loaded.metadata == written.metadata
    pool = open_pool(loaded.metadata.game, 3, 77, threads=1)
    rows = len(pool.step.seat)
    theirs, ours = agent.memory(rows), loaded.memory(rows)
    for number in range(12):
        decision, ours = loaded.act((), ours, pool.step, number)
        wanted, theirs = agent.act(agent.params, theirs, pool.step, number)
        np.testing.assert_allclose(decision.value, wanted.value, atol=1e-4)
        if loaded.metadata.actions is None:
            np.testing.assert_allclose(decision.action, wanted.action, atol=1e-4)
        elif kind == "table":
            np.testing.assert_array_equal(loaded.choices((), pool.step), agent.choices(agent.params, pool.step))
        else:
            np.testing.assert_array_equal(decision.action, wanted.action)
            np.testing.assert_allclose(decision.log_prob, wanted.log_prob, atol=1e-4)
        pool.advance(pool.random_actions(number))


def test_a_file_says_what_it_is(file_of):
    found = exported.read_metadata(file_of("lstm", "onnx").path)
    assert (found.game, found.seats, found.actions, found.memory, found.batch) == ("tictactoe", 2, 9, "lstm", None)
    assert found.action_names[0] == open_pool("tictactoe", 1).action_name(0)
    assert [port.name for port in found.inputs] == [
        "board",
        "mask",
        "seat",
        "first",
        *(f"memory_{i}" for i in range(4)),
    ]
    board = found.inputs[0]
    assert (board.shape, board.dtype, board.low, board.high) == ((9,), "int32", 0.0, 2.0)
    assert found.check.steps == recording.STEPS
    assert found.trained["steps"] == 1000


@pytest.mark.parametrize(("kind", "name"), [("lstm", "onnx"), ("lstm", "tflite"), ("table", "stablehlo")])
def test_a_served_file_decides_as_its_agent(kind, name, file_of, agent_of):
    """With memory kept by the server, also for files that take one row at a time."""
    written, agent = file_of(kind, name), agent_of(kind)
    boards = [[0] * 9, [1, 2, 0, 0, 0, 0, 0, 0, 0], [1, 2, 1, 2, 0, 0, 0, 0, 0]]

    async def answers():
        service = Service([f"file={written.path}"], MemoryStore())
        await service.start()
        sessions = [await service.open_session("file") for _ in range(3)]
        found = [await asyncio.gather(*[service.act(one.id, index, board) for one in sessions])
                 for index, board in enumerate(boards)]  # fmt: skip
        (about,) = service.describe()
        await service.close()
        return found, about

    found, about = asyncio.run(answers())
    assert about.parameters == count_parameters(agent.params) == written.metadata.trained["parameters"] > 0
    player, memory = exported.load(written.path), agent.memory(1)
    for index, (board, row) in enumerate(zip(boards, found, strict=True)):
        step = step_of(board, index == 0, player.spec)
        decision, memory = agent.act(agent.params, memory, step, 0)
        assert {one.index for one in row} == {index + 1} and not any(one.degraded for one in row)
        assert all(abs(one.value - decision.value[0, 0]) < 1e-4 for one in row)
        if kind == "lstm":
            assert {one.action for one in row} == {int(decision.action[0])}


def step_of(board, first, spec):
    """One row of tic-tac-toe as seat 0 sees it, with all squares free."""
    flags = (np.zeros(1, np.int64), np.zeros((1, spec.seats)), np.ones(1), np.array([first]))
    return Step({"board": np.array([board])}, np.ones((1, 9), bool), *flags)


def test_unused_inputs_are_left_out(file_of):
    names = [port.name for port in exported.read_metadata(file_of("mlp", "onnx").path).inputs]
    assert names == ["board", "mask", "seat"]
    assert [port.name for port in file_of("continuous", "onnx").metadata.inputs] == ["sensors"]


def test_onnx_by_itself(file_of, agent_of):
    """The metadata is readable by onnxruntime alone, and the file takes any number of rows."""
    needs("onnx")
    import onnxruntime

    session = onnxruntime.InferenceSession(file_of("mlp", "onnx").path, providers=["CPUExecutionProvider"])
    assert json.loads(session.get_modelmeta().custom_metadata_map["ludus"])["game"] == "tictactoe"
    for rows in (1, 5):
        inputs = {
            "board": np.zeros((rows, 9), np.int32),
            "mask": np.ones((rows, 9), bool),
            "seat": np.zeros(rows, np.int32),
        }
        names = [output.name for output in session.get_outputs()]
        outputs = dict(zip(names, session.run(None, inputs), strict=True))
        np.testing.assert_allclose(outputs["probabilities"].sum(axis=1), 1.0, atol=1e-5)
        assert outputs["value"].shape == (rows, 2)


def test_tflite_is_followed_by_a_zip(file_of):
    with zipfile.ZipFile(file_of("lstm", "tflite").path) as archive:
        assert json.loads(archive.read("ludus_metadata.json"))["game"] == "tictactoe"


def test_flax_reads_the_parameters(file_of, agent_of):
    from flax import serialization

    tree = serialization.msgpack_restore(file_of("mlp", "flax").path.read_bytes())
    assert json.loads(tree.pop("ludus"))["network"] == "MLPAgent"
    for name, array in checkpoint.flatten(dict(agent_of("mlp").params)).items():
        np.testing.assert_array_equal(checkpoint.flatten(tree)[name], array)


@pytest.mark.parametrize("name", ["onnx", "stablehlo", "tflite"])
def test_a_fixed_number_of_rows(name, file_of):
    """A file for 2 rows plays any number of them, in parts."""
    written = file_of("lstm", name, batch=2)
    assert written.metadata.batch == 2
    loaded = exported.load(written.path)
    assert all(port.name in loaded.outputs(loaded.memory(5), open_pool("tictactoe", 5, 0).step)
               for port in written.metadata.outputs)  # fmt: skip


@pytest.mark.parametrize(("name", "quantize"), [
    ("onnx", "float16"), ("onnx", "int8"), ("stablehlo", "int8"), ("tflite", "int8"), ("tflite", "float16"),
    ("flax", "float16"),
])  # fmt: skip
def test_quantized_files_are_smaller_and_close(name, quantize, file_of):
    exact, small = file_of("transformer", name), file_of("transformer", name, quantize=quantize)
    assert small.size < exact.size
    assert 0 < small.metadata.check.max_error < (0.01 if quantize == "float16" else 0.3)
    assert exported.load(small.path).metadata.quantize == quantize


@pytest.mark.parametrize("name", ["onnx", "stablehlo", "flax", "tflite"])
def test_a_file_plays_by_its_name(name, file_of, monkeypatch):
    path = file_of("table", name).path
    monkeypatch.chdir(path.parent)
    assert agents.is_path(path.name)
    agent, opponent = agents.load(path.name, "tictactoe"), agents.load("random", "tictactoe")
    result = scores.match("tictactoe", [(agent, ()), (opponent, opponent.init(agent.spec, 0))], 20, 1)
    assert result.wins + result.draws + result.losses == 20
    assert agents.game_of(path) == "tictactoe"


def test_bound_agents_of_files(file_of):
    import ludus

    agent = ludus.load(file_of("mlp", "onnx").path)
    assert agent.game == "tictactoe"
    assert agent.act(np.zeros(9), mask=[0, 0, 0, 1, 0, 0, 0, 0, 0]) == 3


def test_choices_of_an_agent_with_memory(file_of):
    with pytest.raises(LudusError, match="depend on earlier steps"):
        exported.load(file_of("lstm", "onnx").path).choices((), open_pool("tictactoe", 1).step)


@pytest.mark.parametrize("name", ["onnx", "stablehlo", "flax", "tflite"])
def test_damaged_files(name, file_of, tmp_path):
    whole = file_of("table", name).path.read_bytes()
    path = tmp_path / f"bad{formats.find(name).SUFFIX}"
    middle = len(whole) // 2
    damaged = [b"", whole[:middle], whole[:-10], b"\x00" * 500, b"hello " * 100, bytes(range(256)) * 8]
    if name != "flax":  # parameters have no checksum
        damaged.append(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
    for data in damaged:
        path.write_bytes(data)
        with pytest.raises(LudusError, match="export"):
            exported.load(path)


def test_files_of_other_games_and_versions(file_of, tmp_path):
    written = file_of("mlp", "onnx")
    with pytest.raises(LudusError, match="plays tictactoe, not connect4"):
        agents.load(str(written.path), "connect4")
    form, path = formats.find("onnx"), tmp_path / "other.onnx"
    facts = json.loads(metadata.encode(written.metadata))
    cases = (
        ({"fingerprint": "0"}, "another version"), ({"seats": 0}, "cannot be read"), ({"format": 9}, "cannot be read"),
        ({"inputs": facts["inputs"][:1]}, "not those of its metadata"), ({"outputs": []}, "not those of an agent"),
    )  # fmt: skip
    for change, message in cases:
        path.write_bytes(form.attach(written.path.read_bytes(), json.dumps(facts | change).encode()))
        with pytest.raises(LudusError, match=message):
            exported.load(path)


def test_missing_files():
    with pytest.raises(LudusError, match='cannot read "nothing'):
        agents.load("nothing.onnx", "tictactoe")
    with pytest.raises(LudusError, match="not an exported agent"):
        exported.read_metadata("nothing.txt")


def test_requests_that_a_format_cannot_express(tmp_path):
    run = agents.shipped("tictactoe")
    for settings, message in (
        ({"out": "a.onnx", "format": "tflite"}, "must end with .tflite"),
        ({"out": "a.txt"}, "does not end with a known format"),
        ({"out": "a.onnx", "format": "coreml"}, "unknown format"),
        ({"out": "a.onnx", "batch": 0}, "from 1 to"),
        ({"out": "a.msgpack", "quantize": "int8"}, "cannot store weights as int8"),
        ({"out": "a.msgpack", "batch": 3}, "no number of rows"),
        ({"out": "none/a.onnx"}, "does not exist"),
    ):
        with pytest.raises(LudusError, match=message):
            export.export(run, tmp_path / settings.pop("out"), **settings)
    assert list(tmp_path.iterdir()) == []


def test_hashed_tables_cannot_be_exported(tmp_path):
    from ludus.agents.tabular import TabularAgent

    pool = open_pool("connect4", 1, threads=1)
    agent = TabularAgent.of(pool)
    table = made("hashed", {"kind": "tabular"}, agent, agent.init(pool.spec, 0), pool)
    with pytest.raises(LudusError, match="found by hash"):
        export.write(formats.find("onnx"), table, tmp_path / "a.onnx")


def test_unknown_kinds_of_agents(agent_of):
    with pytest.raises(LudusError, match='kind "mine" cannot be exported'):
        model_of({"kind": "mine"}, None, None, None)


def test_a_file_that_differs_is_not_written(agent_of, tmp_path, monkeypatch):
    form = formats.find("stablehlo")
    other = model_of(agent_of("mlp").manifest.agent, agent_of("mlp").agent, _doubled(agent_of("mlp").params),
                     open_pool("tictactoe", 1))  # fmt: skip
    right = form.write
    monkeypatch.setattr(form, "write", lambda model, *rest: right(other, *rest))
    with pytest.raises(LudusError, match="differs from the agent"):
        export.write(form, agent_of("mlp"), tmp_path / "wrong.stablehlo")
    assert list(tmp_path.iterdir()) == []


def _doubled(params):
    import jax

    return jax.tree.map(lambda array: 2 * array + 0.1, params)


@pytest.mark.parametrize("game", ["balatro", "duel"])
def test_networks_of_games(game, tmp_path):
    """BalatroNet counts with bits; DuelNet reads features that the file's agent computes."""
    needs("onnx")
    written = export.write(formats.find("onnx"), of_network(game, game, MLPArgs(width=8)), tmp_path / f"{game}.onnx")
    assert written.metadata.features == (game == "duel")
    pool = open_pool(game, 2, 5, threads=1)
    decision, _ = exported.load(written.path).act((), (), pool.step, 0)
    assert np.take_along_axis(pool.step.mask, np.asarray(decision.action)[:, None], axis=1).all()
