# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The interface of libliedyn in C and C++, from the annotations of liedyn_ros.export.functions.

`python -m liedyn_ros.build.c_interface FOLDER` writes headers, C functions with their checks, and
names to be exported, without a compiler. No signature stands anywhere else.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
import inspect
from itertools import combinations, product
from pathlib import Path
import re
import sys
from textwrap import wrap
from types import ModuleType

from liedyn_ros.build.c_entries import functions_of
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.export.functions import kinematics, loops, partials, trees
from liedyn_ros.export.kernels.interface import Argument, ROWS

ROOT = Path(__file__).parents[2] / 'libliedyn'
CALLS, COLUMNS_FILE, EXPORTED = 'liedyn_calls.c', 'liedyn_columns.h', 'exported.map'
_WRITTEN = '/* Written by python -m liedyn_ros.build.c_interface: not to be edited. */\n'
FUNCTION_MODULES = {module.__name__.rpartition('.')[2]: module for module in (
    trees, partials, kinematics, loops)}
CODES = {  # of liedyn.h, in their order, and what they mean
    'OK': 'done',
    'NOT_FINITE': 'an input has a NaN or an infinity',
    'NOT_UNIT': 'a quaternion whose norm is off 1 by over 1e-6',
    'TOO_LARGE': 'the inputs are so large that a result is not finite',
    'SINGULAR': 'a coordinate whose force is given moves no inertia',
    'OVERLAP': 'a result shares memory with an input',
    'NULL': 'NULL where an array is needed',
    'RANGE': 'an order, a frame, axes or a flag is out of range',
    'WORK_AREA': 'the work area was not prepared for this model, or is too small',
    'UNALIGNED': 'the memory is not aligned to LIEDYN_ALIGNMENT bytes',
    'UNKNOWN': 'the model has no such name',
    'FILE': 'the file cannot be read, or is larger than the memory for it',
    'NO_MODEL': 'the bytes are not those of a model file',
    'FORMAT': 'the model file is of another format or layout: write it again by liedyn export',
    'DAMAGED': 'a model file whose length, checksum or content is wrong',
    'PROCESSOR': 'the processor is older than x86-64-v2',
    'KIND': 'the model file is of another kind of machine: tree, platform or loops',
    'NOT_POSE': 'the matrix is no pose within 1e-6',
    'NOT_REACHED': 'a rod does not reach the platform',
    'NOT_CONVERGED': 'the solver stopped elsewhere; its result says how',
    'NOT_PROVED': 'nothing is proved',
    'ABSENT': 'the machine has no masses, or legs for which the library has no such function',
    'OPEN': 'the state is not on the constraints within 1e-6',
    'UNMOVED': 'the actuators or the known coordinates do not decide the motion',
    'BROKEN': 'the constraints do not allow the motion',
    'DEPENDENT': 'the constraints become dependent, so that there are no derivatives',
    'BLOCKED': 'no motion that the loops allow leads to the measured joints',
    'DISAGREEING': 'redundant measured joints disagree by over 0.05 rad or m',
    'INTERNAL': 'a fault of libliedyn',
    'LATE': 'the sample is not later than the last one',
    'NOT_STARTED': 'the tracker was given no home pose'}
_OF_LOOPS = {'m': 'size_at(loops, NUMBER_OF_CONSTRAINTS)'}
_WIDTH = 100  # of a line of C
_PLACE = re.compile(r'^@(\w+)@\n', re.MULTILINE)


@dataclass(frozen=True)
class Function:
    """A function of liedyn.h: its name, what it does, and its arguments by name."""

    name: str
    text: str
    arguments: dict[str, Argument]

    def some(self, which: Callable[[Argument], bool]) -> list[str]:
        """Return the names of some arguments."""
        return [name for name, of in self.arguments.items() if which(of)]

    @property
    def public(self) -> dict[str, Argument]:
        """Return the arguments behind model and work area."""
        return {name: of for name, of in self.arguments.items() if of.shape or of.number}

    @property
    def machine(self) -> str:
        """Return the kind of machine that it takes first."""
        return 'loops' if self.name.startswith('loops_') else 'model'

    @property
    def results(self) -> list[str]:
        """Return the names of arrays that are written."""
        return self.some(lambda of: of.is_result and not of.struct)

    @property
    def inputs(self) -> list[str]:
        """Return the names of arrays of numbers that are read."""
        return self.some(lambda of: of.is_input)


