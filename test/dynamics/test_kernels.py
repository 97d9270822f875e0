# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The small functions the recursions are made of, against dense matrices and longer numbers."""

from importlib import import_module
from pathlib import Path
import sys

import mpmath
import numba
import numpy as np
import pytest
from scipy.linalg import expm

import liedyn_ros
from liedyn_ros.build.compiler import KernelCompiler
from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.algorithms.kernels import articulated, coriolis
from liedyn_ros.dynamics.algorithms.kernels.crba import crba
from liedyn_ros.dynamics.tree.kernels import joints, rigid, symmetric, tables
from liedyn_ros.dynamics.tree.kernels.joints import LARGEST_ANGLE, sine_cosine, sine_cosine_within
from liedyn_ros.dynamics.tree.kernels.kinematics import exponential_rate
from liedyn_ros.jit.simd import get_quad, put_quad
from liedyn_ros.lie import se3, so3
from liedyn_ros.model.kernels import kinds

RNG = np.random.default_rng(11)
SYMMETRIC = np.array(((0, 1, 2), (1, 3, 4), (2, 4, 5)))


def angles() -> Array:
    """Return angles of all sizes, and those next to a multiple of a quarter turn."""
    sizes = np.logspace(-300.0, 8.0, 4000) * RNG.choice((-1.0, 1.0), 4000)
    quarters = RNG.integers(-60_000, 60_000, 1000) * (np.pi / 2.0)
    near = np.concatenate([quarters, np.nextafter(quarters, 0.0), quarters + np.pi / 4.0])
    return np.concatenate([sizes, near, [0.0, LARGEST_ANGLE, -LARGEST_ANGLE,
                                         np.nextafter(LARGEST_ANGLE, 0.0)]])


def test_sine_and_cosine_are_within_an_ulp() -> None:
    mpmath.mp.dps = 40
    for x in angles():
        s, c = sine_cosine(x)
        exact = float(mpmath.sin(mpmath.mpf(x))), float(mpmath.cos(mpmath.mpf(x)))
        for got, wanted in zip((s, c), exact):
            assert abs(got - wanted) <= max(np.spacing(abs(wanted)), 1e-19), x


def test_sine_and_cosine_of_no_angle() -> None:
    assert np.isnan([sine_cosine(x) for x in (np.nan, np.inf, -np.inf)]).all()


@numba.njit(_nrt=False, pipeline_class=KernelCompiler)  # which links what kernels call
def fill_sines(table):
    s, c = sine_cosine_within(get_quad(table, 0, 0))
    put_quad(table, 1, 0, s)
    put_quad(table, 2, 0, c)


def test_sine_and_cosine_of_four_numbers_are_those_of_each() -> None:
    x = angles()
    for four in x[np.abs(x) < LARGEST_ANGLE][:4000].reshape(-1, 4):
        table = np.array([four, four, four])
        fill_sines(table)
        np.testing.assert_array_equal(table[1:].T, [sine_cosine(each) for each in four])


@pytest.mark.full
def test_articulated_inertia_is_its_dense_matrix() -> None:
    square = RNG.normal(size=(6, 6))
    dense = square @ square.T
    inertia = blocks(dense)
    r, p, x = so3.exp(RNG.normal(size=3)), RNG.normal(size=3), RNG.normal(size=6)
    np.testing.assert_allclose(np.ravel(articulated.apply(inertia, *halves(x))), dense @ x)
    np.testing.assert_allclose(
        matrix(articulated.eliminate(inertia, 0.3, *halves(x))), dense - 0.3 * np.outer(x, x))
    adjoint = se3.adjoint(np.linalg.inv(homogeneous(r, p)))
    np.testing.assert_allclose(
        matrix(articulated.transport(tuple(r.ravel()), tuple(p), inertia)),
        adjoint.T @ dense @ adjoint, atol=1e-12)


@pytest.mark.full
def test_rigid_inertia_is_its_articulated_one() -> None:  # (Kim 21, 23, 31)
    body = 1.7, tuple(RNG.normal(size=3)), tuple(RNG.normal(size=6))
    r, p = tuple(so3.exp(RNG.normal(size=3)).ravel()), tuple(RNG.normal(size=3))
    w, v = halves(RNG.normal(size=6))
    dense = matrix(articulated.of_rigid(body))
    twist = np.concatenate((w, v))
    np.testing.assert_allclose(np.ravel(rigid.apply(body, w, v)), dense @ twist)
    np.testing.assert_allclose(
        np.ravel(rigid.bias(body, w, v)), -se3.ad(twist).T @ dense @ twist, atol=1e-12)
    np.testing.assert_allclose(
        matrix(articulated.of_rigid(rigid.transport(r, p, body))),
        matrix(articulated.transport(r, p, articulated.of_rigid(body))), atol=1e-12)


