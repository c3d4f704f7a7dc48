"""Settings of networks, as data for presets; importing this module does not import JAX."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

from ludus.types import LudusError

Memory = Literal["lstm", "gru", "rwkv", "transformer", "none"]
Activation = Literal["tanh", "relu", "silu", "gelu"]

KNOWN_IDS, ID_DIMENSIONS = 999, 1024
"""size of the embedding table if `embedding_shape` is empty; one row is added for unknown ids"""
LOG_DEVIATIONS = (-5.0, 2.0)
"""bounds of the log standard deviation of a Gaussian policy"""


@dataclass(frozen=True)
class EncoderArgs:
    """Settings of the encoder from an observation to one vector."""

    num_layers: int = 2
    """layers of the transformer over entities; 1 or more"""
    num_channels: int = 128
    """width of a token; a multiple of 16, above 256 a multiple of 128"""
    use_history: bool = True
    """read past actions, if the game shows them"""
    card_mask: bool = False
    """mask padding entities in attention, which also allows the agent to cut them off before the computation"""
    noam: bool = True
    """use RMS norms, gated MLPs and no biases instead of the original transformer layers"""
    action_feats: bool = True
    """include a summary of the legal actions in the state"""
    oppo_info: bool = False
    """let the critic read hidden information too"""
    freeze_id: bool = False
    """keep the initial embedding table of ids fixed"""
    embedding_shape: int | tuple[int, ...] = ()
    """number of ids of the embedding table, or (ids, dimensions); () for 999 ids of 1024 dimensions"""
    version: int = 2
    """1 or 2; with 2 a gated MLP processes the global fields, with 1 they are only normalised"""

    def __post_init__(self) -> None:
        check_types(self)
        check_encoder(self)


@dataclass(frozen=True)
class ModelArgs:
    """Settings of an `RNNAgent`."""

    num_layers: int = 2
    """layers of the transformer over entities; 1 or more"""
    num_channels: int = 128
    """width of a token; a multiple of 16, above 256 a multiple of 128"""
    rnn_channels: int = 512
    """width of the memory; 1 or more, a multiple of rwkv_head_size with rwkv, of 128 with transformer"""
    rnn_type: Memory = "lstm"
    """type of memory: lstm, gru, rwkv, transformer (attention to the last states) or none"""
    use_history: bool = True
    """read past actions, if the game shows them"""
    card_mask: bool = False
    """mask padding entities in attention, which also allows the agent to cut them off before the computation"""
    untold_named: bool = True
    """with card_mask: do not mask unknown entities that have an id, such as the cards of the own deck in a duel"""
    noam: bool = True
    """use RMS norms, gated MLPs and no biases instead of the original transformer layers"""
    action_feats: bool = True
    """include a summary of the legal actions in the state"""
    version: int = 2
    """1 or 2; with 2 a gated MLP processes the global fields, with 1 they are only normalised"""
    film: bool = True
    """let actions attend to each other, modulated by the state (FiLM); otherwise a dot product with the state"""
    oppo_info: bool = False
    """let the critic read the memories of all seats and hidden information too"""
    rnn_shortcut: bool = False
    """give the heads the encoded state in addition to the memory"""
    batch_norm: bool = False
    """use batch renormalisation in the critic (CrossCritic)"""
    critic_width: int = 128
    """width of the critic's hidden layers; 1 or more"""
    critic_depth: int = 3
    """number of hidden layers of the critic; 1 or more"""
    rwkv_head_size: int = 32
    """width of a head of the rwkv memory; 1 or more"""
    memory_length: int = 64
    """states that the transformer memory keeps; steps that an lstm is initialised to remember; 1 or more"""
    embedding_shape: int | tuple[int, ...] = ()
    """number of ids of the embedding table, or (ids, dimensions); () for 999 ids of 1024 dimensions"""
    q_head: bool = False
    """output action values instead of a policy and a value; refused by PPO, which needs both"""
    int_head: bool = False
    """add a value output for intrinsic rewards; set automatically if int_coef is above 0"""
    freeze_id: bool = False
    """keep the initial embedding table of ids fixed"""
    switch: bool = False
    """for your own code: `switch_or_main` marks changes of seat in sequences sorted by seat; no effect in runs"""
    reference: bool = False
    """compute what the network of the reference project does (`ludus import`); for duels, with few other options"""

    def __post_init__(self) -> None:
        check_types(self)
        check_encoder(self)
        check_memory(self)
        check_heads(self)
        check_reference(self)

    @property
    def encoder(self) -> EncoderArgs:
        """The settings of the encoder."""
        return EncoderArgs(**{field.name: getattr(self, field.name) for field in fields(EncoderArgs)})


@dataclass(frozen=True)
class MLPArgs:
    """Settings of an `MLPAgent`."""

    width: int = 64
    """units of a hidden layer; 1 or more"""
    depth: int = 2
    """number of hidden layers; 1 or more"""
    activation: Activation = "tanh"
    """activation function: tanh, relu, silu or gelu"""
    shared: bool = False
    """share the hidden layers between actor and critic"""
    own: bool = True
    """use the game's own network, if it has one"""
    network: str = ""
    """another network instead of the MLP: a module such as balatro_encoders, or a class given to ludus.train"""

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, 1, "width", "depth")


