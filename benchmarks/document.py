# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write docs/figures.md and docs/tables from the results of the benchmarks.

python -m benchmarks.document writes all; with names of benchmarks, only their sections.
"""

import argparse
from collections.abc import Callable, Sequence
import csv
import itertools
import json
from pathlib import Path
import re
from typing import Any

from benchmarks import readme
from benchmarks.record import FOLDER

PAGE, TABLES = Path('docs/figures.md'), Path('docs/tables')
# What the page shows of each table; the results have all.
SHOWN = 'A: aerial manipulator', 'arm (panda)', 'arm (ur5)', 'humanoid (g1)'
FEW = SHOWN[2:]
LOOPS = 'Stewart platform', 'two legs'
RATES, SCENES = (100, 1000, 4000), ('quiet', 'four loops a core')
TITLE = """# Figures

Speed beside Pinocchio and CasADi, in microseconds, in turns; ratios are our time over theirs, for
each make of processor. `make bench` measures yours. *Wanted* is the goal for the figure before.
Robot A is `config/aerial_manipulator.yaml`; *two legs* have ankles closed by rods.
[Results](results.md) has accuracy, tracking, faults and identification.
"""
DYNAMICS = """
## Inverse and forward dynamics beside Pinocchio

From Python, Pinocchio {pinocchio}. *Kernel* is the compiled function alone, *call* a method of
`Dynamics` with checks and a new result, *batch* one of 1000 states on all cores.
"""
C_LIBRARY = """
## The C library beside Pinocchio

Called from C++ in one process. Pinocchio {pinocchio} is the library of its wheel, in the faster
of its two conventions. Compiled header only with `-march=native` (AVX-512) it gains most in `aba
derivatives`, where the ratios were 0.70 to 0.79.
"""
OWN_CODE = """
## The code of one robot

`liedyn export ROBOT --own-code`, called from C beside CasADi's generated C of the same formulas,
Pinocchio's generated code (CppADCodeGen; without friction, of M one triangle) and the general
function of any robot. Ratios are to the faster of both peers.
"""
KINEMATICS = """
## Everyday kinematics

Checked calls with `out=` beside Pinocchio {pinocchio}, which writes into its data. The last
column is the ratio for calls that return new arrays.
"""
BATCHES = """
### Batches

One state of a batch of 1024 on one core, beside a single call with a new array.
"""
HIGHER = """
## Time derivatives

All orders up to the given one. Ratios are to Pinocchio {pinocchio}'s `rnea` and `aba`, which
have order zero alone; *batch* is one state of 512 as a part of a single call.
"""
CASADI = """
CasADi's automatic differentiation (SX, jtimes, no JIT) of the same quantities:
"""
PARTIAL = """
## Partial derivatives

Jacobians compared with Pinocchio {pinocchio}, products with a vector (`J x`, `J^T y`)
beside one call of the dynamics. Jacobians go into an earlier result; *new arrays* is the ratio
without. Of closed loops, Pinocchio has the Jacobians of forward dynamics; the others stand beside
the dynamics.
"""
DENSE = """
## Dense calls

Jacobians by geometry (*by kinematics*), of hybrid dynamics and of closed loops, and the
regressor, beside as many gradients as they have rows.
"""
CONSTRAINED = """
## Closed loops

Forward dynamics; the ratio is to the faster of Pinocchio {pinocchio}'s two algorithms, the one of
order {order} to our order 0. The second table has platforms in closed form, as checked calls.
"""
INDEPENDENT = """
## Independent loops

Many four-bar linkages in one model, and the ratio of their time to as many single ones.
"""
SERVICES = """
## Services

Round trips of `dynamics_server` for robot A ({rmw}), {rounds} calls each. *Handler* is the part
in this package, *echo* an empty `std_srvs/Trigger`.
"""
MODES = """
## Assembly modes

All poses with the same leg lengths, for random platforms, each solved twice.
"""
FRESHNESS = """
## Freshness of a pose

