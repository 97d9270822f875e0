# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""
Code of kernels that only kernels call: kept as LLVM's bitcode, never made into machine code.

Numba links the bitcode of each kernel into its callers, and they have machine code of their own.
So that of a kernel without a wrapper for Python is called by nobody. To make it takes a sixth of
the time of the compiler.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class KernelCompiler(Compiler):
    """Numba's compiler, but for the code of kernels without a wrapper."""

    def _compile_core(self) -> Any:
        state = self.state
        if state.library is None and state.flags.no_cpython_wrapper:
            state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super()._compile_core()


class InnerLibrary(JITCodeLibrary):
    """Code that others link; it has no addresses."""

    @property
    def codegen(self) -> '_WithoutAddresses':
        """Return the addresses for numba to fill in, of which there are none."""
        return _WithoutAddresses()

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, as numba does for a function that is not here."""
        self._ensure_finalized()
        return 0

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _WithoutAddresses:

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: callers have the address in their own code."""
