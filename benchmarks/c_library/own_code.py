# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The code of one robot beside CasADi's C of the same formulas and Pinocchio's generated code.

`python -m benchmarks.c_library.own_code`. All are called from C in turns of one process; general
is the kernel that Python calls, for any model. CasADi's scalar expressions (SX, after cse) are
compiled by gcc -O3 for the same kind of processor; they check nothing. Pinocchio generates code by
CppADCodeGen, here without friction and damping, and of M one triangle; -Ofast is its own default.
Where a peer does not install, its column is empty. Times are of the thread: what others compute is
left out.
"""

import argparse
from collections.abc import Callable, Sequence
import ctypes
from importlib.util import find_spec
from pathlib import Path
import statistics
import subprocess
import sys
import tempfile
from time import thread_time
from typing import Any

import numpy as np

from benchmarks.c_library.pinocchio_code import GeneratedCode, is_there
from benchmarks.record import keep
from benchmarks.robots import Robot, robots
from benchmarks.timing import Call, interleaved
from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.jit import rooms
from liedyn_ros.model import Model
from liedyn_ros.model.io.urdf import to_urdf
from liedyn_ros.model.kernels.kinds import FREE, PRISMATIC, REVOLUTE

FUNCTIONS = 'inverse', 'forward', 'mass_matrix'
ROBOTS = 'arm (ur5)', 'arm (panda)', 'quadruped (go2)', 'humanoid (g1)'
ROUNDS, CALLS = 101, 500
HARNESS = """
#include <stdint.h>
void own(int64_t (*f)(void *, void *, void *, void *), void **x, int64_t n) {
  while (n--) f(x[0], x[1], x[2], x[3]);
}
void casadi(int (*f)(void *, void *, void *, void *, int), void **x, int64_t n) {
  while (n--) f(x[0], x[1], x[2], x[3], 0);
}
struct none { void *library, *forward, *reverse; };
void pinocchio(void (*f)(void *, void *, struct none), void **x, int64_t n) {
  while (n--) f(x[0], x[1], (struct none){0, 0, 0});
}
void general(int64_t (*f)(void *, void *), void **x, int64_t n) {
  while (n--) f(x[0], x[1]);
}
"""


class Expressions:
    """Newton and Euler, the articulated-body algorithm and composite bodies, in CasADi's SX."""

    def __init__(self, model: Model) -> None:
        """Name configuration, velocity and a third vector, and write the motion of links."""
        import casadi
        from benchmarks.algorithms import casadi_expressions as written
        self.casadi, table = casadi, model.link_table
        self.table, self.parent = table, table.parent
        self.q, self.v, self.x = (casadi.SX.sym(name, size) for name, size in (
            ('q', model.nq), ('v', model.nv), ('x', model.nv)))
        self.ground = casadi.SX(casadi.DM([0, 0, 0, *-table.gravity]))
        self.adjoint, self.screw, self.twist, self.term = [], [], [], []
        self.at = [slice(k, k + (6 if kind == FREE else 1))
                   for k, kind in zip(table.vi, table.kind)]
        self.body = [casadi.SX(casadi.DM(written._inertia(each))) for each in table.inertia]
        self.cross = written._ad
        for i in range(table.N):
            self.adjoint.append(written._adjoint_inverse(self._pose(i)))
            self.screw.append(casadi.SX.eye(6) if table.kind[i] == FREE else casadi.SX(
                casadi.DM(np.eye(6)[2 if table.kind[i] == REVOLUTE else 5])))
            relative = self.screw[i] @ self.v[self.at[i]]
            self.twist.append(relative if self.parent[i] < 0 else
                              self.adjoint[i] @ self.twist[self.parent[i]] + relative)
            self.term.append(self.cross(self.twist[i]) @ relative)

    def _pose(self, i: int) -> tuple[Any, Any]:
        casadi, table, at = self.casadi, self.table, int(self.table.qi[i])
        rotation, position = table.placement[i, :9].reshape(3, 3), table.placement[i, 9:]
        if table.kind[i] == FREE:
            u, w = self.q[at + 3:at + 6], self.q[at + 6]
            turn = casadi.SX.eye(3) + 2 * w * casadi.skew(u) + 2 * casadi.mpower(
                casadi.skew(u), 2)
            return rotation @ turn, position + rotation @ self.q[at:at + 3]
        if table.kind[i] == PRISMATIC:
            return rotation, position + rotation @ casadi.vertcat(0, 0, self.q[at])
        s, c = casadi.sin(self.q[at]), casadi.cos(self.q[at])
        return rotation @ casadi.vertcat(casadi.horzcat(c, -s, 0), casadi.horzcat(s, c, 0),
                                         casadi.horzcat(0, 0, 1)), position

    def _resistance(self) -> Any:
        casadi = self.casadi
        return (casadi.DM(self.table.damping) * self.v
                + casadi.DM(self.table.friction) * casadi.sign(self.v))

    def inverse(self) -> Any:
        """Return tau of q, v and a."""
        casadi, a, wrench = self.casadi, [], []
        for i, p in enumerate(self.parent):
            before = self.ground if p < 0 else a[p]
            a.append(self.adjoint[i] @ before + self.term[i] + self.screw[i] @ self.x[self.at[i]])
            wrench.append(self.body[i] @ a[i] - self.cross(self.twist[i]).T @ (
                self.body[i] @ self.twist[i]))
        tau = [None] * len(a)
        for i, p in reversed(list(enumerate(self.parent))):
            tau[i] = self.screw[i].T @ wrench[i]
            if p >= 0:
                wrench[p] += self.adjoint[i].T @ wrench[i]
        return casadi.vertcat(*tau) + self._resistance() + casadi.DM(self.table.armature) * self.x

    def forward(self) -> Any:
        """Return a of q, v and tau."""
        casadi, body = self.casadi, list(self.body)
        bias = [-self.cross(t).T @ (b @ t) for t, b in zip(self.twist, body)]
        tau, gains = self.x - self._resistance(), [None] * len(body)
        armature = casadi.DM(self.table.armature)
        for i, p in reversed(list(enumerate(self.parent))):
            gain, at = body[i] @ self.screw[i], self.at[i]
            pivot = self.screw[i].T @ gain + casadi.diag(armature[at])
            rest = tau[at] - self.screw[i].T @ bias[i]
            gains[i] = gain, pivot, rest
            if p >= 0:
                inner = body[i] - gain @ casadi.solve(pivot, gain.T)
                body[p] += self.adjoint[i].T @ inner @ self.adjoint[i]
                bias[p] += self.adjoint[i].T @ (
                    bias[i] + inner @ self.term[i] + gain @ casadi.solve(pivot, rest))
        moved, a = [], []
        for i, p in enumerate(self.parent):
            before = self.adjoint[i] @ (self.ground if p < 0 else moved[p]) + self.term[i]
            gain, pivot, rest = gains[i]
            a.append(casadi.solve(pivot, rest - gain.T @ before))
            moved.append(before + self.screw[i] @ a[-1])
        return casadi.vertcat(*a)

    def mass_matrix(self) -> Any:
        """Return M of q."""
        casadi, body = self.casadi, list(self.body)
        mass = casadi.SX(casadi.DM(np.diag(self.table.armature)))
        for i, p in reversed(list(enumerate(self.parent))):
            if p >= 0:
                body[p] += self.adjoint[i].T @ body[i] @ self.adjoint[i]
        for i in range(len(body)):
            force, j = body[i] @ self.screw[i], i
            mass[self.at[i], self.at[i]] += self.screw[i].T @ force
            while self.parent[j] >= 0:
                force, j = self.adjoint[j].T @ force, self.parent[j]
                mass[self.at[j], self.at[i]] = self.screw[j].T @ force
                mass[self.at[i], self.at[j]] = mass[self.at[j], self.at[i]].T
        return mass


