# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The code of one robot: functions of the C library whose model is a constant, as object and header.

The table of the model is a constant of the module, and the work area a local variable. LLVM then
unrolls loops over links, folds, and leaves out what placements multiply by zero. Products and sums
keep their order: results are those of Python, digit for digit, but for the sign of a zero.
"""

import argparse
from collections.abc import Iterable, Sequence
from functools import cached_property
import os
from pathlib import Path
import re
import subprocess
import sys
from typing import Any

from llvmlite import binding
import numpy as np

from liedyn_ros.build.c_entries import Entry
from liedyn_ros.build.kinds import type_of
from liedyn_ros.build.lowering import ENVIRONMENT, FAILED, lowered, Source
from liedyn_ros.build.objects import PROCESSORS, require_portable
from liedyn_ros.build.parts import objects_folder
from liedyn_ros.build.sources import digest, PACKAGE
from liedyn_ros.build.words import PREFIX
from liedyn_ros.common.checks import require_known
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.whole_files import own_folder, write_whole
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.export.functions import kinematics, partials, reading, trees
from liedyn_ros.export.kernels.interface import Argument, ROWS
from liedyn_ros.jit.rooms import processor_here
from liedyn_ros.model import load_model, Model

COMPILED_FUNCTIONS = {each.__name__: each for each in (
    trees.inverse, trees.forward, trees.mass_matrix, trees.gravity, trees.coriolis_matrix,
    trees.inverse_derivatives, partials.inverse_jacobians, partials.forward_jacobians)}
DEFAULT_FUNCTIONS = 'inverse', 'forward', 'mass_matrix', 'gravity', 'coriolis_matrix'
# LLVM's own limits are for code that runs once in a while; the loops over links of one robot end.
UNROLLING = '--unroll-threshold=200000', '--unroll-max-percent-threshold-boost=1000'
_INLINED = 100_000  # of LLVM's costs: above that of any kernel
_ROUNDS = 3  # of passes: a loop is unrolled after the one around it
# No number is NaN and a zero has no sign: lets x + 0 y be x. Orders of sums stay.
_ARITHMETIC = re.compile(r'= (fmul|fadd|fsub) (double|<)')
_SIZE = re.compile(r'@own_size\(\)[^{]*{\s*(?:[\w.]+:[^\n]*\s*)?ret i64 (\d+)')


class OwnCode:
    """The functions of one robot for a kind of processor."""

    def __init__(self, name: str, model: Model, processor: str, *, dissipation: bool = True,
                 order: int = 1) -> None:
        """Begin the code of a robot, whose functions begin with name; order is of derivatives."""
        _require_name('name', name)
        self._name, self._model, self._order = name, model, order
        self._processor = PROCESSORS[processor]
        self._machine = binding.Target.from_triple(self._processor.triple).create_target_machine(
            self._processor.cpu, self._processor.features, opt=3, reloc='pic',
            codemodel='default')
        self._table = Constants(model, dissipation).table
        self._declared: list[str] = []
        self._module: Any = None

    def add(self, function: str = '', frame: str = '') -> None:
        """Add a function and its declaration; the Jacobian of a frame has the frame's name."""
        if frame:
            _require_name('frame', frame)
        entry = Entry(kinematics.frame_jacobian if frame else COMPILED_FUNCTIONS[function])
        name = f'{self._name}_{frame}_jacobian' if frame else f'{self._name}_{function}'
        given = {each: of for each, of in zip(entry.names, entry.kinds)
                 if (of.shape and not of.optional) or each in ('a', 'axes')}
        listed = ', '.join(f'ptr noalias nonnull %{each}' if of.shape else f'i64 %{each}'
                           for each, of in given.items())
        words = [word for each, of in zip(entry.names, entry.kinds)
                 for word in self._words(each, of, frame, each in given)]
        stores = '\n'.join(
            f'  %at{k} = getelementptr i64, ptr %words, i64 {k}\n  store {word}, ptr %at{k}'
            for k, word in enumerate(words))
        symbol = PREFIX + name
        module = self._folded(_bitcode(entry, Entry(reading.prepare)), f"""
declare i64 @{PREFIX}{entry.name}(ptr, ptr)
declare i64 @{PREFIX}prepare(ptr, ptr)
define i64 @{symbol}({listed}) {{
  %work = alloca [{self._work_size} x double], align 64
  %words = alloca [{len(words)} x i64], align 8
  %found = alloca i64, align 8
  %done = call i64 @{PREFIX}prepare(ptr @own_table, ptr %work)
{stores}
  %failed = call i64 @{PREFIX}{entry.name}(ptr %words, ptr %found)
  %code = load i64, ptr %found
  %good = icmp eq i64 %failed, 0
  %result = select i1 %good, i64 %code, i64 {FAILED}
  ret i64 %result
}}""", symbol)
        module.get_function(symbol).name = name
        require_portable(module, self._processor)
        arguments = ', '.join(
            f'{"" if of.is_result else "const "}double *{each}' if of.shape
            else f'int64_t {each}' for each, of in given.items())
        self._declared.append(f'int64_t {name}({arguments});')
        if self._module is None:
            self._module = module
        else:
            self._module.link_in(module)

    def object_code(self) -> bytes:
        """Return the object of all functions that were added."""
        code: bytes = self._machine.emit_object(self._module)
        return code

    def header(self) -> str:
        """Return the header of all functions that were added."""
        guard, model = f'{self._name.upper()}_H_', self._model
        robot = repr(model.name).replace('*/', '* /')  # which would end the comment
        return '\n'.join([
            f'/* The code of {robot}: nq = {model.nq}, nv = {model.nv}; written by '
            'liedyn export --own-code.',
            ' * Arrays as in liedyn.h, all of them given; results have memory of their own. '
            'Derivatives have order',
            f' * {self._order}. Returns 0, or -1 for numbers that are not finite or too large and '
            'quaternions that are not of unit',
            ' * length, or k + 1 where coordinate k moves no inertia. A call takes at most '
            f'{8 * self._work_size} bytes of stack. */',
            f'#ifndef {guard}', f'#define {guard}', '#include <stdint.h>',
            '#ifdef __cplusplus', 'extern "C" {', '#endif', *self._declared,
            '#ifdef __cplusplus', '}', '#endif', '#endif', ''])

    def _words(self, name: str, of: Argument, frame: str, is_given: bool) -> list[str]:
        """Return the words of an argument, as typed values of LLVM."""
        model = self._model
        numbers = {'order': self._order, 'frame': model.frame_index(frame) if frame else 0}
        if name in numbers:
            return [f'i64 {numbers[name]}']
        if not of.shape and is_given:
            return [f'i64 %{name}']
        places = {'model': ('ptr @own_table', self._table.shape),
                  'work': ('ptr %work', (self._work_size,))}
        sizes = {'nq': model.nq, 'nv': model.nv, 'bodies': len(model.bodies),
                 ROWS: self._order + 1}
        at, lengths = places.get(name, (f'ptr %{name}', [
            sizes.get(str(size), size) for size in of.shape]))
        if of.shape and not is_given:
            at, lengths = 'ptr null', [0, *lengths[1:]]
        return [at, *(f'i64 {length}' for length in lengths)]

    @cached_property
    def _work_size(self) -> int:
        """Return the size of a work area, in numbers, as the kernel says it of the constants."""
        module = self._folded(_bitcode(Entry(reading.work_size)), f"""
declare i64 @{PREFIX}work_size(ptr, i64)
define i64 @own_size() {{
  %size = call i64 @{PREFIX}work_size(ptr @own_table, i64 {self._order})
  ret i64 %size
}}""", 'own_size')
        found = _SIZE.search(str(module))
        if found is None:
            raise LiedynError(f'{self._model.name}: expected a work area of constant size')
        return int(found[1])

    def _folded(self, bitcode: bytes, wrapper: str, kept: str) -> binding.ModuleRef:
        """Return a module of one function, with all that it calls and the constants in it."""
        text = _ARITHMETIC.sub(r'= \1 nnan nsz \2', str(binding.parse_bitcode(bitcode)))
        module = binding.parse_assembly(text)
        module.triple = self._processor.triple
        module.data_layout = str(self._machine.target_data)
        words = ', '.join(
            f'i64 {word}' for word in np.ascontiguousarray(self._table).ravel().view(np.int64))
        module.link_in(binding.parse_assembly(
            f'target triple = "{module.triple}"\ntarget datalayout = "{module.data_layout}"\n'
            f'@own_table = internal constant [{self._table.size} x i64] [{words}], align 64'
            f'{wrapper}'))
        for function in module.functions:
            if function.name != kept and not function.is_declaration:
                function.linkage = 'internal'
                function.add_function_attribute('alwaysinline')
        for variable in module.global_variables:
            variable.linkage = 'internal'
        options = binding.create_pipeline_tuning_options(speed_level=3)
        options.inline_threshold = _INLINED
        builder = binding.create_pass_builder(self._machine, options)
        drop = binding.create_new_module_pass_manager()
        drop.add_global_dead_code_eliminate_pass()
        drop.run(module, builder)
        for _ in range(_ROUNDS):
            builder.getModulePassManager().run(module, builder)
        drop.run(module, builder)
        return module


