# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write docs/figures.md from the results of the benchmarks: python -m benchmarks.document.

With names of benchmarks, only their sections are renewed.
"""

import argparse
from collections.abc import Callable, Sequence
import json
from pathlib import Path
from typing import Any

from benchmarks import readme
from benchmarks.record import FOLDER

PAGE = Path('docs/figures.md')
TITLE = """# Figures

Written by `python -m benchmarks.document` from the results of `make bench`; both work on your
machine too. Other libraries ran in the same run, in turns with this package, so read the ratios.
Figures of the tracker and its safety are in [figures of the tracker](stewart_figures.md).

*Wanted* is the goal that was set for the figure before it, a ratio or a time; a greater one is
marked as missed. Machine A is `config/aerial_manipulator.yaml`. B is made up: a floating body with
five branches of 20 joints. *Two legs* carry a floating trunk; at each ankle two rods close loops.
"""
DYNAMICS = """
## Inverse and forward dynamics beside Pinocchio

Pinocchio {pinocchio}, called from Python with arrays of numpy. A kernel is the compiled function
alone. A call is that of `Dynamics`, which checks its input and allocates the result. Times are in
us; a state of a batch is one of 1000 on all cores.
"""
C_LIBRARY = """
## The C library beside Pinocchio

Both are called from C++ in one process, in turns. Pinocchio {pinocchio} is the library of its
wheel, or compiled header only with `-O3 -march=native`. Of its two conventions the faster one
counts. A call of `libliedyn` checks its input.
"""
KINEMATICS = """
## Everyday kinematics

Checked calls beside Pinocchio {pinocchio}'s, in us of the processor. Pinocchio writes into its
data, and these calls into `out`. The last column is the ratio of calls that return new arrays.
"""
BATCHES = """
### Batches

A state of a batch of 1024 on one core, beside a single call that returns a new array, in us of the
processor. Large matrices of so many states do not fit into the cache.

Forward dynamics of a batch has a kernel of order zero alone, in three passes over the links. The
loops of time derivatives, run for one order, took 0.50 to 0.83 of a single call.
"""
HIGHER = """
## Time derivatives

To an order and all before it; ratios are those to Pinocchio {pinocchio}'s `rnea` and `aba`, which
have order zero alone. The last column is a state of a batch of 512 as a part of a single call.
"""
CASADI = """
CasADi's automatic differentiation (SX, jtimes, no JIT) of the same quantities:
"""
GROWTH = """
How a kernel's time grows: with the bodies of five branches (to 501, order 5), and with the
order r (to 16, 101 bodies). The last column is the largest error of a quadratic fit there. The
exponent over the upper orders stays below 2 while the linear term is the larger.
"""
PARTIAL = """
## Partial derivatives

The Jacobians beside those of Pinocchio {pinocchio}, products with a vector beside one call of the
dynamics, in us. Then come checked calls, those of products beside checked calls of the dynamics.
Jacobians are written into an earlier result, as Pinocchio writes them into its data. The next
column is the ratio of calls that return new arrays. The last columns are CasADi's Jacobians, and
their ratio to Pinocchio's. All calls of closed loops are checked. The Jacobians of forward
dynamics are compared with Pinocchio's `constraintDynamics` and its derivatives, those of inverse
dynamics with the dynamics. Jacobians to order 3 are compared with order 0.
"""
DENSE = """
## Dense calls

Jacobians of hybrid dynamics and of closed loops, by kinematics, and `Regressor.torque`. Beside
them are as many gradients as they have rows: n, and of closed loops one more for each constraint.
Times are those of the processor, in us; the ratio is that of the call to all gradients.
"""
CONSTRAINED = """
## Closed loops

Forward dynamics beside Pinocchio {pinocchio}'s `constraintDynamics` and `lcaba`, in us. The ratio
is that of the kernel to the faster of both; order {order} is relative to our order 0. Then the
Stewart platform in closed form, and one on rails and one on cranks, calls with all checks.
"""
INDEPENDENT = """
## Independent loops

Four-bar linkages on the ground beside one alone: kernels and checked calls, in us. The ratio is
that to as many times one. Rows of `revolute` are redundant in a plane, those of `point_on_line`
are not.
"""
SERVICES = """
## Services

Round trips of `dynamics_server` about the aerial manipulator ({rmw}), us, from the client's call
to its answer, {rounds} each. The handler is the part in this package; the echo is an
empty std_srvs/Trigger.
"""
MODES = """
## Assembly modes

