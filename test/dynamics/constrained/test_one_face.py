# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""A tree's calls are those of the same tree as a machine with loops, of which it has none."""

import _thread
from inspect import Parameter, signature
from operator import attrgetter
import time
import warnings

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, make_case
from support.machines.looped_machines import five_bar, random_looped

import liedyn_ros as ld
from liedyn_ros.common.errors import OpenTreeWarning
from liedyn_ros.dynamics.constrained import assemble, project
from liedyn_ros.model import Model

PARTS = ('', 'inverse', 'forward', 'hybrid', 'frames', *(
    f'{each}.partial_derivatives' for each in ('inverse', 'forward', 'hybrid')))
INNER = {'constants', 'data', 'parameter_kernels', 'estimate_error', 'require_digits',
         'forward_batch'}  # of the kernels of trees; loops estimate errors where they are lost


def faces() -> tuple[Case, ld.ConstrainedDynamics]:
    """Return a floating tree of all joint types, and the same as a machine without loops."""
    case = make_case(1, True, dissipation=True)
    return case, ld.ConstrainedDynamics(case.model)


def calls_of(kind: type, names: list[str]) -> list[str]:
    """Return the names that are called, and the call of an algorithm itself."""
    itself = ['__call__'] if any('__call__' in vars(each) for each in kind.__mro__) else []
    return [name for name in names if callable(getattr(kind, name, None))] + itself


@pytest.mark.parametrize('part', PARTS)
def test_loops_have_all_calls_of_trees_with_their_arguments(part: str) -> None:
    case, loops = faces()
    tree, other = (attrgetter(part)(each) if part else each for each in (case.dynamics, loops))
    names = [name for name in dir(tree) if not name.startswith('_') and name not in INNER]
    assert [name for name in names if not hasattr(other, name)] == []
    for name in calls_of(type(tree), names):
        wanted, found = (signature(getattr(each, name)).parameters for each in (tree, other))
        if any(each.kind is Parameter.VAR_POSITIONAL for each in found.values()):
            continue  # the arguments of the call of one state
        assert [each for each in wanted if each not in found] == [], name
        places = [[each for each, kind in of.items() if kind.kind is kind.POSITIONAL_OR_KEYWORD]
                  for of in (wanted, found)]
        assert places[1][:len(places[0])] == places[0], name


def answers(robot: ld.Dynamics | ld.ConstrainedDynamics, case: Case) -> dict:
    """Return the results of the calls of a face, by name."""
    q, v, a, external, nv = case.q, case.v, case.a, case.external, case.model.nv
    y, dq, dv, da = np.random.default_rng(0).normal(size=(4, nv))
    known, inverse, forward = np.arange(nv) % 3 == 0, *(
        each.partial_derivatives for each in (robot.inverse, robot.forward))
    hybrid = robot.hybrid.partial_derivatives
    many = [np.repeat(each[None], 3, axis=0) for each in (q, v, a, external)]
    return {
        'inverse': inverse(q, v, a, external), 'forward': forward(q, v, a, external),
        'hybrid': hybrid(q, v, known, a, a, external),
        'inverse, many': inverse.batch(*many), 'forward, many': forward.batch(*many),
        'inverse, product': inverse.gradient_product(q, v, a, y, dq, dv, da, external),
        'forward, product': forward.gradient_product(q, v, a, y, dq, dv, da, external),
        'hybrid, gradient': hybrid.gradient(q, v, known, a, a, y, external),
        'by external': (inverse.by_external(q),),
        'fixed wrenches': (inverse.by_world_fixed_wrenches(q, external),
                           inverse.by_world_fixed_wrenches(q, external, at_body=True)),
        'values': (robot.inverse(q, v, a, external), robot.forward(q, v, a, external),
                   *robot.hybrid(q, v, known, a, a, external), robot.gravity_vector(q),
                   robot.inverse.batch(*many), robot.forward.batch(*many))}


def test_a_tree_has_the_numbers_of_both_faces() -> None:
    case, loops = faces()
    wanted, found = answers(case.dynamics, case), answers(loops, case)
    for name, each in wanted.items():
        fields = getattr(each, '_fields', None)
        for k, field in enumerate(fields or range(len(each))):
            other = getattr(found[name], field) if fields else found[name][k]
            assert_same(np.asarray(other, float), np.asarray(each[k], float), 1e-8)


@pytest.mark.parametrize('name', ['inverse', 'forward'])
def test_an_earlier_result_is_written_again(name: str) -> None:
    robot = ld.ConstrainedDynamics(five_bar())
    q, rest = assemble(robot), np.zeros(robot.model.nv)
    derive = getattr(robot, name).partial_derivatives
    first = derive(q, rest, rest)
    wanted = [each.copy() for each in first]
    for each in first:
        each[...] = np.nan
    assert derive(q, rest, rest, out=first) is first
    for each, other in zip(first, wanted):
        np.testing.assert_array_equal(each, other)
    with pytest.raises(ld.LiedynError):
        derive(q, rest, rest, out=tuple(first))


@pytest.mark.parametrize('model', [
    five_bar(), random_looped(81, ('rod', 'revolute'), 9, floating=True).model,
    random_looped(84, ('rod', 'spherical'), 12).model], ids=['flat', 'floating', 'redundant'])
