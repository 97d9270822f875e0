# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives from the dynamics server, in both conventions of those of the base's twist."""

from liedyn_interfaces.msg import DynamicsQuery
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support.bench.dynamics_bench import ALGORITHMS, Motion

from liedyn_ros.lie import se3
from liedyn_ros.lie.time_derivatives import BODY, SPATIAL, Twists

pytestmark = pytest.mark.ros
ORDERS = range(1, 6)
inverse, forward, hybrid = ALGORITHMS


def assert_rows(got, wanted, tolerance=1e-8):
    """Compare every order with a tolerance of its largest entry; poses are rounded on the way."""
    scale = np.maximum(1.0, np.abs(wanted).max(axis=-1, keepdims=True))
    assert_allclose(got / scale, wanted / scale, rtol=0.0, atol=tolerance)


def half_of(x):
    """Return the names of every second joint, and which coordinates these are."""
    names = x.names[::2]
    mask = np.zeros(x.model.nv, dtype=bool)
    for name in names:
        mask[x.model.joint(name).v_slice] = True
    return names, mask


@pytest.mark.parametrize('external', [False, True])
def test_answers_are_those_of_the_core(server, path, external):
    for order in ORDERS:
        x = Motion(path, order, order=order)
        d, wrenches = x.dynamics, x.wrenches if external else None
        a, tau = x.found(server.ask(inverse, x.query(True, False, external)))
        assert_array_equal(a, x.a)
        assert_rows(tau, d.inverse.time_derivatives(x.q, x.v, x.a, wrenches))
        a, tau = x.found(server.ask(forward, x.query(False, True, external)))
        assert_array_equal(tau, x.tau)
        assert_rows(a, d.forward.time_derivatives(x.q, x.v, x.tau, wrenches))
        names, mask = half_of(x)
        expected = d.hybrid.time_derivatives(x.q, x.v, mask, x.a, x.tau, wrenches)
        x.a[:, ~mask], x.tau[:, mask] = np.nan, np.inf  # are not read
        answer = server.ask(hybrid, x.query(True, True, external, prescribed=names))
        for got, wanted in zip(x.found(answer), expected):
            assert_rows(got, wanted)


@pytest.mark.smoke
@pytest.mark.parametrize('convention', [DynamicsQuery.BODY, DynamicsQuery.SPATIAL])
def test_forward_undoes_inverse(server, path, convention):
    x = Motion(path, order=5)
    fields = {'base_twist_frame': convention}
    given, x.tau = x.found(server.ask(inverse, x.query(True, False, True, **fields)))
    assert_array_equal(given, x.a)
    back, same = x.found(server.ask(forward, x.query(False, True, True, **fields)))
    assert_array_equal(same, x.tau)
    assert_rows(back, x.a, 1e-7)


def test_errors_of_orders_are_told(server, path):
    x = Motion(path, order=3)
    names, _ = half_of(x)
    for name, given, more in ((forward, False, {}), (hybrid, True, {'prescribed': names})):
        answer = server.ask(name, x.query(given, True, True, **more))
        assert answer.success and len(answer.errors) == 4
        assert 0.0 < max(answer.errors) < 1e-6
        limited = server.ask(name, x.query(given, True, True, max_error=1e-6, **more))
        for got, wanted in zip(x.found(limited), x.found(answer)):
            assert_array_equal(got, wanted)
    assert not server.ask(inverse, x.query(True, False, True)).errors
    answer = server.ask(forward, x.query(False, True, max_error=1e-18))
    assert not answer.success
    assert 'order 0: expected a relative error of 1e-18 at most' in answer.message


def test_orders_without_a_digit_are_refused_by_default(server, path):
    x = Motion(path, order=30)
    x.v[:] *= 100.0
    _, x.tau = x.found(server.ask(inverse, x.query(True, False)))  # of accelerations of size 1
    answer = server.ask(forward, x.query(False, True))
    assert not answer.success and not answer.accelerations
    assert 'expected a relative error of 0.1 at most' in answer.message
    assert 'lower the order' in answer.message


def test_a_machine_at_rest_loses_no_digit(server, path):
    x = Motion(path, order=5)
    x.v[:], x.a[:] = 0.0, 0.0
    _, x.tau = x.found(server.ask(inverse, x.query(True, False)))
    a, _ = x.found(server.ask(forward, x.query(False, True)))
    assert_allclose(a, 0.0, atol=1e-9)


def test_the_first_entries_are_those_of_a_lower_order(server, path):
    x, y = Motion(path, order=4), Motion(path)
    y.a, y.wrenches = x.a[0], x.wrenches[0]
    _, higher = x.found(server.ask(inverse, x.query(True, False, True)))
    _, classical = y.found(server.ask(inverse, y.query(True, False, True)))
    assert_rows(higher[0], classical)


def test_a_wrench_alone_is_constant(server, path):
    x = Motion(path, order=3)
    x.wrenches[1:] = 0.0
    query = x.query(True, False, True)
    _, expected = x.found(server.ask(inverse, query))
    query.external = [wrench for wrench in query.external if wrench.order == 0]
    assert_array_equal(x.found(server.ask(inverse, query))[1], expected)


@pytest.mark.parametrize('order', [0, 1, 4])
def test_the_base_in_spatial_derivatives(server, path, order):
    x = Motion(path, order=order)
    bodily = {name: x.found(server.ask(name, x.query(name == inverse, name == forward, True)))
              for name in (inverse, forward)}
    spatial = {name: spatially(x, a) for name, (a, _) in bodily.items()}
    fields = {'base_twist_frame': DynamicsQuery.SPATIAL}
    a, tau = x.found(server.ask(forward, x.query(False, True, True, **fields)))
    assert_rows(a, spatial[forward])
    assert_array_equal(tau, x.tau)
    x.a = spatial[inverse]
    for name, more in ((inverse, {}), (hybrid, {'prescribed': everything(x)})):
        a, tau = x.found(server.ask(name, x.query(True, name == hybrid, True, **fields, **more)))
        assert_array_equal(a, x.a)
        assert_rows(tau, bodily[inverse][1])


def test_a_base_moved_by_its_wrench_while_joints_are_prescribed(server, path):
    x = Motion(path, order=3)
    names, mask = half_of(x)
    x.a[:, ~mask] = np.nan  # is not read
    bodily, efforts = x.found(server.ask(hybrid, x.query(True, True, True, prescribed=names)))
    a, tau = x.found(server.ask(hybrid, x.query(
        True, True, True, prescribed=names, base_twist_frame=DynamicsQuery.SPATIAL)))
    assert_rows(a, spatially(x, bodily))
    assert_array_equal(tau, efforts)


def everything(x):
    """Return the names that prescribe every coordinate."""
    return [*x.names, *([x.base.child] if x.base else [])]


def spatially(x, a):
    """Return accelerations whose base rows are the spatial twist's; a fixed base has none."""
    result = np.array(a, ndmin=2)
    if x.base:
        pose, body = x.base_pose(), np.vstack([x.v[:6], result[:, :6]])
        result[:, :6] = Twists(pose, body, BODY).to(SPATIAL).time_derivatives[1:]
        first = [body[1], *(body[2:3] + se3.ad(body[0]) @ body[1])]  # (0.2) and its derivative
        assert_allclose(result[:2, :6], first @ se3.adjoint(pose).T, atol=1e-9)
    return result.reshape(np.shape(a))
