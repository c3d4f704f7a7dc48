"""What a network is made of, as data that a preset can hold; importing it fetches nothing heavy."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_type_hints

from ludus.types import LudusError

Memory = Literal["lstm", "gru", "rwkv", "transformer", "none"]
Activation = Literal["tanh", "relu", "silu", "gelu"]

KNOWN_IDS, ID_DIMENSIONS = 999, 1024
"""the table of ids where `embedding_shape` says nothing; the row of the unknown comes on top"""


@dataclass(frozen=True)
class EncoderArgs:
    """How an observation becomes one vector."""

    num_layers: int = 2
    """layers of the transformer over entities"""
    num_channels: int = 128
    """width of a token"""
    use_history: bool = True
    """whether past actions are read, where the game shows them"""
    card_mask: bool = False
    """whether padding entities are hidden from attention; only then may they be cut off"""
    noam: bool = True
    """RMS norms, gated MLPs and no biases, instead of the classic layers"""
    action_feats: bool = True
    """whether the state contains a summary of what may be done"""
    oppo_info: bool = False
    """whether the critic is also shown what the actor may not see"""
    freeze_id: bool = False
    """whether the table of ids keeps its first numbers"""
    embedding_shape: int | tuple[int, ...] = ()
    """ids of the shared table, or (ids, dimensions); () for 999 ids of 1024 dimensions; an unknown one is added"""
    version: int = 2
    """2: a gated MLP refines the fields that stand alone; 1: they are only normalised"""

    def __post_init__(self) -> None:
        check_types(self)
        check_encoder(self)


@dataclass(frozen=True)
class ModelArgs:
    """Everything chosen about an `RNNAgent`."""

    num_layers: int = 2
    """layers of the transformer over entities"""
    num_channels: int = 128
    """width of a token"""
    rnn_channels: int = 512
    """width of the memory"""
    rnn_type: Memory = "lstm"
    """what remembers: lstm, gru, rwkv, transformer (attention to the last states) or none"""
    use_history: bool = True
    """whether past actions are read, where the game shows them"""
    card_mask: bool = False
    """whether padding entities are hidden from attention; only then may they be cut off"""
    untold_named: bool = True
    """whether what tells little is looked at where it has an id: in a duel, the cards of one's own deck"""
    noam: bool = True
    """RMS norms, gated MLPs and no biases, instead of the classic layers"""
    action_feats: bool = True
    """whether the state contains a summary of what may be done"""
    version: int = 2
    """2: a gated MLP refines the fields that stand alone; 1: they are only normalised"""
    film: bool = True
    """whether the actor lets actions attend to each other, steered by the state; else a dot product with it"""
    oppo_info: bool = False
    """whether the critic also sees the memory of all seats and the hidden part of the layout"""
    rnn_shortcut: bool = False
    """whether the heads see the encoded state beside the memory"""
    batch_norm: bool = False
    """whether the critic is batch-renormalised (CrossCritic)"""
    critic_width: int = 128
    """width of the critic's layers"""
    critic_depth: int = 3
    """how many layers the critic has before its last"""
    rwkv_head_size: int = 32
    """width of a head of the rwkv memory"""
    memory_length: int = 64
    """how many states the transformer memory keeps, and for how many steps an lstm keeps what it sees at first"""
    embedding_shape: int | tuple[int, ...] = ()
    """ids of the shared table, or (ids, dimensions); () for 999 ids of 1024 dimensions; an unknown one is added"""
    q_head: bool = False
    """whether the network answers with values of actions instead of a policy and a value"""
    int_head: bool = False
    """whether the value has one more column, for rewards of curiosity"""
    freeze_id: bool = False
    """whether the table of ids keeps its first numbers"""
    switch: bool = False
    """whether sequences hold one seat's steps after the other's, and `switch_or_main` marks where the seat changes"""

    def __post_init__(self) -> None:
        check_types(self)
        check_encoder(self)
        check_memory(self)
        check_heads(self)

    @property
    def encoder(self) -> EncoderArgs:
        """The part of it that the encoder reads."""
        return EncoderArgs(**{field.name: getattr(self, field.name) for field in fields(EncoderArgs)})