Random platforms at random poses, each solved twice with other random numbers.
"""
FRESHNESS = """
## Freshness of a pose

Leg lengths sent at a rate, and poses recorded, by processes of {priority} priority ({middleware}).
Ages are those of a pose when it arrives, ms; the gap is the longest time without one. The share of
a processor is the node's. The echo is a plain node of rclpy that answers each message with its
stamp. The floor is a node that takes and publishes as the pose node does. Neither solves anything.
At 1 kHz on a quiet machine the nodes take turns, and rows are medians of them; losses are of all.
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
    kept = {} if not names else {
        text.splitlines()[0]: f'\n## {text}' for text in PAGE.read_text().split('\n## ')[1:]}
    kept |= {text.splitlines()[1].removeprefix('## '): text for text in new.values()}
    PAGE.write_text(TITLE + ''.join(kept.values()))
    readme.main()
    print(f'in {PAGE}')


def _dynamics(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], row['algorithm'], f'{row["pinocchio"]:.2f}', f'{row["kernel"]:.2f}',
             f'{row["ratio"]:.2f}', _goal(row['ratio'], row['target']), f'{row["call"]:.2f}',
             f'{row["call_ratio"]:.2f}', '' if row['batch'] is None else f'{row["batch"]:.2f}')
            for row in data['rows']]
    return [DYNAMICS.format(**data), table((
        'machine', 'algorithm', 'Pinocchio', 'kernel', 'ratio', 'wanted', 'call', 'ratio',
        'batch, a state'), rows), origin_line(data)]


def _c_library(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], f'{row["algorithm"]} {row["convention"]}'.strip(), row['kind'],
             f'{row["pinocchio"]:.2f}', f'{row["libliedyn"]:.2f}', f'{row["ratio"]:.2f}',
             _goal(row['ratio'], row['target'])) for row in data['rows']]
    return [C_LIBRARY.format(**data), table((
        'machine', 'algorithm', 'Pinocchio', 'Pinocchio, us', 'libliedyn, us', 'ratio', 'wanted'),
        rows), origin_line(data)]


def _kinematics(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], row['what'], f'{row["pinocchio"]:.2f}', f'{row["call"]:.2f}',
             f'{row["ratio"]:.2f}', _goal(row['ratio'], row['target']), f'{row["new_ratio"]:.2f}')
            for row in data['rows']]
    batches = [(row['machine'], row['what'], f'{row["single"]:.2f}', f'{row["batch"]:.3f}',
                f'{row["ratio"]:.2f}', _goal(row['ratio'], row['target']))
               for row in data['batches']]
    return [KINEMATICS.format(**data), table((
        'machine', 'what', 'Pinocchio', 'call', 'ratio', 'wanted', 'new arrays'), rows),
        origin_line(data), BATCHES, table(
            ('machine', 'what', 'single', 'batch', 'ratio', 'wanted'), batches), origin_line(data)]


def _higher(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], row['algorithm'], row['order'], f'{row["kernel"]:.2f}',
             f'{row["ratio"]:.2f}', _goal(row['ratio'], row['target']), f'{row["method"]:.2f}',
             f'{row["checked"]:.2f}', f'{row["batch"]:.2f}') for row in data['rows']]
    casadi = [(row['machine'], row['algorithm'], row['order'], f'{row["casadi"]:.0f}',
               f'{row["times_faster"]:.0f}') for row in data['casadi']]
    growth = [(row['algorithm'], f'{row["in_bodies"]:.2f}', f'{row["in_order"]:.2f}',
               '{:.1f} + {:.1f} (r+1) + {:.2f} (r+1)^2'.format(*row['quadratic_us']),
               f'{100.0 * row["quadratic_error"]:.0f} %') for row in data['growth']]
    return [HIGHER.format(**data), table((
        'machine', 'algorithm', 'order', 'kernel', 'ratio', 'wanted', 'call', 'ratio', 'batch'),
        rows), CASADI, table((
            'machine', 'algorithm', 'order', 'CasADi, us', 'times this package'), casadi),
        GROWTH, table((
            'algorithm', 'exponent in bodies', 'in r + 1, from 8', 'us', 'error of the fit'),
            growth), origin_line(data)]


def _partial(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], row['what'], f'{row["beside"]:.2f}', f'{row["kernel"]:.2f}',
             f'{row["ratio"]:.2f}', _goal(row['ratio'], row['target']),
             f'{row["call"]:.2f}', f'{row["call_ratio"]:.2f}',
             *('' if row[name] is None else f'{row[name]:.{digits}f}' for name, digits in (
                 ('new_ratio', 2), ('casadi', 0), ('casadi_ratio', 1)))) for row in data['rows']]
    return [PARTIAL.format(**data), table((
        'machine', 'what', 'beside', 'kernel', 'ratio', 'wanted', 'call', 'ratio', 'new arrays',
        'CasADi', 'ratio'), rows), origin_line(data)]


