"""How kernels that only kernels call are compiled: each kernel that calls them takes in their code and optimises it.

By itself Numba makes of every function a library that can be called from outside: it optimises it, makes machine code
of it and keeps that on disk. Where only other kernels call a function, their libraries link its code in and optimise it
once more, and nobody runs the machine code. So here its code is left as it was lowered. What is compiled in the end has
the same results: which numbers are added in which order does not depend on when code is optimised.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering


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


class InnerCompiler(CompilerBase):
    """Numba's passes, but for the last: the lowering above."""

    def define_pipelines(self) -> list[Any]:
        """The one way to compile: without Python objects."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [(InnerLowering if one is NativeLowering else one, about) for one, about in pipeline.passes]
        pipeline.finalize()
        return [pipeline]
