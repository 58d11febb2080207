"""How kernels are compiled: by Numba's own passes, with less of what does not change the code that comes out.

A kernel is made of the same few operations on numbers and arrays, over and over. Numba works out anew each time which
of its implementations one of them is, looking through all that it knows of; here the answer is remembered
(`remembered_operators`). What it compiles for kernels of its own functions (`np.empty`) it keeps by the flags of the
kernel that asked, whose comparison is slow and among which is one that does not matter there: flags are compared at
once (`KernelFlags`), and that one is the same for all.

Where only other kernels call a function (`InnerCompiler`), Numba would make a library of it that can be called from
outside: it optimises it, makes machine code of it and keeps that on disk, and then the libraries of its callers link
its code in and optimise it once more, and nobody runs the machine code. So here its code is left as it was lowered.
What is compiled in the end has the same results: which numbers are added in which order does not depend on when code
is optimised.
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
    """Within it, Numba looks up once which signature an operation on some types has.

    It is entered while Numba's lock on compiling is held, so nothing else is compiled meanwhile.
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
    """As Numba finds it; only what it does not compile from Python code is kept, as that depends on who asks."""
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
    """Numba's flags, which it compares whenever it looks for something that it has compiled."""

    __slots__ = ()
    _defaults: ClassVar[dict[str, Any]] = {name: option.default for name, option in Flags.options.items()}
    _hash: ClassVar[int] = hash(Flags())  # Numba's own depends on the names alone

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KernelFlags) and self._values == other._values:
            return True
        return bool(super().__eq__(other))

    def values(self) -> dict[str, Any]:
        """All of them by name."""
        return {**self._defaults, **self._values}


class KernelCompiler(CompilerBase):
    """Numba's one way to compile without Python objects."""

    lowering = NativeLowering

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = KernelFlags(self.state.flags)

    def _compile_core(self) -> Any:
        """What Numba compiles of its own functions is then kept for kernels and inner kernels alike."""
        self._no_wrapper = self.state.flags.no_cpython_wrapper
        self.state.flags.no_cpython_wrapper = True
        with remembered_operators():
            return super()._compile_core()

    def define_pipelines(self) -> list[Any]:
        """Numba's passes, but for the last."""
        self.state.flags.no_cpython_wrapper = self._no_wrapper
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [(self.lowering if one is NativeLowering else one, about) for one, about in pipeline.passes]
        pipeline.finalize()
        return [pipeline]


class InnerDispatcher(CPUDispatcher):
    """A function that Python cannot call: Numba would follow an empty pointer."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is an inner kernel: kernels call it, Python cannot")

    def add_overload(self, compiled: Any) -> None:
        """Keep what has been compiled for other kernels, not for calls from Python."""
        self.overloads[tuple(compiled.signature.args)] = compiled


class InnerLibrary(JITCodeLibrary):
    """Code that is linked into other libraries, and is not optimised or made machine code of by itself."""

    def finalize(self) -> None:
        """Link in what this code calls, and leave the rest to the libraries that this one is linked into."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class InnerEntry:
    """Tells the versions of inner kernels apart, as pointers to their code would."""


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):
    """From Numba's typed code to a library that other kernels link in."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower a function; what calls it finds it by its entry."""
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        entry = InnerEntry()
        state.targetctx.insert_user_function(entry, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=entry)
        return True


class InnerCompiler(KernelCompiler):
    """For inner kernels: with the lowering above."""

    lowering = InnerLowering