The age in ms of a pose of `stewart_pose` when it arrives, and the longest gap ({priority}
priority, {middleware}). *Echo* is a plain rclpy node that answers each message. *Passed over* are
samples that a newer one overtook.
"""
DISTURBED = """
At 1 kHz after a disturbance, ms: until a pose arrives that is fresh, and the oldest one before.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page, or renew the sections of some benchmarks in it."""
    parser = argparse.ArgumentParser(prog='benchmarks.document', description=__doc__)
    parser.add_argument('names', nargs='*', metavar='BENCHMARK',
                        help=f'benchmarks to renew alone: {", ".join(SECTIONS)}')
    names = parser.parse_args(arguments).names
    if unknown := sorted(set(names) - set(SECTIONS)):
        parser.error(f'expected some of {list(SECTIONS)}, got {unknown}')
    new = {name: ''.join(SECTIONS[name](_read(name))) for name in names or SECTIONS}
    before = {text.splitlines()[0]: f'\n## {text}'
              for text in PAGE.read_text().split('\n## ')[1:]}
    kept = before if names else {}
    for text in new.values():
        title = text.splitlines()[1].removeprefix('## ')
        own = _processors(text)
        kept[title] = text + ''.join(
            f'{line}\n' for line in before.get(title, '').splitlines()
            if line.startswith('Measured ') and not _processors(line) & own)
    PAGE.write_text(TITLE + ''.join(kept.values()))
    readme.main()
    print(f'in {PAGE}')


def _dynamics(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], row['algorithm'], f'{row["pinocchio"]:.2f}', f'{row["kernel"]:.2f}',
             f'{row["ratio"]:.2f}', _goal(row['ratio'], row['target']), f'{row["call"]:.2f}',
             f'{row["call_ratio"]:.2f}', '' if row['batch'] is None else f'{row["batch"]:.2f}')
            for row in data['rows'] if row['machine'] in SHOWN]
    return [DYNAMICS.format(**data), linked('dynamics', (
        'machine', 'algorithm', 'Pinocchio', 'kernel', 'ratio', 'wanted', 'call',
        'ratio of the call', 'batch, a state'), rows, make_of(data)), origin_line(data)]


def _c_library(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], f'{row["algorithm"]} {row["convention"]}'.strip(), row['kind'],
             f'{row["pinocchio"]:.2f}', f'{row["libliedyn"]:.2f}', f'{row["ratio"]:.2f}',
             _goal(row['ratio'], row['target'])) for row in data['rows']
            if row['kind'] == 'library' and row['machine'] in (*SHOWN, *LOOPS)]
    return [C_LIBRARY.format(**data), linked('c_library', (
        'machine', 'algorithm', 'Pinocchio', 'Pinocchio, us', 'libliedyn, us', 'ratio', 'wanted'),
        rows, make_of(data)), origin_line(data)]


def _own_code(data: dict[str, Any]) -> list[str]:
    rows = [(*name.rsplit(', ', 1), *(f'{row["us"][way]:.3f}' for way in (
        'casadi', 'pinocchio', 'general', 'own', 'python')), '{:.2f}'.format(
            1.0 / min(row['of own code'][peer] for peer in ('casadi', 'pinocchio'))))
            for name, row in data['calls'].items()]
    return [OWN_CODE, linked('own_code', (
        'robot', 'function', 'CasADi C', 'Pinocchio C', 'general', 'own code',
        'general, from Python', 'ratio'), rows, make_of(data)), origin_line(data)]


def _kinematics(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], row['what'], f'{row["pinocchio"]:.2f}', f'{row["call"]:.2f}',
             f'{row["ratio"]:.2f}', _goal(row['ratio'], row['target']), f'{row["new_ratio"]:.2f}')
            for row in data['rows'] if row['machine'] in FEW]
    batches = [(row['machine'], row['what'], f'{row["single"]:.2f}', f'{row["batch"]:.3f}',
                f'{row["ratio"]:.2f}', _goal(row['ratio'], row['target']))
               for row in data['batches'] if row['machine'] in FEW]
    return [KINEMATICS.format(**data), linked('kinematics', (
        'machine', 'what', 'Pinocchio', 'call', 'ratio', 'wanted', 'ratio with new arrays'), rows,
        make_of(data)), BATCHES, linked('batches', (
            'machine', 'what', 'single', 'batch', 'ratio', 'wanted'), batches, make_of(data)),
        origin_line(data)]


def _higher(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], row['algorithm'], row['order'], f'{row["kernel"]:.2f}',
             f'{row["ratio"]:.2f}', _goal(row['ratio'], row['target']), f'{row["method"]:.2f}',
             f'{row["checked"]:.2f}', f'{row["batch"]:.2f}') for row in data['rows']
            if row['machine'] == SHOWN[0]]
    casadi = [(row['machine'], row['algorithm'], row['order'], f'{row["casadi"]:.0f}',
               f'{row["times_faster"]:.0f}') for row in data['casadi']]
    return [HIGHER.format(**data), linked('time_derivatives', (
        'machine', 'algorithm', 'order', 'kernel', 'ratio', 'wanted', 'call', 'ratio of the call',
        'batch'), rows, make_of(data)), CASADI, linked('casadi', (
            'machine', 'algorithm', 'order', 'CasADi, us', 'times this package'), casadi),
        origin_line(data)]


def _partial(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], row['what'], f'{row["beside"]:.2f}', f'{row["kernel"]:.2f}',
             f'{row["ratio"]:.2f}', _goal(row['ratio'], row['target']),
             f'{row["call"]:.2f}', f'{row["call_ratio"]:.2f}',
             *('' if row[name] is None else f'{row[name]:.{digits}f}' for name, digits in (
                 ('new_ratio', 2), ('casadi', 0), ('casadi_ratio', 1))))
            for row in data['rows'] if row['machine'].removesuffix(', loops') in (*FEW, LOOPS[0])
            and not row['what'].endswith((', all', ' to 3'))]
    return [PARTIAL.format(**data), linked('partial_derivatives', (
        'machine', 'what', 'beside', 'kernel', 'ratio', 'wanted', 'call', 'ratio of the call',
        'ratio with new arrays', 'CasADi', 'times this package'), rows, make_of(data)),
        origin_line(data)]


def _dense(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], row['what'], row['rows'], f'{row["call"]:.1f}',
             f'{row["gradient"]:.2f}', f'{row["ratio"]:.2f}', _goal(row['ratio'], data['target']))
            for row in data['rows'] if row['machine'].removesuffix(', loops') in (*FEW, LOOPS[0])]
    return [DENSE, linked('dense_calls', (
        'machine', 'what', 'rows', 'call', 'a gradient', 'ratio', 'wanted'), rows,
        make_of(data)), origin_line(data)]


def _constrained(data: dict[str, Any]) -> list[str]:
    wanted = data['targets']
    rows = [(row['machine'], row['nv'], row['constraints'],
             f'{row["constraint_dynamics"]:.1f}', f'{row["lcaba"]:.1f}', f'{row["kernel"]:.1f}',
             f'{row["ratio"]:.2f}', _goal(row['ratio'], wanted['peer']), f'{row["call"]:.1f}',
             f'{row["order_5"]:.1f}', f'{row["order_ratio"]:.2f}',
             _goal(row['order_ratio'], wanted['order']))
            for row in data['rows']]
    platform = [(row['algorithm'], f'{row["call"]:.1f}',
                 _goal(row['call'], row.get('target')),
                 f'{row["order_5"]:.1f}') for row in data['platform']]
    return [CONSTRAINED.format(**data), linked('closed_loops', (
        'machine', 'coordinates', 'constraints', 'constraintDynamics', 'lcaba', 'kernel', 'ratio',
        'wanted', 'call', f'order {data["order"]}', 'ratio of the order', 'wanted'), rows,
        make_of(data)), linked(
            'platforms', ('platform', 'call', 'wanted', f'order {data["order"]}'), platform),
        origin_line(data)]


def _independent(data: dict[str, Any]) -> list[str]:
    rows = [(row['closure'], row['algorithm'], row['linkages'], f'{row["one"]:.2f}',
             f'{row["all"]:.1f}', f'{row["ratio"]:.2f}', _goal(row['ratio'], data['target']))
            for row in data['rows'] if row['closure'] == 'revolute']
    return [INDEPENDENT, linked('independent_loops', (
        'closed by', 'algorithm', 'linkages', 'one', 'all', 'ratio', 'wanted'), rows,
        make_of(data)), origin_line(data)]


def _services(data: dict[str, Any]) -> list[str]:
    rows = [(row['service'], f'{row["median"]:.0f}', f'{row["p99"]:.0f}',
             *(('', '', '') if row['share'] is None else (
                 f'{row["handler_median"]:.1f}', f'{row["handler_p99"]:.1f}',
                 f'{100.0 * row["share"]:.0f} %'))) for row in data['rows']]
    return [SERVICES.format(**data), linked('services', (
        'service', 'median', '99th percentile', 'handler, median', '99th percentile',
        'share of the handler'), rows), origin_line(data)]


def _modes(data: dict[str, Any]) -> list[str]:
    kinds = data['figures']
    names = list(next(iter(kinds.values())))
    rows = [(name, *(kinds[kind][name] for kind in kinds)) for name in names]
    return [MODES, linked('assembly_modes', ('figure', *kinds), rows), origin_line(data)]


def _freshness(data: dict[str, Any]) -> list[str]:
    names = ('age median', 'age 99 %', 'age greatest', 'longest gap', 'poses a second',
             'passed over %', 'lost %', 'CPU %')
    rows = [(f'{row["rate"]:.0f}', row['scene'], row['node'], *(
        f'{row[x]:.0f}' if row[x] >= 100.0 else f'{row[x]:.3g}' for x in names))
            for row in data['rows'] if 'age median' in row and row['rate'] in RATES
            and row['scene'] in SCENES and row['node'] != 'floor']
    lags = [(row['node'], what, f'{value:.2g}') for row in data['rows']
            if 'age median' not in row for what, value in row.items() if 'after' in what]
    raised = all(row['raised priority'] for row in data['rows'] if 'raised priority' in row)
    return [FRESHNESS.format(**data, priority='raised' if raised else 'usual'), linked(
        'freshness', ('Hz', 'beside', 'node', 'age, median', '99 %', 'greatest', 'gap',
                      'poses a second', 'passed over, %', 'lost, %', 'CPU, %'), rows),
            DISTURBED, table(('node', 'what', 'ms'), lags), origin_line(data)]


def _read(name: str) -> dict[str, Any]:
    path = FOLDER / f'{name}.json'
    if not path.is_file():
        raise SystemExit(f'{path}: expected figures, got no file: run make bench first')
    data: dict[str, Any] = json.loads(path.read_text())
    return data


def _goal(figure: float, target: float | None) -> str:
    return '' if target is None else f'<= {target:g}' + ', missed' * (figure > target)


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table of Markdown."""
    lines = [header, ['---'] * len(header), *rows]
    return '\n' + ''.join('| ' + ' | '.join(map(str, line)) + ' |\n' for line in lines)