@dataclass(frozen=True)
class MLPArgs:
    """Everything chosen about an `MLPAgent`."""

    width: int = 64
    """width of a layer"""
    depth: int = 2
    """how many layers before the heads"""
    activation: Activation = "tanh"
    """what bends them: tanh, relu, silu or gelu"""
    shared: bool = False
    """whether actor and critic share one trunk"""
    own: bool = True
    """whether a game that brings a network of its own is played by that one"""

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, 1, "width", "depth")


def table_shape(args: EncoderArgs | ModelArgs) -> tuple[int, int]:
    """(rows, dimensions) of the shared table of ids; row 0 is for the unknown."""
    shape = args.embedding_shape
    ids, dimensions = (shape, ID_DIMENSIONS) if isinstance(shape, int) else shape or (KNOWN_IDS, ID_DIMENSIONS)
    return ids + 1, dimensions


def check_types(args: Any) -> None:
    """Every field holds what its type says: a number is not a boolean, a word is one of those known."""
    if isinstance(getattr(args, "embedding_shape", None), list):  # how TOML writes a tuple
        object.__setattr__(args, "embedding_shape", tuple(args.embedding_shape))
    for name, wanted in get_type_hints(type(args)).items():
        value = getattr(args, name)
        if get_args(wanted) and name != "embedding_shape":
            _check_word(name, value, get_args(wanted))
        elif wanted in (bool, int) and type(value) is not wanted:
            kind = "true or false" if wanted is bool else "a whole number"
            raise LudusError(f"{name} is {value!r}; it must be {kind}")


def _check_word(name: str, value: Any, words: tuple[str, ...]) -> None:
    if value not in words:
        close = difflib.get_close_matches(str(value), words, 1)
        hint = f' did you mean "{close[0]}"?' if close else ""
        raise LudusError(f'{name} is "{value}";{hint} it must be one of {", ".join(words)}')


def at_least(args: Any, low: int, *names: str) -> None:
    """A sentence about the first of these numbers that is too small."""
    for name in names:
        if getattr(args, name) < low:
            raise LudusError(f"{name} is {getattr(args, name)}; it must be at least {low}")


def head_count(channels: int) -> int:
    """Heads of attention: one for every 128 channels, at least two."""
    return max(2, channels // 128)


def _check_heads_fit(name: str, channels: int) -> None:
    heads = head_count(channels)
    if channels % (2 * heads):
        raise LudusError(
            f"{name} is {channels}, which {heads} heads of even width cannot share; take a multiple of 128"
        )


def check_encoder(args: EncoderArgs | ModelArgs) -> None:
    """The numbers of an encoder make sense together."""
    at_least(args, 1, "num_layers", "num_channels")
    if args.num_channels % 16:
        raise LudusError(
            f"num_channels is {args.num_channels}; fields share it in sixteenths, so take a multiple of 16"
        )
    _check_heads_fit("num_channels", args.num_channels)
    if args.version not in (1, 2):
        raise LudusError(f"version is {args.version}; the encoders known are 1 and 2")
    shape = args.embedding_shape
    numbers = shape if isinstance(shape, tuple) else (shape,)
    if len(numbers) not in (0, 1, 2) or any(type(number) is not int or number < 1 for number in numbers):
        raise LudusError(
            f"embedding_shape is {shape!r}; write the number of ids, or [ids, dimensions], or [] for neither"
        )
    if len(numbers) == 1:
        object.__setattr__(args, "embedding_shape", numbers[0])


def check_memory(args: ModelArgs) -> None:
    """The memory can be built at this width."""
    at_least(args, 1, "rnn_channels", "rwkv_head_size", "memory_length")
    if args.rnn_type == "rwkv" and args.rnn_channels % args.rwkv_head_size:
        raise LudusError(
            f"rnn_channels is {args.rnn_channels}, no multiple of rwkv_head_size {args.rwkv_head_size}; change either"
        )
    if args.rnn_type == "transformer":
        _check_heads_fit("rnn_channels", args.rnn_channels)


def check_heads(args: ModelArgs) -> None:
    """The heads asked for can stand beside each other."""
    at_least(args, 1, "critic_width", "critic_depth")
    for name in ("int_head", "oppo_info", "batch_norm"):
        if args.q_head and getattr(args, name):
            raise LudusError(f"q_head answers without a critic, so {name} has nothing to act on; turn one of them off")
    if args.switch and args.oppo_info:
        raise LudusError("switch tells one seat's steps after the other's, so oppo_info cannot hear both; turn one off")