@pytest.mark.full
def test_rates_of_rigid_inertias_are_their_dense_matrices() -> None:
    blocks = np.zeros((3, coriolis.BLOCK_WIDTH))
    body, twist = (1.7, tuple(RNG.normal(size=3)), tuple(RNG.normal(size=6))), RNG.normal(size=6)
    coriolis.store_rate(blocks, 1, body, *halves(twist))
    dense = -se3.ad(twist).T @ matrix(articulated.of_rigid(body))
    np.testing.assert_allclose(dense_blocks(blocks[1]), dense, atol=1e-12)

    blocks = RNG.normal(size=(3, coriolis.BLOCK_WIDTH))
    dense, before, x = dense_blocks(blocks[2]), dense_blocks(blocks[1]), RNG.normal(size=6)
    np.testing.assert_allclose(np.ravel(coriolis.apply(blocks, 2, *halves(x))), dense @ x)
    np.testing.assert_allclose(np.ravel(coriolis.apply_t(blocks, 2, *halves(x))), dense.T @ x)
    r, p = so3.exp(RNG.normal(size=3)), RNG.normal(size=3)
    coriolis.add_transported(tuple(r.ravel()), tuple(p), blocks, 2, 1)
    adjoint = se3.adjoint(np.linalg.inv(homogeneous(r, p)))
    np.testing.assert_allclose(
        dense_blocks(blocks[1]), before + adjoint.T @ dense @ adjoint, atol=1e-12)


@pytest.mark.parametrize('kind', range(5))
def test_screws_twists_and_projections_agree(kind: int) -> None:
    v, wrench, pitch = RNG.normal(size=6), RNG.normal(size=6), 0.7 * (kind == kinds.HELICAL)
    screws = [np.ravel(joints.screw(kind, pitch, k)) for k in range(joints.degrees(kind))]
    assert len(screws) == kinds.NV_OF_KIND[kind]
    np.testing.assert_allclose(np.ravel(joints.relative_twist(kind, pitch, v, 0)),
                               sum(rate * screw for rate, screw in zip(v, screws)))
    np.testing.assert_allclose(
        [joints.along(kind, pitch, k, *halves(wrench)) for k in range(len(screws))],
        np.array(screws) @ wrench)
    body = 1.7, tuple(RNG.normal(size=3)), tuple(RNG.normal(size=6))
    for k, screw in enumerate(screws):
        np.testing.assert_allclose(np.ravel(rigid.of_screw(body, kind, pitch, k)),
                                   np.ravel(rigid.apply(body, *halves(screw))))


def test_rotations_of_quaternions_do_not_depend_on_the_norm() -> None:
    quaternion = RNG.normal(size=4)
    unit = quaternion / np.linalg.norm(quaternion)
    np.testing.assert_allclose(
        np.reshape(joints.rotation_of_quaternion(tuple(quaternion)), (3, 3)),
        so3.from_quaternion(unit),
        atol=1e-15)


@pytest.mark.parametrize('kind, size', [(kinds.SPHERICAL, 3), (kinds.FREE, 6)])
def test_exponential_rate_moves_the_exponential(kind: int, size: int) -> None:
    """exp(x + dt dx) = exp(x) exp(dt v) to second order in dt."""
    model = tables.Link.table(2)
    tables.Tree.of(model, 'links')[0] = 2
    tables.Link.of(model, 'kind')[1] = kind
    x, v, dx, dt = RNG.normal(size=size), RNG.normal(size=size), np.empty(size), 1e-5
    exponential_rate(model, x, v, dx)
    group = so3 if size == 3 else se3
    for sign in (-1.0, 1.0):
        np.testing.assert_allclose(
            group.exp(x + sign * dt * dx), group.exp(x) @ expm(sign * dt * group.hat(v)),
            atol=1e-9)


def test_no_kernel_can_allocate_or_keep_a_reference() -> None:
    package = Path(liedyn_ros.__path__[0])
    modules = [import_module('.'.join(each.relative_to(package.parent).with_suffix('').parts))
               for each in sorted(package.rglob('kernels/*.py')) if each.stem != '__init__']
    compiled = [value for module in modules for value in vars(module).values()
                if hasattr(value, 'dispatcher') and value.__module__ == module.__name__]
    assert len(compiled) > 500
    assert not any(each.dispatcher.targetoptions['_nrt'] for each in compiled)
    model, data = tables.Link.table(2), tables.State.table(2)
    q, out = np.zeros(1), np.zeros((1, 1))
    before = [sys.getrefcount(array) for array in (model, data, q, out)]
    for _ in range(10):
        crba(model, data, q, out)
    assert [sys.getrefcount(array) for array in (model, data, q, out)] == before


def halves(x: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(x[:3]), tuple(x[3:])


def homogeneous(r: Array, p: Array) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = r, p
    return pose


def blocks(dense: Array):
    upper = np.triu_indices(3)
    return (tuple(dense[:3, :3][upper]), tuple(dense[:3, 3:].ravel()),
            tuple(dense[3:, 3:][upper]))


def matrix(inertia) -> Array:
    a, c = np.array(inertia[0])[SYMMETRIC], np.array(inertia[2])[SYMMETRIC]
    b = np.reshape(inertia[1], (3, 3))
    assert symmetric.trace(inertia[0]) == pytest.approx(np.trace(a))
    return np.block([[a, b], [b.T, c]])


def dense_blocks(rows: Array) -> Array:
    """Return [a, [u] - c; c, [n]] of a row of blocks."""
    a, c = (rows[at:at + 12].reshape(3, 4)[:, :3] for at in (coriolis.A, coriolis.C))
    n, u = (so3.hat(rows[at:at + 3]) for at in (coriolis.N, coriolis.U))
    return np.block([[a, u - c], [c, n]])