def linked(name: str, header: Sequence[str], rows: Sequence[Sequence[Any]],
           make: str = '') -> str:
    """
    Write a table of docs/tables, which the site shows; return its link, with its ratios.

    With a make of processor, its name stands in the titles of ratios, and those of other makes
    in the table of before stay as the last columns.
    """
    TABLES.mkdir(exist_ok=True)
    path = TABLES / f'{name}.csv'
    if make:
        header = [f'{title}, {make}' * title.startswith('ratio') or title for title in header]
        header, rows = _with_other_makes(path, make, header, rows)
    with path.open('w', encoding='utf-8', newline='') as file:
        csv.writer(file, lineterminator='\n').writerows([header, *rows])
    texts = [f'Table {name.replace("_", " ")} ({len(rows)} rows)']
    for k, title in enumerate(header):
        if re.fullmatch(r'ratio(, \w+)?', title) and (
                values := [float(row[k]) for row in rows if row[k]]):
            texts.append(f'{title} {min(values):.2f} to {max(values):.2f}')
        if title == 'wanted':
            missed = sum(str(row[k]).endswith('missed') for row in rows)
            texts[-1] += f' (goal missed in {missed})' if missed else ' (goals met)'
    return f'\n[{", ".join(texts)}]({TABLES.name}/{name}.csv)\n'


