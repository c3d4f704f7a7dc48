"""Compile rules so that a big game is ready soon.

Numba makes every function ready to be called on its own: it links in all that the function calls, optimises the whole
and turns it into machine code, and does so again for whoever calls that function. In a game of hundreds of rules that
call each other, this takes most of the time. Here a rule is only translated to LLVM's language; the loop that uses it
links all its rules once, optimises them once and has machine code made once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

from ludus.words import cache

FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


class Part(JITCodeLibrary):
    """The code of one function, without what it calls; only ever linked into a whole."""

    def finalize(self) -> None:
        self._finalized = True

    def needed(self) -> list[JITCodeLibrary]:
        """This, and all that it calls, each once; callers first, as LLVM leaves out what nobody has asked for yet."""
        return list(dict.fromkeys([self, *self._linking_libraries]))


@register_pass(mutates_CFG=True, analysis_only=False)
class Translation(NativeLowering):
    """From Numba's language to LLVM's, and no further."""

    _name = "ludus_translation"

    def run_pass(self, state: Any) -> bool:
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = state.flags.no_cpython_wrapper = True
        super().run_pass(state)
        lowered = state["cr"]
        state["cr"] = lowered._replace(cfunc=state.library)  # what a caller finds the code by
        state.targetctx.insert_user_function(state.library, lowered.fndesc, state.library.needed())
        return True


class PartCompiler(CompilerBase):
    """Numba's own pipeline up to LLVM's language."""

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = [(Translation, why) if step is NativeLowering else (step, why) for step, why in pipeline.passes]
        pipeline.passes = passes
        pipeline.finalize()
        return [pipeline]


class Rule(CPUDispatcher):
    """A compiled function that loops are made of; called from Python, it becomes a whole of its own."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        options = {"nopython": True, "boundscheck": None, **FLAGS, **options}
        super().__init__(function, targetoptions=options, pipeline_class=PartCompiler)

    def __call__(self, *arguments: Any) -> Any:
        return self.alone(*arguments)

    @functools.cached_property
    def alone(self) -> Any:
        """The same function, for Python to call."""
        return whole(self.py_func, kept=False)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(*wide(args, kws))

    def add_overload(self, compiled: Any) -> None:
        # Numba's own would also tell Python's side of the dispatcher, which has nothing to call.
        self.overloads[tuple(compiled.signature.args)] = compiled


def whole(function: Callable[..., Any], kept: bool = True) -> Any:
    """A compiled function that is ready to be called, by Python or by another."""
    jit: Any = njit
    dispatcher = jit(cache=kept, **FLAGS)(function)
    if kept:
        dispatcher.compile = one_at_a_time(dispatcher.compile, function)
    given = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: given(*wide(args, kws))
    return dispatcher


def one_at_a_time(compile: Callable[[Any], Any], function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Whoever needs what another process compiles just now waits for it, and then finds it in the cache."""
    lock = cache.folder_now() / f"{function.__module__}.{function.__qualname__}.lock"

    def compile_alone(signature: Any) -> Any:
        # Numba's own lock first: two threads that take the two in different order would wait for each other.
        with global_compiler_lock, cache.held(lock):
            return compile(signature)

    return compile_alone


def wide(args: Any, kws: Any) -> tuple[Any, Any]:
    """The types of arguments, with one type for all whole numbers but the largest.

    Fields of a record are of many widths. A rule that is called with a byte here and a word there would be compiled
    for each, and once more for every constant.
    """
    return tuple(map(_wide, args)), {name: _wide(given) for name, given in kws.items()}


def _wide(given: Any) -> Any:
    given = types.unliteral(given)
    narrow = isinstance(given, types.Integer) and given.bitwidth < 64  # type: ignore[attr-defined]
    return types.int64 if narrow else given