def _require_name(what: str, name: str) -> None:
    if not (name.isidentifier() and name.isascii()):
        raise LiedynError(f'{what}: expected letters, digits and _, as in C, got {name!r}',
                          names=(what,), got=name)


def _bitcode(*entries: Entry) -> bytes:
    """Return the bitcode of functions of the C library, kept where objects are."""
    source = Path(str(sys.modules[entries[0].function.__module__].__file__))
    kept = own_folder(objects_folder()) / f'{digest(source)}-{entries[0].name}.bc'
    if not kept.exists():
        bitcode, _ = lowered(
            Source(each.name, each.function, tuple(map(type_of, each.kinds)), each.on_words)
            for each in entries)
        write_whole(kept, bitcode)
    return kept.read_bytes()


def write_own_code(output: Path, code: OwnCode, functions: Iterable[str],
                   frame_names: Iterable[str]) -> None:
    """Write the object of functions and of the Jacobians of frames, and its header beside it."""
    for function, frame in [*((each, '') for each in functions),
                            *(('', each) for each in frame_names)]:
        code.add(function, frame)
        print(f'{output}: {frame or function}', flush=True)
    write_whole(output, code.object_code())
    write_whole(output.with_suffix('.h'), code.header())


def main(arguments: Sequence[str] | None = None) -> int:
    """Write object and header; return 1 where the robot is refused."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
        path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get('PYTHONPATH'))))
        return subprocess.run(
            [sys.executable, '-m', 'liedyn_ros.build.own_code', *given], check=False,
            env=os.environ | ENVIRONMENT | {'PYTHONPATH': path}).returncode
    parser = argparse.ArgumentParser(
        prog='liedyn export --own-code', description='Write the code of one robot, for C.')
    parser.add_argument('robot', type=Path, help='file .urdf, .xacro, .sdf, .xml or .yaml')
    parser.add_argument('-o', '--output', type=Path,
                        help='object; by default beside the robot, with the suffix .o')
    parser.add_argument('--floating', action='store_true', help='put the base on a free joint')
    parser.add_argument('--no-dissipation', action='store_true',
                        help='leave out damping and friction of the joints')
    parser.add_argument('--tree', action='store_true', help='leave out loops and mimic joints')
    parser.add_argument('--functions', nargs='*', default=list(DEFAULT_FUNCTIONS), metavar='NAME',
                        help=f'some of {", ".join(sorted(COMPILED_FUNCTIONS))}')
    parser.add_argument('--frames', nargs='*', default=[], metavar='FRAME',
                        help='frames whose Jacobians are wanted')
    parser.add_argument('--order', type=int, default=1, help='of inverse_derivatives')
    parser.add_argument('--processor', choices=sorted(PROCESSORS),
                        help='kind of processor; by default that of this machine')
    options = parser.parse_args(given)
    try:
        require_known(LiedynError, 'functions', sorted(COMPILED_FUNCTIONS), options.functions,
                      'some')
        model = load_model(options.robot, floating=options.floating)
        output = options.output or options.robot.with_suffix('.o')
        if (model.closures or model.couplings) and not options.tree:
            raise LiedynError(f'{options.robot}: expected a tree, got one with closures or '
                              'couplings; --tree leaves them out')
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        for each in UNROLLING:
            binding.set_option('own', each)
        code = OwnCode(output.stem, model, options.processor or processor_here(),
                       order=options.order, dissipation=not options.no_dissipation)
        write_own_code(output, code, options.functions, options.frames)
    except (LiedynError, OSError) as error:
        print(f'liedyn export --own-code: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