def _with_other_makes(path: Path, make: str, header: Sequence[str],
                      rows: Sequence[Sequence[Any]]) -> tuple[list[str], list[list[Any]]]:
    """Return a header and rows with the ratios that the file has of other makes."""
    head, *before = csv.reader(path.read_text().splitlines()) if path.is_file() else [[]]
    others = [k for k, title in enumerate(head)
              if title.startswith('ratio') and not title.endswith(f', {make}')]
    known = {_name(row): [row[k] for k in others] for row in before}
    return [*header, *(head[k] for k in others)], [
        [*row, *known.get(_name(row), [''] * len(others))] for row in rows]


def _name(row: Sequence[Any]) -> tuple[str, ...]:
    """Return the name of a row: its cells before the first figure with decimals."""
    return tuple(itertools.takewhile(lambda cell: not re.fullmatch(r'\d+\.\d+', cell),
                                     map(str, row)))


def _processors(text: str) -> set[str]:
    """Return the makes of processors in lines that say where figures come from."""
    return set(re.findall(r' cores of (\w+)', text))


def make_of(data: dict[str, Any]) -> str:
    """Return the make of the processor that figures were measured on, such as Intel."""
    return str(data['measured']['processor']).partition(' ')[0].removesuffix('(R)')


def renew(page: Path, name: str, text: str) -> None:
    """Write a text between the markers of that name on a page."""
    begin, end = f'<!-- {name}: begin -->', f'<!-- {name}: end -->'
    before, _, rest = page.read_text().partition(begin)
    page.write_text(f'{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}')
    print(f'in {page}')


def origin_line(data: dict[str, Any]) -> str:
    """Return the line that says where figures come from."""
    measured = data['measured']
    return (f'\nMeasured {measured["date"][:10]} at {measured["commit"]} on {measured["cores"]} '
            f'cores of {measured["processor"]}.\n')


SECTIONS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    'dynamics': _dynamics, 'c_library': _c_library, 'own_code': _own_code,
    'kinematics': _kinematics, 'higher_order': _higher, 'partial_derivatives': _partial,
    'dense_calls': _dense, 'constrained': _constrained,
    'independent_loops': _independent, 'services': _services, 'assembly_modes': _modes,
    'freshness': _freshness}


if __name__ == '__main__':
    main()