def functions(module: ModuleType) -> list[Function]:
    """Return the functions of a module, in its order."""
    return [Function(each.name, inspect.getdoc(each.function) or '', dict(zip(
        each.names, each.kinds))) for each in functions_of(module) if each.on_words]


def signature(function: Function) -> str:
    """Return the declaration in C, without what ends it."""
    given = [f'const liedyn_{function.machine} *{function.machine}', 'void *work']
    for name, of in function.public.items():
        kind = f'{of.struct} *' if of.struct else 'int ' if of.number else (
            'unsigned char *' if of[0] == 'b' else 'double *')
        given.append(f'{"" if of.number or of.is_result else "const "}{kind}{name}')
    return _listed(f'int liedyn_{function.name}(', given, ')')


def _listed(begin: str, items: Sequence[str], end: str, indent: int | None = None) -> str:
    """Return items behind a begin, over as many lines as they need."""
    lines, at = [begin], len(begin) if indent is None else indent
    for k, item in enumerate(items):
        part = item + (end if k == len(items) - 1 else ',')
        if len(lines[-1]) + len(part) + 1 > _WIDTH:
            lines.append(' ' * at + part)
        else:
            lines[-1] += part if lines[-1].endswith(('(', '{')) else ' ' + part
    return '\n'.join(lines)


def declaration(function: Function) -> str:
    """Return the declaration in the header, with its comment."""
    text = ' '.join(function.text.split())
    comment = f'/** {text} */' if len(text) < _WIDTH - 7 else '\n'.join(
        ['/**', *(f' * {line}' for line in wrap(text, _WIDTH - 3, break_on_hyphens=False)), ' */'])
    return f'{comment}\n{signature(function)};'


def _count(shape: Sequence[str | int]) -> str:
    """Return the expression in C of how many entries an array has."""
    return ' * '.join(f'({size})' if size == ROWS else str(size)
                      for size in shape if size != 1) or '1'


def _words(name: str, of: Argument) -> list[str]:
    """Return the words of an argument of a kernel: an address and lengths, or a number."""
    if of.number:
        return [f'{{.whole = {name}}}']
    if not of.shape:
        return ['{area(work)}', '{.whole = 1}']
    lengths = [str(size) for size in of.shape]
    if of.optional:
        lengths[0] = f'{name} ? {lengths[0]} : 0'
    at = f'found_{name}' if of.struct else f'in({name})'
    return [f'{{{at}}}', *(f'{{.whole = {each}}}' for each in lengths)]


_SCRATCH = {  # beside tasks + 13
    'model': '6 * liedyn_nv(model)',
    'loops': '6 * liedyn_nv(liedyn_loops_tree(loops)) + liedyn_constraints(loops)'}


