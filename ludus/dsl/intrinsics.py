"""Compiler intrinsics: arrays without reference counting, prefetching of rows, and copies between addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils as _cgutils
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from ludus.dsl.cache import plain_python
from ludus.types import Array

Arrays = TypeVar("Arrays")
_instructions: Callable[[Any], Any] = intrinsic
cgutils: Any = _cgutils
_WRITE, _KEEP, _DATA = 1, 3, 1


class Context(Protocol):
    """The part of Numba's target context that is used here."""

    def make_array(self, kind: types.Type) -> Callable[..., ir.Value]: ...
    def get_dummy_value(self) -> ir.Value: ...


Generate = Callable[[Context, ir.IRBuilder, Signature, Sequence[ir.Value]], ir.Value]
"""emits the LLVM IR of a call"""


@_instructions
def _borrowed(typing: object, arrays: types.NamedTuple) -> tuple[Signature, Generate]:
    def generate(
        context: Context, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        whole = arguments[0]
        for place, kind in enumerate(arrays):
            array = context.make_array(kind)(context, builder, builder.extract_value(whole, place))
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            array.parent = cgutils.get_null_value(array.parent.type)
            whole = builder.insert_value(whole, array._getvalue(), place)
        return whole

    return arrays(arrays), generate


@_instructions
def _prefetch(typing: object, rows: types.Array, place: types.Integer) -> tuple[Signature, Generate]:
    def generate(
        context: Context, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, signature.args[0], array, [arguments[1]])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        flags = [ir.Constant(number, flag) for flag in (_WRITE, _KEEP, _DATA)]
        builder.call(function, [builder.bitcast(pointer, byte), *flags])
        return context.get_dummy_value()

    return types.void(rows, types.int64), generate


def _copying(bits: int) -> Callable[[int, int], None]:
    """An intrinsic that copies a number of so many bits from one address to another."""

    @_instructions
    def copy(typing: object, source: types.Integer, target: types.Integer) -> tuple[Signature, Generate]:
        def generate(
            context: Context, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
        ) -> ir.Value:
            pointer = ir.IntType(bits).as_pointer()
            value = builder.load(builder.inttoptr(arguments[0], pointer), align=1)
            builder.store(value, builder.inttoptr(arguments[1], pointer), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return cast(Callable[[int, int], None], copy)


def _same(arrays: Arrays) -> Arrays:
    return arrays


def _nothing(rows: Array, place: int) -> None:
    pass


borrowed: Callable[[Arrays], Arrays] = _same if plain_python() else _borrowed
"""A NamedTuple of arrays without reference counting; valid only while the caller keeps the arrays alive.

Numba updates a reference count whenever an array is passed to a function or taken out of a tuple; these atomic updates
made the tabular loop five times slower. Borrowed arrays are free to pass on; they must not be returned or stored.
"""
prefetch: Callable[[Array, int], None] = _nothing if plain_python() else _prefetch
"""Prefetch rows[place] into the processor's cache."""
copy_word, copy_byte = _copying(64), _copying(8)
"""Copy eight bytes, or one, from an address to another."""
