# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The UR5 of optimal_control reaches its point by acados, which calls our functions in C.

`liedyn export ur5_robot.urdf --casadi --frames tool0 -o robot.c`, compiled as librobot.so, then
`python -m benchmarks.algorithms.acados_reach librobot.so`, where acados_template or
comma-deps-acados and casadi are installed. ACADOS_SOURCE_DIR names the folder of acados: its
include, lib, bin and interfaces/acados_template. LD_LIBRARY_PATH has its lib and that of librobot.
"""

import argparse
from collections.abc import Sequence
from importlib import import_module, util
import os
from pathlib import Path
import tempfile
import time
from typing import Any

import casadi
import numpy as np

POINT, START = [0.4, 0.3, 0.5], [0.0, -1.2, 1.0, 0.2, 0.5, 0.0]  # m, rad
STEPS, DT, N = 30, 0.04, 6


def problem(acados: Any, library: Path) -> Any:
    """Return the optimal control problem of optimal_control.by_ipopt."""
    forward, position = (casadi.external(f'robot_{name}', str(library))
                         for name in ('forward', 'tool0_position'))
    q, v, u = (casadi.MX.sym(name, N) for name in 'qvu')
    ocp, a = acados.AcadosOcp(), forward(q, v, u)
    ocp.model.name, ocp.model.x, ocp.model.u = 'ur5', casadi.vertcat(q, v), u
    ocp.model.f_expl_expr = casadi.vertcat(v + DT * a, a)  # one stage: q moves by the new v
    ocp.model.xdot = casadi.MX.sym('xdot', 2 * N)
    ocp.model.f_impl_expr = ocp.model.xdot - ocp.model.f_expl_expr
    ocp.model.con_h_expr_e = casadi.vertcat(position(q), v)
    ocp.dims.N = STEPS
    ocp.cost.cost_type = ocp.cost.cost_type_e = 'LINEAR_LS'
    ocp.cost.Vx, ocp.cost.Vu = np.eye(2 * N, k=N), np.eye(2 * N, N, k=-N)
    ocp.cost.W, ocp.cost.yref = 2e-2 * np.eye(2 * N), np.zeros(2 * N)  # halved, times DT
    ocp.cost.Vx_e, ocp.cost.W_e = np.zeros((1, 2 * N)), np.zeros((1, 1))
    ocp.cost.yref_e = np.zeros(1)
    ocp.constraints.x0 = np.r_[START, np.zeros(N)]
    ocp.constraints.lh_e = ocp.constraints.uh_e = np.r_[POINT, np.zeros(N)]
    for name, value in {
            'tf': STEPS * DT, 'integrator_type': 'ERK', 'sim_method_num_stages': 1,
            'nlp_solver_type': 'SQP', 'nlp_solver_max_iter': 200, 'tol': 1e-8,
            'globalization': 'MERIT_BACKTRACKING', 'model_external_shared_lib_dir':
            str(library.parent), 'model_external_shared_lib_name': library.stem[3:]}.items():
        setattr(ocp.solver_options, name, value)
    return ocp


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve it and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('library', type=Path, help='librobot.so')
    library = parser.parse_args(arguments).library.resolve()
    acados = import_module('acados_template' if util.find_spec('acados_template')
                           else 'acados.acados_template')
    source = Path(os.environ['ACADOS_SOURCE_DIR'])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        ocp = problem(acados, library)
        ocp.acados_include_path, ocp.acados_lib_path = str(source / 'include'), str(source / 'lib')
        solver = acados.AcadosOcpSolver(ocp, json_file='ur5.json')
        for k in range(STEPS + 1):
            solver.set(k, 'x', np.r_[START, np.zeros(N)])
        begin = time.perf_counter()
        status = solver.solve()
        used = time.perf_counter() - begin
        print(f'status {status}, {int(solver.get_stats("sqp_iter")[0])} iterations, '
              f'cost {solver.get_cost():.9g}, {used:.3f} s')


if __name__ == '__main__':
    main()
