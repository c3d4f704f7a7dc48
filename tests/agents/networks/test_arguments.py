"""Settings of networks: documented defaults, reading from TOML, and errors for invalid values."""

import dataclasses
import subprocess
import sys
import tomllib

import pytest

from ludus.agents.neural.networks.settings import EncoderArgs, MLPArgs, ModelArgs, head_count, table_shape
from ludus.types import LudusError

DOCUMENTED = {
    "num_layers": 2,
    "num_channels": 128,
    "rnn_channels": 512,
    "rnn_type": "lstm",
    "use_history": True,
    "card_mask": False,
    "noam": True,
    "action_feats": True,
    "version": 2,
    "film": True,
    "oppo_info": False,
    "rnn_shortcut": False,
    "batch_norm": False,
    "critic_width": 128,
    "critic_depth": 3,
    "rwkv_head_size": 32,
    "q_head": False,
    "int_head": False,
    "freeze_id": False,
    "switch": False,
    "embedding_shape": (),
}


def test_defaults_are_those_documented():
    found = dataclasses.asdict(ModelArgs())
    assert {name: found[name] for name in DOCUMENTED} == DOCUMENTED
    assert MLPArgs() == MLPArgs(width=64, depth=2, activation="tanh", shared=False)


@pytest.mark.parametrize("args", [EncoderArgs, ModelArgs, MLPArgs])
def test_arguments_are_hashable_and_frozen(args):
    assert hash(args()) == hash(args())
    with pytest.raises(dataclasses.FrozenInstanceError):
        args().anything = 1


def test_arguments_from_toml():
    text = 'rnn_type = "gru"\nembedding_shape = [500, 64]\nfilm = false\nnum_channels = 256'
    args = ModelArgs(**tomllib.loads(text))
    assert args == ModelArgs(rnn_type="gru", embedding_shape=(500, 64), film=False, num_channels=256)
    assert isinstance(hash(args), int)


def test_encoder_settings_are_a_subset():
    args = ModelArgs(num_channels=64, card_mask=True, freeze_id=True, embedding_shape=7)
    assert args.encoder == EncoderArgs(num_channels=64, card_mask=True, freeze_id=True, embedding_shape=7)


@pytest.mark.parametrize(
    ("shape", "table"), [((), (1000, 1024)), (5, (6, 1024)), ([5], (6, 1024)), ((5, 8), (6, 8)), ([5, 8], (6, 8))]
)
def test_table_has_a_row_for_unknown_ids(shape, table):
    assert table_shape(ModelArgs(embedding_shape=shape)) == table


def test_heads():
    assert [head_count(channels) for channels in (16, 128, 256, 384, 512)] == [2, 2, 2, 3, 4]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_layers": 0}, "num_layers is 0; it must be at least 1"),
        ({"num_channels": -16}, "num_channels is -16; it must be at least 1"),
        ({"num_channels": 100}, "multiple of 16"),
        ({"num_channels": 400}, "cannot be split into 3 heads of even width"),
        ({"num_channels": 128.0}, "num_channels is 128.0; it must be a whole number"),
        ({"num_layers": True}, "num_layers is True; it must be a whole number"),
        ({"film": 1}, "film is 1; it must be true or false"),
        ({"film": "yes"}, "film is 'yes'; it must be true or false"),
        ({"rnn_type": "ltsm"}, 'rnn_type is "ltsm"; did you mean "lstm"?'),
        ({"rnn_type": 3}, 'rnn_type is "3"; it must be one of lstm, gru'),
        ({"version": 3}, "version is 3; it must be 1 or 2"),
        ({"embedding_shape": (0, 4)}, "embedding_shape is (0, 4)"),
        ({"embedding_shape": (1, 2, 3)}, "embedding_shape is (1, 2, 3)"),
        ({"embedding_shape": "many"}, "embedding_shape is 'many'"),
        ({"rnn_type": "rwkv", "rnn_channels": 48}, "not a multiple of rwkv_head_size 32"),
        ({"rnn_type": "transformer", "rnn_channels": 6}, "cannot be split into 2 heads of even width"),
        ({"memory_length": 0}, "memory_length is 0"),
        ({"critic_depth": 0}, "critic_depth is 0"),
        ({"q_head": True, "int_head": True}, "q_head has no critic, so int_head has no effect"),
        ({"q_head": True, "oppo_info": True}, "oppo_info has no effect"),
        ({"switch": True, "oppo_info": True}, "switch and oppo_info cannot be combined"),
    ],
)
def test_invalid_settings_raise(wrong, message):
    with pytest.raises(LudusError) as error:
        ModelArgs(**wrong)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"width": 0}, "width is 0"),
        ({"depth": 0}, "depth is 0"),
        ({"activation": "Relu"}, 'did you mean "relu"?'),
        ({"shared": None}, "shared is None; it must be true or false"),
    ],
)
def test_invalid_mlp_settings_raise(wrong, message):
    with pytest.raises(LudusError) as error:
        MLPArgs(**wrong)
    assert message in str(error.value)


def test_settings_and_layouts_do_not_import_jax():
    script = (
        "import sys; from ludus.agents.neural.networks import layout, settings;"
        "print([name for name in ('jax', 'flax') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