def table_shape(args: EncoderArgs | ModelArgs) -> tuple[int, int]:
    """(rows, dimensions) of the shared embedding table; row 0 is for unknown ids."""
    shape = args.embedding_shape
    ids, dimensions = (shape, ID_DIMENSIONS) if isinstance(shape, int) else shape or (KNOWN_IDS, ID_DIMENSIONS)
    return ids + 1, dimensions


def check_types(args: object) -> None:
    """Raise LudusError if the value of a field does not match its type."""
    shape = getattr(args, "embedding_shape", None)
    if isinstance(shape, list):  # TOML has lists, not tuples
        object.__setattr__(args, "embedding_shape", tuple(shape))
    for name, wanted in get_type_hints(type(args)).items():
        value = getattr(args, name)
        if get_args(wanted) and name != "embedding_shape":
            _check_word(name, value, get_args(wanted))
        elif wanted in (bool, int) and type(value) is not wanted:
            kind = "true or false" if wanted is bool else "a whole number"
            raise LudusError(f"{name} is {value!r}; it must be {kind}")


def _check_word(name: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        close = difflib.get_close_matches(str(value), words, 1)
        hint = f' did you mean "{close[0]}"?' if close else ""
        raise LudusError(f'{name} is "{value}";{hint} it must be one of {", ".join(words)}')


def at_least(args: object, low: int, *names: str) -> None:
    """Raise LudusError for the first of these numbers that is below `low`."""
    for name in names:
        if getattr(args, name) < low:
            raise LudusError(f"{name} is {getattr(args, name)}; it must be at least {low}")


def head_count(channels: int) -> int:
    """Number of attention heads: one per 128 channels, at least two."""
    return max(2, channels // 128)


def _check_heads_fit(name: str, channels: int) -> None:
    heads = head_count(channels)
    if channels % (2 * heads):
        raise LudusError(
            f"{name} is {channels}, which cannot be split into {heads} heads of even width; use a multiple of 128"
        )


def check_encoder(args: EncoderArgs | ModelArgs) -> None:
    """Raise LudusError for invalid settings of an encoder."""
    at_least(args, 1, "num_layers", "num_channels")
    if args.num_channels % 16:
        raise LudusError(f"num_channels is {args.num_channels}; it must be a multiple of 16")
    _check_heads_fit("num_channels", args.num_channels)
    if args.version not in (1, 2):
        raise LudusError(f"version is {args.version}; it must be 1 or 2")
    shape = args.embedding_shape
    numbers = shape if isinstance(shape, tuple) else (shape,)
    if len(numbers) not in (0, 1, 2) or any(type(number) is not int or number < 1 for number in numbers):
        raise LudusError(
            f"embedding_shape is {shape!r}; write the number of ids, or [ids, dimensions], or [] for neither"
        )
    if len(numbers) == 1:
        object.__setattr__(args, "embedding_shape", numbers[0])


def check_memory(args: ModelArgs) -> None:
    """Raise LudusError for invalid settings of a memory."""
    at_least(args, 1, "rnn_channels", "rwkv_head_size", "memory_length")
    if args.rnn_type == "rwkv" and args.rnn_channels % args.rwkv_head_size:
        raise LudusError(
            f"rnn_channels is {args.rnn_channels}, not a multiple of rwkv_head_size {args.rwkv_head_size}; change one"
        )
    if args.rnn_type == "transformer":
        _check_heads_fit("rnn_channels", args.rnn_channels)


REFERENCE_OPTIONS = {
    "use_history": True, "card_mask": False, "noam": True, "action_feats": True, "version": 2, "film": True,
    "oppo_info": False, "rnn_shortcut": False, "batch_norm": False, "q_head": False, "int_head": False,
}  # fmt: skip
"""the only values that are supported with `reference`"""


def check_reference(args: ModelArgs) -> None:
    """Raise LudusError for options that the network of the reference project has, but `reference` does not support."""
    if not args.reference:
        return
    for name, only in REFERENCE_OPTIONS.items():
        if getattr(args, name) != only:
            value = getattr(args, name)
            raise LudusError(f"a reference network with {name}={value} is not supported, only {name}={only}")
    if args.rnn_type not in ("lstm", "gru", "none"):
        raise LudusError(f"a reference network with rnn_type={args.rnn_type} is not supported, only lstm, gru and none")
    if args.rnn_type == "none" and args.rnn_channels % args.num_channels:
        raise LudusError(
            f"without memory, rnn_channels must be a multiple of num_channels {args.num_channels}, "
            f"not {args.rnn_channels}"
        )


def check_heads(args: ModelArgs) -> None:
    """Raise LudusError for heads that cannot be combined."""
    at_least(args, 1, "critic_width", "critic_depth")
    for name in ("int_head", "oppo_info", "batch_norm"):
        if args.q_head and getattr(args, name):
            raise LudusError(f"q_head has no critic, so {name} has no effect; turn one of them off")
    if args.switch and args.oppo_info:
        raise LudusError("switch and oppo_info cannot be combined, because switch sorts steps by seat; turn one off")