def _dense(data: dict[str, Any]) -> list[str]:
    rows = [(row['machine'], row['what'], row['rows'], f'{row["call"]:.1f}',
             f'{row["gradient"]:.2f}', f'{row["ratio"]:.2f}', _goal(row['ratio'], data['target']))
            for row in data['rows']]
    return [DENSE, table((
        'machine', 'what', 'rows', 'call', 'a gradient', 'ratio', 'wanted'), rows),
        origin_line(data)]


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
    return [CONSTRAINED.format(**data), table((
        'machine', 'coordinates', 'constraints', 'constraintDynamics', 'lcaba', 'kernel', 'ratio',
        'wanted', 'call', f'order {data["order"]}', 'ratio', 'wanted'), rows), table((
            'platform', 'call', 'wanted', f'order {data["order"]}'), platform),
        origin_line(data)]


def _independent(data: dict[str, Any]) -> list[str]:
    rows = [(row['closure'], row['algorithm'], row['linkages'], f'{row["one"]:.2f}',
             f'{row["all"]:.1f}', f'{row["ratio"]:.2f}', _goal(row['ratio'], data['target']))
            for row in data['rows']]
    return [INDEPENDENT, table((
        'closed by', 'algorithm', 'linkages', 'one', 'all', 'ratio', 'wanted'), rows),
        origin_line(data)]


def _services(data: dict[str, Any]) -> list[str]:
    rows = [(row['service'], f'{row["median"]:.0f}', f'{row["p99"]:.0f}',
             *(('', '', '') if row['share'] is None else (
                 f'{row["handler_median"]:.1f}', f'{row["handler_p99"]:.1f}',
                 f'{100.0 * row["share"]:.0f} %'))) for row in data['rows']]
    return [SERVICES.format(**data), table((
        'service', 'median', '99th percentile', 'handler, median', '99th percentile',
        'share of the handler'), rows), origin_line(data)]


def _modes(data: dict[str, Any]) -> list[str]:
    kinds = data['figures']
    names = list(next(iter(kinds.values())))
    rows = [(name, *(kinds[kind][name] for kind in kinds)) for name in names]
    return [MODES, table(('', *kinds), rows), origin_line(data)]


def _freshness(data: dict[str, Any]) -> list[str]:
    names = ('age median', 'age 99 %', 'age greatest', 'longest gap', 'poses a second',
             'passed over %', 'lost %', 'CPU %')
    rows = [(f'{row["rate"]:.0f}', row['scene'], row['node'], *(
        f'{row[x]:.0f}' if row[x] >= 100.0 else f'{row[x]:.3g}' for x in names))
            for row in data['rows'] if 'age median' in row]
    lags = [(row['node'], what, f'{value:.2g}') for row in data['rows']
            if 'age median' not in row for what, value in row.items() if 'after' in what]
    raised = all(row['raised priority'] for row in data['rows'] if 'raised priority' in row)
    return [FRESHNESS.format(**data, priority='raised' if raised else 'usual'), table((
        'Hz', 'beside', 'node', 'age, median', '99 %', 'greatest', 'gap', 'poses a second',
        'passed over, %', 'lost, %', 'CPU, %'), rows), DISTURBED, table((
            'node', 'what', 'ms'), lags), origin_line(data)]


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


def origin_line(data: dict[str, Any]) -> str:
    """Return the line that says where figures come from."""
    measured = data['measured']
    nice = measured.get('nice', 0)  # results of before have none
    return (f'\nMeasured {measured["date"][:10]} at {measured["commit"]} on {measured["cores"]} '
            f'cores of {measured["processor"]}, load {measured["load"][0]:.1f}, '
            f'{f"nice {nice}, " * bool(nice)}Python '
            f'{measured["python"]}, numba {measured["numba"]}.\n')


SECTIONS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    'dynamics': _dynamics, 'c_library': _c_library, 'kinematics': _kinematics,
    'higher_order': _higher, 'partial_derivatives': _partial,
    'dense_calls': _dense, 'constrained': _constrained,
    'independent_loops': _independent, 'services': _services, 'assembly_modes': _modes,
    'freshness': _freshness}


if __name__ == '__main__':
    main()
