# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Functions for casadi.external: values, Jacobians and an optimum, beside Python's calls."""

import ctypes

import numpy as np
import pytest
from support.c_library.c_library import HOST, installed, require_tools, run
from support.comparison import assert_same
from support.machines.random_models import random_model

from liedyn_ros.common.errors import ModelError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics, LOCAL_WORLD_ALIGNED
from liedyn_ros.dynamics.autodiff.pullbacks import to_configuration
from liedyn_ros.export import casadi_source
from liedyn_ros.export.command import main
from liedyn_ros.model import load_model


def compiled(folder, model, frames=()):
    """Return the library of a model's functions, for external."""
    require_tools('gcc', 'cmake', 'make')
    prefix = installed()
    (folder / 'robot.c').write_text(casadi_source(model, 'robot', frames=frames))
    run('gcc', '-std=c11', '-Wall', '-Wextra', '-Wno-unused', '-Werror', '-O2', '-shared', '-fPIC',
        folder / 'robot.c', f'-I{prefix}/include', prefix / 'lib' / 'libliedyn.a', '-lm', '-o',
        folder / 'robot.so')
    return folder / 'robot.so'


def call(library, name, arguments, shapes):
    """Return the results (rows, columns) of a function as CasADi calls it."""
    sizes = [ctypes.c_longlong() for _ in range(4)]
    assert getattr(library, f'{name}_work')(*map(ctypes.byref, sizes)) == 0
    found = [np.empty(shape, order='F') for shape in shapes]
    pointers = [(ctypes.c_void_p * len(each))(*(x.ctypes.data for x in each))
                for each in (arguments, found)]
    work = np.empty(sizes[3].value)
    code = getattr(library, name)(*pointers, None, ctypes.c_void_p(work.ctypes.data), 0)
    return code, found


@HOST
@pytest.mark.parametrize('floating', [pytest.param(False, marks=pytest.mark.full), True])
def test_values_and_jacobians_are_those_of_python(tmp_path, floating):
    model, rng = random_model(3, 6, floating), np.random.default_rng(3)
    frame = model.bodies[-1]
    library, dynamics = ctypes.CDLL(str(compiled(tmp_path, model, [frame]))), Dynamics(model)
    q, nq, nv = model.random(rng), model.nq, model.nv
    v, x, none = *rng.normal(size=(2, nv)), np.zeros(nv)
    for name, given in (('inverse', 'by_a'), ('forward', 'by_tau')):
        code, (value,) = call(library, f'robot_{name}', [q, v, x], [(nv, 1)])
        assert code == 0
        assert_same(value[:, 0], getattr(dynamics, name)(q, v, x), 1e-12)
        code, by = call(library, f'jac_robot_{name}', [q, v, x, none],
                        [(nv, nq), (nv, nv), (nv, nv)])
        at = getattr(dynamics, name).partial_derivatives(q, v, x)
        wanted = to_configuration(model.link_table, np.tile(q, (nv, 1)), at.by_q)
        for mine, theirs in zip(by, (wanted, at.by_v, getattr(at, given))):
            assert_same(mine, theirs, 1e-11)
    position = f'robot_{frame}_position'
    code, (place,) = call(library, position, [q], [(3, 1)])
    assert_same(place[:, 0], dynamics.frames.pose(q, frame)[:3, 3], 1e-14)
    code, (by,) = call(library, f'jac_{position}', [q, none], [(3, nq)])
    rows = dynamics.frames.jacobian(q, frame, LOCAL_WORLD_ALIGNED)[3:]
    assert_same(by, to_configuration(model.link_table, np.tile(q, (3, 1)), rows), 1e-13)
    assert call(library, 'robot_forward', [np.full(nq, np.nan), v, x], [(nv, 1)])[0] != 0


def test_machines_with_loops_are_refused(tmp_path):
    with pytest.raises(ModelError) as caught:
        casadi_source(load_model(config_file('four_bar.yaml')))
    assert caught.value.got
    output = tmp_path / 'two words.c'
    robot = config_file('aerial_manipulator.yaml')
    assert main([str(robot), '--casadi', '--frames', 'left_forearm', '-o', str(output)]) == 0
    assert 'jac_two_words_left_forearm_position(' in output.read_text()


@HOST
def test_ipopt_swings_a_pole_up(tmp_path):
    casadi = pytest.importorskip('casadi')
    (tmp_path / 'cart.urdf').write_text(CART)
    model = load_model(tmp_path / 'cart.urdf')
    library = str(compiled(tmp_path, model, ['pole']))
    forward = casadi.external('robot_forward', library)
    count, dt = 40, 0.05
    q, v, u = (casadi.MX.sym(name, *shape) for name, shape in (
        ('q', (2, count + 1)), ('v', (2, count + 1)), ('u', (1, count))))
    gaps = [q[:, 0], v[:, 0], q[:, -1] - casadi.DM([0.0, np.pi]), v[:, -1]]
    for k in range(count):
        after = v[:, k] + dt * forward(q[:, k], v[:, k], casadi.vertcat(u[k], 0.0))
        gaps += [v[:, k + 1] - after, q[:, k + 1] - q[:, k] - dt * v[:, k + 1]]
    everything = casadi.vertcat(casadi.vec(q), casadi.vec(v), casadi.vec(u))
    solver = casadi.nlpsol('solver', 'ipopt', {
        'x': everything, 'f': dt * casadi.sumsqr(u), 'g': casadi.vertcat(*gaps)}, {
            'ipopt.hessian_approximation': 'limited-memory', 'ipopt.print_level': 0,
            'print_time': False, 'ipopt.max_iter': 500})
    guess = np.zeros(5 * count + 4)
    guess[1:2 * count + 2:2] = np.linspace(0.0, np.pi, count + 1)
    found = solver(x0=guess, lbg=0.0, ubg=0.0)
    assert solver.stats()['success']
    forces = np.array(found['x']).ravel()[4 * (count + 1):]
    state, dynamics = [np.zeros(2), np.zeros(2)], Dynamics(model)
    for force in forces:
        state[1] = state[1] + dt * dynamics.forward(*state, [force, 0.0])
        state[0] = state[0] + dt * state[1]
    assert_same(state[0], [0.0, np.pi], 1e-3, floor=1.0)


CART = """<robot name="cart"><link name="ground"/>
<link name="cart"><inertial><mass value="1"/>
<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="pole"><inertial><origin xyz="0 0 -0.5"/><mass value="0.1"/>
<inertia ixx=".002" iyy=".002" izz=".0001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="ground"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" velocity="9" effort="99"/></joint>
<joint name="hinge" type="continuous"><parent link="cart"/><child link="pole"/>
<axis xyz="0 1 0"/></joint></robot>"""
