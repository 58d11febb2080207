"""Compiles kernels that only other kernels call: each calling kernel includes and optimises their code.

By default, Numba compiles every function to a library that can be called from outside: it optimises the code,
translates it to machine code and caches it. If only other kernels call a function, their libraries link and optimise
its code again, and its own machine code is never used. So here the lowered code is left as it is. The results are the
same: the order of additions does not depend on when code is optimised.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering


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


class InnerCompiler(CompilerBase):
    """Numba's passes, with the lowering above as the last one."""

    def define_pipelines(self) -> list[Any]:
        """The only pipeline: without Python objects."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [(InnerLowering if one is NativeLowering else one, about) for one, about in pipeline.passes]
        pipeline.finalize()
        return [pipeline]
