# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Relocatable objects for processors, from one module of bitcode; checked before they are kept."""

from dataclasses import dataclass

from llvmlite import binding

from liedyn_ros.build.words import PREFIX
from liedyn_ros.common.errors import LiedynError

ALLOWED_SYMBOLS = frozenset((  # of libm, and of what every C library has
    'acos', 'asin', 'atan', 'atan2', 'cos', 'cosh', 'exp', 'fabs', 'fma', 'fmod', 'hypot', 'log',
    'log1p', 'memcpy', 'memmove', 'memset', 'pow', 'sin', 'sincos', 'sinh', 'sqrt', 'tan', 'tanh'))
ADDRESSES = 'numba.dynamic.globals'  # names of what stands at an address of the compiling process


@dataclass(frozen=True)
class Processor:
    """A kind of processor: its name here, LLVM's triple, name and features of it."""

    name: str
    triple: str
    cpu: str
    features: str = ''

    @property
    def prefix(self) -> str:
        """Return the prefix of the names of its functions."""
        return f'liedyn_{self.name}_'


PROCESSORS = {each.name: each for each in (
    Processor('x86_64_v2', 'x86_64-unknown-linux-gnu', 'x86-64-v2'),
    Processor('x86_64_v3', 'x86_64-unknown-linux-gnu', 'x86-64-v3'),
    Processor('aarch64', 'aarch64-unknown-linux-gnu', 'generic'))}


def emitted(bitcode: bytes, processor: Processor) -> bytes:
    """
    Return the relocatable object of a module for a processor.

    Raises LiedynError where it would need a symbol of another library than ALLOWED_SYMBOLS, or
    holds an address of this process.
    """
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(processor.triple).create_target_machine(
        processor.cpu, processor.features, opt=3, reloc='pic', codemodel='default')
    module = binding.parse_bitcode(bitcode)
    module.triple, module.data_layout = processor.triple, str(machine.target_data)
    for function in module.functions:
        if function.name.startswith(PREFIX):
            function.name = processor.prefix + function.name[len(PREFIX):]
        elif not function.is_declaration:
            function.linkage = 'internal'
    if hasattr(binding, 'create_pass_builder'):
        _optimize(module, machine)
    else:  # llvmlite before 0.44
        _optimize_as_before(module, machine)
    require_portable(module, processor)
    code: bytes = machine.emit_object(module)
    return code


def _optimize(module: binding.ModuleRef, machine: binding.TargetMachine) -> None:
    """Put inlined kernels into their callers, optimize, and leave out what is not called."""
    options = binding.create_pipeline_tuning_options(speed_level=3)
    builder = binding.create_pass_builder(machine, options)
    first, last = (binding.create_new_module_pass_manager() for _ in range(2))
    first.add_global_dead_code_eliminate_pass()
    first.add_always_inliner_pass()
    last.add_global_dead_code_eliminate_pass()
    for manager in (first, last, builder.getModulePassManager(), last):
        manager.run(module, builder)


def _optimize_as_before(module: binding.ModuleRef, machine: binding.TargetMachine) -> None:
    """Optimize a module by LLVM's earlier interface."""
    builder = binding.create_pass_manager_builder()
    builder.opt_level = 3
    builder.inlining_threshold = 225  # of level 3
    builder.loop_vectorize = builder.slp_vectorize = True
    manager = binding.create_module_pass_manager()
    manager.add_global_dce_pass()
    machine.add_analysis_passes(manager)
    builder.populate(manager)
    manager.add_global_dce_pass()
    manager.run(module)


def require_portable(module: binding.ModuleRef, processor: Processor) -> None:
    """Raise LiedynError for what a program without Python could not satisfy."""
    wanted = {function.name for function in module.functions
              if function.is_declaration
              and not function.name.startswith(('llvm.', processor.prefix))}
    held = {variable.name for variable in module.global_variables
            if variable.name.startswith(ADDRESSES)
            or (variable.is_declaration and not variable.name.startswith('llvm.'))}
    refused = sorted(held | (wanted - ALLOWED_SYMBOLS))
    if refused:
        raise LiedynError(f'{processor.name}: expected no symbols but those of libm, memcpy, '
                          f'memmove and memset, and no address of this process, got {refused}')
