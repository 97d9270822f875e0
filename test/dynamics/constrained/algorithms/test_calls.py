# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Calls of closed loops take the arguments of those of trees, in the same order."""

from functools import partial

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import four_bar
from support.machines.random_models import random_model
from support.refusals import ANY, refused

from liedyn_ros.common.errors import LiedynError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics


@pytest.mark.parametrize('name', ['inverse', 'forward', 'hybrid'])
def test_derivatives_of_loops_are_called_and_begin_as_those_of_trees(name: str) -> None:
    """One program for a tree, and for the same tree in the class of loops: same numbers."""
    model, rng = random_model(4, 6, True), np.random.default_rng(5)
    q, (v, given, dq, dv, dx, y) = model.random(rng), rng.normal(size=(6, model.nv))
    wrenches, known = rng.normal(size=(len(model.bodies), 6)), ['revolute_3']
    results = []
    for robot in (Dynamics(model), ConstrainedDynamics(model)):
        derive = getattr(robot, name).partial_derivatives
        at = (q, v, known, given, given) if name == 'hybrid' else (q, v, given)
        rows = [each if each is known else np.array([each]) for each in at]
        named = dict(zip(('q', 'v', 'prescribed', 'a', 'tau') if name == 'hybrid' else (
            'q', 'v', 'a' if name == 'inverse' else 'tau'), rows))
        results.append([
            [np.asarray(derive.product(*at, dq, dv, dx, wrenches))],
            derive(*at, wrenches), derive.gradient(*at, y, wrenches),
            derive.batch(*rows, np.array([wrenches])), derive.batch(**named, external=[wrenches]),
            derive.gradient_batch(*rows, np.array([y]), np.array([wrenches]))])
    for tree, loops in zip(*results):
        names = getattr(tree, '_fields', ('product',))
        assert getattr(loops, '_fields', names)[:3] == names[:3]
        for field, one, other in zip(names, tree, loops):
            if field != 'prescribed':
                assert_same(getattr(loops, field, other), one, 1e-8, floor=1.0)


def wrong_calls(robot, q, v, wrenches):
    """Yield calls that both kinds of robots refuse."""
    bad, short = np.where(np.arange(len(v)) == 3, np.nan, v), v[:-1]
    inverse, forward, hybrid = robot.inverse, robot.forward, robot.hybrid
    by_inverse, by_forward = inverse.partial_derivatives, forward.partial_derivatives
    yield from (partial(call, *given) for call, *given in (
        (inverse, q[:-1], v, v), (inverse, q, short, v), (inverse, q, bad, v),
        (inverse, 2.0 * q, v, v), (inverse, q, v, None), (inverse, q, v),
        (forward, q, v, short), (forward, q, v, bad), (forward, q, v, v, wrenches[1:]),
        (forward, q, v + 1e200, v), (hybrid, q, v, ['nothing'], v, v),
        (hybrid, q, v, [True, False], v, v), (inverse.batch, [q, q], [v], [v, v]),
        (inverse.batch, [q, q], [v, bad], [v, v]), (forward.batch, q, v, v),
        (inverse.time_derivatives, q, v, v), (inverse.time_derivatives, q, v, [v] * 40),
        (forward.time_derivatives, q, v), (by_forward, q, v, short), (by_inverse, q, v, bad),
        (by_inverse.product, q, v, v, bad, v, v), (by_forward.gradient, q, v, v, short),
        (by_forward.batch, [q, q], [v], [v]), (by_forward.batch, [q], [v], [bad]),
        (by_forward.gradient_batch, [q], [v], [v], [bad])))


def test_loops_refuse_what_trees_refuse_by_the_same_names():
    model = random_model(4, 6, True)
    given = model.neutral(), np.zeros(model.nv), np.zeros((len(model.bodies), 6))
    calls = [wrong_calls(each(model), *given) for each in (Dynamics, ConstrainedDynamics)]
    for tree, loops in zip(*calls, strict=True):
        found = []
        for call in (tree, loops):
            with pytest.raises((LiedynError, TypeError)) as caught:
                call()
            found.append((caught.type, getattr(caught.value, 'names', ())))
        assert found[0] == found[1], tree


def test_orders_of_loops_are_counted_wherever_they_stand():
    """By place and by name; a signature that is sought takes longer than many a call."""
    model = random_model(4, 6, True)
    loops, rest = ConstrainedDynamics(model), np.zeros(model.nv)
    at, rows = {'q': model.neutral(), 'v': rest}, np.zeros((2, model.nv))
    for call, given in ((loops.forward, {'tau': rows}), (loops.inverse, {'a': rows}),
                        (loops.hybrid, {'prescribed': [], 'a': rows, 'tau': rows})):
        whole = at | given
        found = [np.asarray(each) for each in (
            call.time_derivatives(*whole.values()), call.time_derivatives(**whole))]
        assert np.array_equal(*found) and found[0].shape[-2:] == rows.shape
        with pytest.raises(ShapeError):
            call.time_derivatives(**whole | {name: rest for name in given if name != 'prescribed'})


@pytest.mark.parametrize('algorithm', ['forward', 'inverse'])
@pytest.mark.parametrize('batch', [False, True])
def test_time_derivatives_that_are_transposed_are_told(algorithm, batch):
    machine = ConstrainedDynamics(four_bar())
    q = assemble(machine)
    rows, still = np.zeros((3, 2)), np.zeros(3)
    for robot in (machine, machine.tree):
        call, name = getattr(robot, algorithm), 'a' if algorithm == 'inverse' else 'tau'
        with refused(ShapeError, name, got=(1, 3, 2) if batch else (3, 2), expected=ANY) as caught:
            if batch:
                call.time_derivatives_batch([q], [still], rows[None])
            else:
                call.time_derivatives(q, still, rows)
        assert 'transposed?' in str(caught.value)