def compiled(folder: Path, name: str, *sources: Path | str) -> ctypes.CDLL:
    """Return sources and objects as a shared library."""
    subprocess.run(['cc', '-O3', '-march=x86-64-v3', '-shared', '-fPIC', *map(str, sources),
                    '-lm', '-o', str(folder / name)], check=True)
    return ctypes.CDLL(str(folder / name))


def address(of: Any) -> int:
    """Return the address of a function or an array."""
    if isinstance(of, np.ndarray):
        return int(of.ctypes.data)
    return int(ctypes.cast(of, ctypes.c_void_p).value or 0)


def by_casadi(folder: Path, model: Model, function: str, x: Sequence[Array], out: Array
              ) -> tuple[Any, Array, Any]:
    """Return CasADi's function, its arguments, and what has to live as long."""
    import casadi
    expressions = Expressions(model)
    given = [expressions.q, expressions.v, expressions.x][:1 if function == 'mass_matrix' else 3]
    result = casadi.densify(casadi.cse(getattr(expressions, function)()))
    made = casadi.Function('peer', given, [casadi.reshape(result, -1, 1)])
    source = folder / f'{function}.c'
    generator = casadi.CodeGenerator(source.name)
    generator.add(made)
    generator.generate(f'{folder}/')
    library = compiled(folder, f'casadi_{function}.so', source)
    inputs = np.array([address(each) for each in x[:len(given)]])
    results, whole = np.array([address(out)]), np.zeros(made.sz_iw() + 1, dtype=np.int64)
    work = np.zeros(made.sz_w() + 1)
    arguments = np.array([address(each) for each in (inputs, results, whole, work)])
    return library.peer, arguments, (library, inputs, results, whole, work)