def test_a_product_of_second_derivatives_is_that_of_all_of_them(model: Model) -> None:
    """Along changes off the loops, too, where rows are redundant, and under wrenches."""
    robot, rng = ld.ConstrainedDynamics(model), np.random.default_rng(3)
    q = assemble(robot, model.integrate(assemble(robot), 0.1 * rng.normal(size=model.nv)))
    v = project(robot, q, rng.normal(size=model.nv))[1]
    tau, y, dq, dv, dtau = rng.normal(size=(5, model.nv))
    external = rng.normal(size=(len(model.bodies), 6))
    derive = robot.forward.partial_derivatives
    qq, qv, vv, q_tau = (np.tensordot(y, each, 1) for each in derive.second_derivatives(
        q, v, tau, external)[:4])
    found = derive.gradient_product(q, v, tau, y, dq, dv, dtau, external)
    assert_same(found.by_q, qq @ dq + qv @ dv + q_tau @ dtau, 1e-9, floor=1.0)
    assert_same(found.by_v, qv.T @ dq + vv @ dv, 1e-9, floor=1.0)
    assert_same(found.by_tau, q_tau.T @ dq, 1e-9, floor=1.0)


@pytest.mark.parametrize('options', [{}, {'redundancy': 'least_force'}], ids=['torque', 'force'])
@pytest.mark.parametrize('model', [
    five_bar('left_0', 'right_0', 'left_1'),
    random_looped(84, ('rod', 'spherical'), 12).model], ids=['flat', 'redundant'])
def test_so_is_that_of_inverse_dynamics(model: Model, options: dict[str, str]) -> None:
    robot, rng = ld.ConstrainedDynamics(model), np.random.default_rng(3)
    q = assemble(robot, model.integrate(assemble(robot), 0.1 * rng.normal(size=model.nv)))
    v = project(robot, q, rng.normal(size=model.nv))[1]
    tau, y, dq, dv, da, dtau = rng.normal(size=(6, model.nv))
    external = rng.normal(size=(len(model.bodies), 6))
    a, derive = robot.forward(q, v, tau, external).a, robot.inverse.partial_derivatives
    qq, qv, vv, qa, q_tau = (np.tensordot(y, each, 1) for each in derive.second_derivatives(
        q, v, a, external, **options)[:5])
    found = derive.gradient_product(q, v, a, y, dq, dv, da, external, dtau=dtau, **options)
    assert_same(found.by_q, qq @ dq + qv @ dv + qa @ da + q_tau @ dtau, 1e-9, floor=1.0)
    assert_same(found.by_v, qv.T @ dq + vv @ dv, 1e-9, floor=1.0)
    assert_same(found.by_a, qa.T @ dq, 1e-9, floor=1.0)
    assert_same(found[3], q_tau.T @ dq, 1e-9, floor=1.0)


@pytest.mark.parametrize('name', ['inverse', 'forward'])
def test_products_of_second_derivatives_are_differences_of_gradients(name: str) -> None:
    model = random_looped(80, ('spherical',), 10).model
    robot, rng = ld.ConstrainedDynamics(model), np.random.default_rng(2)
    q = assemble(robot, model.integrate(assemble(robot), 0.1 * rng.normal(size=model.nv)))
    v = project(robot, q, rng.normal(size=model.nv))[1]
    derive, rest = getattr(robot, name).partial_derivatives, np.zeros(model.nv)
    y, tau = rng.normal(size=(2, model.nv))
    given, h = np.asarray(robot.forward(q, v, tau)) if name == 'inverse' else tau, 1e-5
    along = np.linalg.svd(robot.jacobian(q))[2][-1]  # rates and accelerations change along loops
    dv, da = (rest, along) if name == 'inverse' else (along, rest)
    ahead, behind = (derive.gradient(q, v + s * dv, given + s * da, y) for s in (h, -h))
    found = derive.gradient_product(q, v, given, y, rest, dv, da)
    for each, after, before in zip(found, ahead, behind):
        assert_same(each, (np.asarray(after) - np.asarray(before)) / (2.0 * h), 1e-6, floor=1.0)


def test_of_a_machine_with_loops_the_bias_of_the_open_tree_says_that_it_is() -> None:
    robot = ld.ConstrainedDynamics(five_bar('left_0', 'right_0'))
    q, rest = assemble(robot), np.zeros(robot.model.nv)
    with pytest.warns(OpenTreeWarning) as seen:
        found = [robot.bias(q, rest), robot.bias(q, rest)]
    assert len(seen) == 1 and seen[0].filename == __file__
    assert_same(found, [robot.tree.bias(q, rest)] * 2, 0.0)
    with pytest.warns(OpenTreeWarning):
        robot.inverse_mass_matrix(q)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        robot.mass_matrix(q), robot.tree.bias(q, rest), faces()[1].bias


def test_a_tree_of_a_model_with_loops_says_which_are_left_out() -> None:
    model = five_bar('left_0', 'right_0')
    with pytest.warns(OpenTreeWarning) as seen:
        ld.Dynamics(model)
    assert seen[0].filename == __file__
    assert all(each.name in str(seen[0].message) for each in model.closures)
    with warnings.catch_warnings():
        warnings.simplefilter('error', OpenTreeWarning)
        ld.ConstrainedDynamics(model)


@pytest.mark.filterwarnings('ignore::liedyn_ros.common.errors.OpenTreeWarning')
def test_a_caller_that_is_no_python_may_make_a_tree() -> None:
    """As an application in C is, here a thread of functions in C: it raised ValueError."""
    made = list[ld.Dynamics]()
    _thread.start_new_thread(made.extend, (map(ld.Dynamics, [five_bar('left_0', 'right_0')]),))
    end = time.monotonic() + 20.0
    while not made and time.monotonic() < end:
        time.sleep(0.01)
    assert len(made) == 1
