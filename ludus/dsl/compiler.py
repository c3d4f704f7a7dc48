"""Faster compilation of games with many rules.

Numba compiles every function so that it can be called on its own: it links in everything the function calls, optimises
the result and generates machine code, and repeats this for each caller. In a game of hundreds of rules that call each
other, this takes most of the time. Here a rule is only lowered to LLVM IR; the loop that uses it links, optimises and
generates code for all its rules once.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numba import types
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, StateDict
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import Signature

from ludus.dsl import cache, errors
from ludus.dsl.rows import plain_argument
from ludus.types import LudusError

_local = threading.local()
FLAGS: dict[str, object] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


class Part(JITCodeLibrary):
    """The LLVM IR of one function without its callees; it is only used for linking into a complete function."""

    def finalize(self) -> None:
        self._finalized = True

    def needed(self) -> list[JITCodeLibrary]:
        """This library and all its callees, each once, callers first: LLVM drops code that is not referenced yet."""
        return list(dict.fromkeys([self, *self._linking_libraries]))


@register_pass(mutates_CFG=True, analysis_only=False)
class Translation(NativeLowering):
    """Lower Numba IR to LLVM IR, without generating machine code."""

    _name = "ludus_translation"

    def run_pass(self, state: StateDict) -> bool:
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = state.flags.no_cpython_wrapper = True
        super().run_pass(state)
        lowered = state["cr"]
        state["cr"] = lowered._replace(cfunc=state.library)  # callers look up the code here
        state.targetctx.insert_user_function(state.library, lowered.fndesc, state.library.needed())
        return True


class PartCompiler(CompilerBase):
    """Numba's own pipeline up to LLVM IR."""

    def define_pipelines(self) -> list[PassManager]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = [(Translation, why) if step is NativeLowering else (step, why) for step, why in pipeline.passes]
        pipeline.passes = passes
        pipeline.finalize()
        return [pipeline]


class Rule(CPUDispatcher):
    """A compiled function that loops call; when Python calls it, it is compiled as a complete function."""

    translated: ClassVar[int] = 0
    """number of rules that this process has translated to LLVM IR, for progress bars"""

    def __init__(self, function: Callable[..., object], **options: object) -> None:
        options = {"nopython": True, "boundscheck": None, **FLAGS, **options}
        super().__init__(function, targetoptions=options, pipeline_class=PartCompiler)

    def __call__(self, *arguments: object) -> object:
        if cache.interpreting():
            return interpret(self.py_func, arguments)
        return self.alone(*arguments)

    @functools.cached_property
    def alone(self) -> Callable[..., object]:
        """The same function, for Python to call."""
        return whole(self.py_func, kept=False)

    def compile(self, signature: str | tuple[types.Type, ...] | Signature) -> Callable[..., object]:
        try:
            return super().compile(signature)
        except Exception as error:
            _refused().append(errors.Failure(self.py_func, error))
            raise

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(*wide(args, kws))

    def add_overload(self, compiled: Any) -> None:
        # Numba's version would also register an entry point for Python, and a rule has none.
        self.overloads[tuple(compiled.signature.args)] = compiled
        Rule.translated += 1


class KernelCache(FunctionCache):
    """Numba's cache on disk, without the imports that only compiling needs: they would take most of a second."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class Kernel(CPUDispatcher):
    """A complete compiled function, callable from Python and from other compiled functions."""

    def __init__(self, function: Callable[..., object], kept: bool = True) -> None:
        super().__init__(function, targetoptions={"nopython": True, "boundscheck": None, **FLAGS})
        if kept:
            self._cache = KernelCache(self.py_func)
        explained = explaining(super().compile, function)
        self._explained = one_at_a_time(explained, function) if kept else explained

    def __call__(self, *arguments: object) -> object:
        if cache.interpreting():
            # Compiled code does not warn of overflow. The mode must not change before the kernel returns.
            with np.errstate(all="ignore"), cache.interpreted():
                return interpret(self.py_func, arguments)
        return super().__call__(*arguments)

    def compile(self, signature: Any) -> Any:
        return self._explained(signature)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(*wide(args, kws))


def whole(function: Callable[..., object], kept: bool = True) -> Callable[..., object]:
    """A complete compiled function; it is kept in the cache if it is a top-level function of a module."""
    return Kernel(function, kept)


def interpret(function: Callable[..., object], arguments: Sequence[object]) -> object:
    """Call the plain function; records are given to it in a form that plain Python can read and write."""
    return function(*map(plain_argument, arguments))


def explaining(compile: Callable[[Any], object], function: Callable[..., object]) -> Callable[[object], object]:
    """Wrap `compile` so that an error in a rule is raised as a LudusError that names the line."""

    def compile_or_explain(signature: object) -> object:
        _refused().clear()
        try:
            return compile(signature)
        except LudusError:
            raise
        except Exception as error:
            explained = errors.compile_error(error, [*_refused(), errors.Failure(function, error)])
            if explained is None:
                raise
            raise explained from error

    return compile_or_explain


def _refused() -> list[errors.Failure]:
    """The rules that failed to compile in this thread during the current compilation."""
    failures: list[errors.Failure] = _local.__dict__.setdefault("refused", [])
    return failures


def one_at_a_time(compile: Callable[[object], object], function: Callable[..., object]) -> Callable[[object], object]:
    """Wrap `compile` so that only one process compiles a function; the others wait and load it from the cache."""
    lock = cache.folder_now() / f"{function.__module__}.{function.__qualname__}.lock"

    def compile_alone(signature: object) -> object:
        # Take Numba's lock first: taking the two locks in different orders could deadlock.
        with global_compiler_lock, cache.held(lock):
            return compile(signature)

    return compile_alone


def wide(
    args: Sequence[types.Type], kws: Mapping[str, types.Type]
) -> tuple[tuple[types.Type, ...], dict[str, types.Type]]:
    """The types of arguments, with all integers below 64 bits widened to int64.

    Otherwise a rule would be compiled again for each width of integer field and for each constant it is called with.
    """
    return tuple(map(_wide, args)), {name: _wide(given) for name, given in kws.items()}


def _wide(given: types.Type) -> types.Type:
    given = types.unliteral(given)
    narrow = isinstance(given, types.Integer) and given.bitwidth < 64  # type: ignore[attr-defined]
    return types.int64 if narrow else given
