"""Compiles kernels with Numba's own passes, but without work that does not change the machine code.

Kernels consist of a few operations on numbers and arrays, repeated many times. For each, Numba searches all of its
implementations anew; here the result is remembered (`remembered_operators`). What Numba compiles of its own functions
for a kernel (such as `np.empty`), it caches by the flags of that kernel. The comparison of flags is slow, and one of
them has no effect there: `KernelFlags` compares quickly, and that flag is the same for all.

By default, Numba compiles every function to a library that can be called from outside: it optimises the code,
translates it to machine code and caches it. If only other kernels call a function (`InnerCompiler`), their libraries
link and optimise its code again, and its own machine code is never used. So here the lowered code is left as it is. The
results are the same: the order of additions does not depend on when code is optimised.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

_look_up: Any = types.BaseFunction.get_call_type
_known: dict[Any, Any] = {}  # signatures of Numba's own operations, by operation and types
_depth = 0


@contextmanager
def remembered_operators() -> Iterator[None]:
    """While it is active, Numba looks up the signature of an operation on given types only once.

    It is entered while Numba's compiler lock is held, so no other thread compiles meanwhile.
    """
    global _depth
    function_type: Any = types.BaseFunction
    function_type.get_call_type = _call_type
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if _depth == 0:
            function_type.get_call_type = _look_up


def _call_type(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
    """Numba's result. It is kept unless Numba compiles the operation from Python code, which depends on the flags."""
    if keywords or type(function) is not types.Function:
        return _look_up(function, context, arguments, keywords)
    key = function, arguments
    signature = _known.get(key)
    if signature is None:
        signature = _look_up(function, context, arguments, keywords)
        if signature is not None and function.get_impl_key(signature) is function.typing_key:
            _known[key] = signature
    return signature


class KernelFlags(Flags):
    """Numba's flags, which are compared on every search for compiled code."""

    __slots__ = ()
    _defaults: ClassVar[dict[str, Any]] = {name: option.default for name, option in Flags.options.items()}
    _hash: ClassVar[int] = hash(Flags())  # Numba's hash depends on the names only

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KernelFlags) and self._values == other._values:
            return True
        return bool(super().__eq__(other))

    def values(self) -> dict[str, Any]:
        """All flags by name."""
        return {**self._defaults, **self._values}


class KernelCompiler(CompilerBase):
    """Numba's pipeline without Python objects."""

    lowering = NativeLowering

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = KernelFlags(self.state.flags)

    def _compile_core(self) -> Any:
        """Code of Numba's own functions is then shared between kernels and inner kernels."""
        self._no_wrapper = self.state.flags.no_cpython_wrapper
        self.state.flags.no_cpython_wrapper = True
        with remembered_operators():
            return super()._compile_core()

    def define_pipelines(self) -> list[Any]:
        """The only pipeline: Numba's passes, with `lowering` as the last one."""
        self.state.flags.no_cpython_wrapper = self._no_wrapper
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [(self.lowering if one is NativeLowering else one, about) for one, about in pipeline.passes]
        pipeline.finalize()
        return [pipeline]


class InnerDispatcher(CPUDispatcher):
    """A function that cannot be called from Python: Numba would follow a null pointer."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is an inner kernel: kernels call it, Python cannot")

    def add_overload(self, compiled: Any) -> None:
        """Keep a compiled version for other kernels, not for calls from Python."""
        self.overloads[tuple(compiled.signature.args)] = compiled


class InnerLibrary(JITCodeLibrary):
    """Code that is linked into other libraries; it is not optimised or translated to machine code by itself."""

    def finalize(self) -> None:
        """Link the code that this one calls; the libraries that include this one do the rest."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class InnerEntry:
    """Distinguishes versions of inner kernels, as pointers to their code would."""


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):
    """From Numba's typed code to a library that other kernels link in."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower a function; callers find it by its entry."""
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        entry = InnerEntry()
        state.targetctx.insert_user_function(entry, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=entry)
        return True


class InnerCompiler(KernelCompiler):
    """The same for inner kernels, with the lowering above."""

    lowering = InnerLowering