def general(dynamics: Dynamics, function: str, x: Sequence[Array], out: Array
            ) -> tuple[Any, Array, Any]:
    """Return the kernel of any model, the words of its arguments, and what has to live as long."""
    name, kinds = {'inverse': ('rnea', 'd2d2d1d1d1d2d1'), 'forward': ('forward', 'd2d2d1d1d1d2d1'),
                   'mass_matrix': ('crba', 'd2d2d1d2')}[function]

    class Row(ctypes.Structure):
        _fields_ = [*((each, ctypes.c_char_p) for each in ('module', 'name', 'kinds', 'result')),
                    ('unlocked', ctypes.c_int64), ('run', ctypes.c_void_p)]

    library = ctypes.CDLL(str(rooms.library_of('dynamics')))
    rows = (Row * 10_000).in_dll(library, 'liedyn_room')
    row = next(each for each in rows
               if each.name == name.encode() and each.kinds == kinds.encode())
    arrays = [dynamics.constants.table, dynamics.data.table, *x, np.empty((0, 6)), out]
    if function == 'mass_matrix':
        arrays = [*arrays[:3], out]
    words = np.array([word for each in arrays for word in (address(each), *each.shape)])
    result = np.zeros(1, dtype=np.int64)
    return row.run, np.array([address(words), address(result)]), (library, words, result, arrays)


def by_pinocchio(code: GeneratedCode, function: str, x: Sequence[Array]
                 ) -> tuple[Any, Array, Any, Array, Array]:
    """Return a function, its arguments, what has to live as long, result and expected result."""
    library, given, wanted = code.function(function, x)
    out = np.zeros_like(wanted)
    inputs, results = np.array([address(given)]), np.array([address(out)])
    arguments = np.array([address(each) for each in (inputs, results)])
    return (getattr(library, f'{function}_forward_zero'), arguments,
            (library, given, inputs, results), out, wanted)


def measured(folder: Path, robot: Robot) -> dict[str, dict[str, list[float]]]:
    """Return for each function the times of a call (s) of all ways, in every round."""
    model = robot.model
    dynamics, rng = Dynamics(model), np.random.default_rng(0)
    x = model.random(rng), *rng.normal(size=(2, model.nv))
    urdf = folder / 'robot.urdf'
    urdf.write_text(to_urdf(model))
    floating = ['--floating'] if model.link_table.kind[0] == FREE else []
    subprocess.run([sys.executable, '-m', 'liedyn_ros', 'export', str(urdf), '--own-code',
                    '--tree', *floating, '-o', str(folder / 'robot.o'), '--functions', *FUNCTIONS],
                   check=True, stdout=subprocess.DEVNULL)
    own = compiled(folder, 'robot.so', folder / 'robot.o')
    (folder / 'harness.c').write_text(HARNESS)
    harness, found = compiled(folder, 'harness.so', folder / 'harness.c'), {}
    code = GeneratedCode(robot, folder) if is_there() else None
    for function in FUNCTIONS:
        given = x[:1] if function == 'mass_matrix' else x
        python: Callable[..., Array] = getattr(dynamics, function)
        ways, kept = {}, []
        for way in ('own', 'general', *(['casadi'] if find_spec('casadi') else []),
                    *(['pinocchio'] if code else [])):
            wanted = python(*given)
            out = np.zeros_like(wanted)
            if way == 'own':
                run, arguments = getattr(own, f'robot_{function}'), np.array(
                    [address(each) for each in (*given, out)] + 3 * [0])
                rest: Any = None
            elif way == 'general':
                run, arguments, rest = general(dynamics, function, x, out)
            elif way == 'casadi':
                run, arguments, rest = by_casadi(folder, model, function, x, out)
            elif code:
                run, arguments, rest, out, wanted = by_pinocchio(code, function, given)
            call = Call(getattr(harness, way), (
                ctypes.c_void_p(run if isinstance(run, int) else address(run)),
                ctypes.c_void_p(address(arguments)), ctypes.c_int64(CALLS)))
            call.function(*call.arguments)
            np.testing.assert_allclose(out, wanted, rtol=1e-7, atol=1e-7 * np.abs(wanted).max())
            ways[way], kept = call, [*kept, out, arguments, rest]
        times = interleaved(list(ways.values()), ROUNDS, thread_time)
        found[function] = {way: [each / CALLS for each in row] for way, row in zip(ways, times)}
        found[function]['python'] = interleaved(
            [Call(python, given)], ROUNDS, thread_time)[0]
    return found


def main() -> None:
    """Measure and print; the best time of each, and its median ratio to that of own code."""
    parser = argparse.ArgumentParser(description='The code of one robot beside generated code.')
    parser.add_argument('--robots', nargs='+', choices=ROBOTS, default=ROBOTS)
    figures = {}
    for name in parser.parse_args().robots:
        rows = []
        with tempfile.TemporaryDirectory() as folder:
            found = measured(Path(folder), robots()[name])
        for function, ways in found.items():
            best = {way: 1e6 * min(times) for way, times in ways.items()}
            ratios = {way: statistics.median(b / a for a, b in zip(ways['own'], times))
                      for way, times in ways.items() if way in ('general', 'casadi', 'pinocchio')}
            figures[f'{name}, {function}'] = {'us': best, 'of own code': ratios}
            rows.append([name, function, *(f'{best[way]:.3f}' if way in best else '-' for way in (
                'own', 'casadi', 'pinocchio', 'general', 'python'))])
        print_table(['robot', 'us', 'own code', 'CasADi C', 'Pinocchio C', 'general',
                     'from Python'], rows)
    print(keep('own_code', {'calls': figures}))


if __name__ == '__main__':
    main()