def definition(function: Function) -> str:
    """Return the function in C: its checks, the call of the kernel, and what it refused."""
    of, machine = function.public, function.machine
    order, begin = 'order' if 'order' in of else '0', 'begin' if machine == 'model' else 'start'
    needed = ' && '.join(name for name, each in of.items()
                         if each.shape and not (each.optional or each.struct))
    needed += ' != NULL' * (' ' not in needed)  # which is no pointer then
    lines = [f'{signature(function)} {{',
             f'  int code = {begin}({machine}, work, {order}, {needed});']
    checks = {'frame': 'check_frame(model, work, frame)', 'axes': 'check_axes(work, axes)',
              'closure': 'check_closure(loops, work, closure)',
              'tasks': 'check_tasks(work, tasks)', 'held': 'check_most(work, "held", tasks, held)',
              'size': f'check_most(work, "size", size, tasks + 13 + {_SCRATCH[machine]})'}
    lines += [f'  if (!code) code = {checks[each.number]};'
              for each in of.values() if each.number in checks]
    sizes = sorted({size for each in of.values() for size in each.shape
                    if isinstance(size, str) and size != ROWS and size not in of})
    if machine == 'loops' and sizes:
        lines += ['  if (code) return code;',
                  '  const liedyn_model *model = liedyn_loops_tree(loops);']
    flags = [name for name, each in of.items() if each[0] == 'b']
    lines += [f'  if (!code) code = check_flags(model, work, "{name}", {name});' for name in flags]
    lines += [f'  double found_{name}[{_count(each.shape)}];'
              for name, each in of.items() if each.struct]
    lines += ['  if (code) return code;', *(
        f'  const int64_t {size} = {_OF_LOOPS.get(size, f"size_of(model, {size.upper()})")};'
        for size in sizes)]
    pairs = [(a, b) for a, b in (*product(function.results, function.inputs),
                                 *combinations(function.results, 2)) if a != b]
    lines.append(_listed('  const int apart = ', [
        f'!share({a}, {_count(of[a].shape)}, {b}, {_count(of[b].shape)})'
        for a, b in pairs] or ['1'],
        ';', 6).replace('),', ') &&').replace('=  ', '= '))
    if 'model' in function.arguments:
        passed = [{'model': 'words(model)', 'work': 'area(work)', 'links': 'content(model, LINKS)'
                   }.get(name, name if each.number else f'in({name})')
                  for name, each in function.arguments.items()]
        lines.append(_listed(f'  int64_t done = !apart ? REFUSED : kernels()->{function.name}(',
                             passed, ');', 6))
    else:
        passed = [word for name, each in function.arguments.items() for word in _words(name, each)]
        lines += [_listed('  const word passed[] = {', passed, '};', 6),
                  '  int64_t done = 0;',
                  '  if (!apart) done = REFUSED;',
                  f'  else if (kernels()->{function.name}(passed, &done)) done = FAILED;']
    lines += [*(f'  if (done == 0 && {name} != NULL) *{name} = as_{name}(found_{name});'
                for name, each in of.items() if each.struct),
              '  if (done == 0) return LIEDYN_OK;']
    lines.append(_listed('  const array inputs[] = {', [
        _row(name, of[name], next((of[each] for each in flags), None), *flags)
        for name in function.inputs], '};', 6))
    if function.results:
        lines.append(_listed('  const array results[] = {', [
            _row(name, of[name]) for name in function.results], '};', 6))
    end = 'refuse(model' if machine == 'model' else 'conclude(loops'
    results = 'results' if function.results else 'NULL'
    lines += [f'  return {end}, work, done, inputs, {len(function.inputs)}, {results}, '
              f'{len(function.results)});', '}']
    return '\n'.join(lines)


def _row(name: str, of: Argument, mask: Argument | None = None, flags: str = 'NULL') -> str:
    """Return the row of an array that a refused call looks at."""
    count = _count(of.shape)
    if of.read is None or mask is None:
        return f'{{"{name}", {name}, {count}, NULL, 0}}'
    if of.read and mask.optional and flags == 'prescribed':  # NULL prescribes nothing
        count = f'{flags} ? {count} : 0'
    return f'{{"{name}", {name}, {count}, {flags}, {int(of.read)}}}'


def method(function: Function) -> str:
    """Return the method of liedyn::Work in C++, on vectors and matrices of Eigen."""
    given, passed, checks, last = [], [], [], []
    rows = next((name for name, each in function.public.items()
                 if each.shape[:1] == (ROWS,) and each.is_input), '')
    for name, of in function.public.items():
        shape = of.shape[1:] if of.shape[:1] == (1,) else of.shape
        if of.number:
            kind = {'axes': 'liedyn_axes ', 'truth': 'bool '}.get(of.number, 'int ')
            if of.number != 'order':
                given.append(kind + name)
            passed.append(f'static_cast<int>({rows}.rows()) - 1' if of.number == 'order' else name)
        elif of.optional and 'bodies' in shape:
            last.append(f'const double *{name} = nullptr')
            passed.append(name)
        else:
            kind, check = _eigen(name, shape, of, rows)
            given.append(kind + name)
            checks += check
            passed.append(f'{name}.data()')
    comment = ' '.join(function.text.split())
    lines = [*(f'  /// {line}' for line in wrap(comment, _WIDTH - 6, break_on_hyphens=False)),
             _listed(f'  void {function.name}(', [*given, *last], ') {'),
             *(f'    {each}' for each in checks),
             _listed(f'    check(liedyn_{function.name}(', [
                 'machine_', 'memory_.get()', *passed], '));'), '  }']
    return '\n'.join(lines)


