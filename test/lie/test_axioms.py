# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Axioms of every Lie group, on elements that hypothesis chooses."""

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
import numpy as np
import pytest

from liedyn_ros.lie import se3, so3

DIMENSION = {so3: 3, se3: 6}
both_groups = pytest.mark.parametrize('group', [so3, se3], ids=['SO(3)', 'SE(3)'])
# The first example compiles the kernels, so no deadline.
unhurried = settings(deadline=None, derandomize=True)


def coordinates(largest=3.0):
    """Return a strategy for six numbers; a group of dimension three takes the first half."""
    return arrays(float, 6, elements=st.floats(-largest, largest))


def assert_close(value, expected, scale=1.0):
    np.testing.assert_allclose(value, expected, rtol=0.0, atol=1e-13 * scale)


@both_groups
@unhurried
@given(x=coordinates(), y=coordinates(), z=coordinates())
def test_group_axioms(group, x, y, z):  # (1.1)
    n = DIMENSION[group]
    a, b, c = group.exp(x[:n]), group.exp(y[:n]), group.exp(z[:n])
    one = np.eye(len(a))
    assert_close(group.compose(group.compose(a, b), c),
                 group.compose(a, group.compose(b, c)), 10.0)
    assert_close(group.compose(a, group.inverse(a)), one, 10.0)
    assert_close(group.inverse(group.inverse(a)), a, 10.0)
    np.testing.assert_array_equal(group.compose(a, one), a)
    np.testing.assert_array_equal(group.exp(np.zeros(n)), one)
    assert_close(group.inverse(a), group.exp(-x[:n]), 10.0)
    assert_close(a[:3, :3].T @ a[:3, :3], np.eye(3))
    assert_close(np.linalg.det(a), 1.0)


@both_groups
@unhurried
@given(x=coordinates(1.8))
def test_log_undoes_exp_below_pi(group, x):
    n = DIMENSION[group]
    # Far from pi; test_accuracy has the approach to it.
    assert_close(group.log(group.exp(x[:n])), x[:n], 100.0)


@both_groups
@unhurried
@given(x=coordinates(20.0))
def test_exp_undoes_log_everywhere(group, x):
    pose = group.exp(x[:DIMENSION[group]])
    w = group.log(pose)[:3]
    assert np.linalg.norm(w) <= np.pi * (1.0 + 1e-15)
    assert_close(group.exp(group.log(pose)), pose, 100.0)


@both_groups
@pytest.mark.parametrize('diagonal', [(1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
def test_half_turns(group, diagonal):
    turn = np.eye(3 if group is so3 else 4)
    turn[:3, :3] = np.diag(diagonal)
    assert np.linalg.norm(group.log(turn)) == pytest.approx(np.pi, rel=1e-15)
    assert_close(group.exp(group.log(turn)), turn, 10.0)


@both_groups
@unhurried
@given(x=coordinates(), y=coordinates(), z=coordinates())
def test_adjoint(group, x, y, z):  # (1.2)
    n = DIMENSION[group]
    a, b, xi = group.exp(x[:n]), group.exp(y[:n]), z[:n]
    assert_close(group.adjoint(group.compose(a, b)), group.adjoint(a) @ group.adjoint(b), 100.0)
    assert_close(group.hat(group.adjoint(a) @ xi), a @ group.hat(xi) @ group.inverse(a), 100.0)
    assert_close(group.compose(group.compose(a, group.exp(xi)), group.inverse(a)),
                 group.exp(group.adjoint(a) @ xi), 1000.0)


@both_groups
@unhurried
@given(x=coordinates(), y=coordinates(), z=coordinates())
def test_bracket(group, x, y, z):  # (1.3)
    n = DIMENSION[group]
    x, y, z = x[:n], y[:n], z[:n]
    bracket = group.hat(x) @ group.hat(y) - group.hat(y) @ group.hat(x)
    assert_close(group.ad(x) @ y, group.vee(bracket), 100.0)
    assert_close(group.ad(x) @ x, np.zeros(n), 10.0)
    assert_close(group.ad(group.ad(x) @ y),
                 group.ad(x) @ group.ad(y) - group.ad(y) @ group.ad(x), 100.0)  # Jacobi's identity
    np.testing.assert_array_equal(group.vee(group.hat(x)), x)


@both_groups
@unhurried
@given(x=coordinates())
def test_jacobians_are_linked(group, x):
    xi = x[:DIMENSION[group]]
    left, right = group.left_jacobian(xi), group.right_jacobian(xi)
    one = np.eye(len(xi))
    adjoint = group.adjoint(group.exp(xi))
    assert_close(left, adjoint @ right, 100.0)
    assert_close(adjoint, one + group.ad(xi) @ left, 100.0)  # the series of exp(ad) and of J


@both_groups
@unhurried
@given(x=coordinates())
def test_jacobians_have_inverses(group, x):
    xi = x[:DIMENSION[group]]
    xi = xi * min(1.0, 5.0 / max(np.linalg.norm(xi[:3]), 5.0))  # J is singular at 2 pi
    one = np.eye(len(xi))
    assert_close(group.left_jacobian(xi) @ group.left_jacobian_inverse(xi), one, 1000.0)
    assert_close(group.right_jacobian(xi) @ group.right_jacobian_inverse(xi), one, 1000.0)