def _eigen(name: str, shape: tuple[str | int, ...], of: Argument, rows: str
           ) -> tuple[str, list[str]]:
    """Return the type of an array in C++, and the statements that check its size, or set it."""
    sizes = [{'nq': 'nq_', 'nv': 'nv_', ROWS: f'{rows}.rows()',
              'bodies': 'liedyn_bodies(machine_)'}.get(str(size), str(size)) for size in shape]
    fixed = {(4, 4): 'Pose &', (6,): 'Twist &', (6, 'nv'): 'Jacobian &'}
    if len(shape) == 1:
        vector = {'b': 'const Flags &'}.get(
            of[0], 'Eigen::Ref<Vector> ' if of.is_result else 'const VectorIn &')
        check = [f'fits("{name}", {name}.size(), {sizes[0]});']
        return fixed.get(shape, vector), [] if shape in fixed else check
    if of.is_result and of.read is None:
        kind = fixed.get(shape, 'Matrix &')
        size = [f'{sizes[0]} * 4', '4'] if len(shape) == 3 else sizes
        return kind, [] if kind == 'Pose &' else [f'{name}.resize({size[0]}, {size[1]});']
    check = [f'fits("{name}", {name}.cols(), {sizes[1]});']
    if name != rows:
        check.append(f'fits("{name}", {name}.rows(), {sizes[0]});')
    if of.is_result:
        return 'Matrix &', check
    return 'const MatrixIn &', [*check, f'fits("{name}", {name}.outerStride(), {sizes[1]});']


def codes_of_header() -> str:
    """Return the enumeration of codes, with what they mean."""
    rows = [f'  LIEDYN_{name} = {k}{"," if k + 1 < len(CODES) else " "} /* {text} */'
            for k, (name, text) in enumerate(CODES.items())]
    return '\n'.join(['enum liedyn_code {', *rows, '};'])


def messages() -> str:
    """Return the function of what a code means."""
    return '\n'.join([
        'const char *liedyn_message(int code) {', '  static const char *const messages[] = {',
        *(f'    "{text}",' for text in CODES.values()), '  };',
        f'  return code < 0 || code >= {len(CODES)} ? "not a code of libliedyn" : messages[code];',
        '}'])


def interface() -> Iterator[tuple[str, str]]:
    """Yield name and text of each file."""
    parts = {'codes': codes_of_header()}
    for name, module in FUNCTION_MODULES.items():
        parts[name] = '\n'.join(map(declaration, functions(module)))
        if module is loops:
            continue  # whose methods are written by hand
        parts[f'{name}_methods'] = '\n\n'.join(map(method, functions(module)))
    exported = set()
    for path in sorted(ROOT.glob('include/*.in')):
        text = _PLACE.sub(lambda place: parts[place[1]] + '\n', path.read_text())
        exported |= set(re.findall(r'^\w.*\b(liedyn_\w+)\(', text, re.MULTILINE))
        yield f'include/{path.stem}', text
    yield EXPORTED, '\n'.join(['{', '  global:', *(
        f'    {name};' for name in sorted(exported)), '  local: *;', '};', ''])
    columns = ', '.join(
        f'{name.upper()} = {tables.Tree.column(name)}' for name in ('nq', 'nv', 'bodies'))
    yield COLUMNS_FILE, f'{_WRITTEN}enum {{ {columns} }}; /* of the first row of a model */\n'
    yield CALLS, '\n\n'.join([
        f'{_WRITTEN}\n#include "loops.h"', messages(),
        *(definition(each) for module in FUNCTION_MODULES.values() for each in functions(module)),
        ''])


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files into a folder."""
    folder = Path((sys.argv[1:] if arguments is None else arguments)[0])
    for name, text in interface():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, text.encode())
    return 0


if __name__ == '__main__':
    sys.exit(main())
