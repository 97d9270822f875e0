# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Gradients that torch and jax take through dynamics, beside differences along motions."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.random_models import random_model
from support.refusals import ANY, refused

from liedyn_ros.common.errors import LiedynError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.autodiff import JaxFunctions, TorchFunctions
from liedyn_ros.dynamics.autodiff.pullbacks import (
    DynamicsFunctions, pullbacks, to_configuration, to_tangent)

STEP, STATES = 1e-6, 3


@pytest.fixture(scope='module')
def dynamics() -> Dynamics:
    """Return a tree with a free base, a ball joint and others."""
    return Dynamics(random_model(4, 6, True, ('spherical', 'revolute', 'helical')),
                    dissipation=False)


def states(dynamics: Dynamics, seed: int = 1) -> tuple[np.ndarray, ...]:
    """Return q, another near it, v, tau and weights of some states."""
    model, rng = dynamics.model, np.random.default_rng(seed)
    q = np.array([model.random(rng) for _ in range(STATES)])
    near = model.integrate_batch(q, 0.5 * rng.normal(size=(STATES, model.nv)))
    return q, near, *rng.normal(size=(3, STATES, model.nv))


def arguments(dynamics: Dynamics, name: str) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Return the arguments of a function, and weights of its result."""
    q, near, v, x, y = states(dynamics)
    given = {'inverse': (q, v, x), 'forward': (q, v, x), 'integrate': (q, v),
             'difference': (q, near)}[name]
    if name == 'integrate':
        y = np.random.default_rng(3).normal(size=q.shape)
    return given, y


@pytest.mark.parametrize('name', ('inverse', 'forward', 'integrate', 'difference'))
def test_pullbacks_are_differences(dynamics: Dynamics, name: str) -> None:
    of, model = pullbacks(dynamics)[name], dynamics.model
    given, y = arguments(dynamics, name)
    found, rng = of.pull(*given, y), np.random.default_rng(5)
    for k, by in enumerate(found):
        assert by.shape == given[k].shape
        dv = rng.normal(size=(STATES, model.nv))
        angles = given[k].shape[1] == model.nq
        ends = [np.array(model.integrate_batch(given[k], s * STEP * dv) if angles else
                         given[k] + s * STEP * dv) for s in (1.0, -1.0)]
        ahead, back = ((y * of.value(*given[:k], end, *given[k + 1:])).sum(axis=1)
                       for end in ends)
        change = (ends[0] - ends[1]) / (2.0 * STEP)  # of the numbers of q
        assert_same((by * change).sum(axis=1), (ahead - back) / (2.0 * STEP), 1e-6)


def test_gradients_by_configurations_are_the_smallest(dynamics: Dynamics) -> None:
    model, (q, _, by, *_) = dynamics.model, states(dynamics)
    links = model.link_table
    wide = to_configuration(links, q, by)
    assert_same(to_tangent(links, q, wide), by)
    for quaternion in links.quaternions:
        part = slice(quaternion, quaternion + 4)
        assert np.abs((wide[:, part] * q[:, part]).sum(axis=1)).max() < 1e-12


def test_leading_axes_broadcast(dynamics: Dynamics) -> None:
    model, by = dynamics.model, (None, np.asarray, np.broadcast_to, lambda of: of.value)
    functions = DynamicsFunctions(dynamics, *by)
    q, _, v, tau, _ = states(dynamics)
    assert_same(functions.forward(q[0], v, tau), functions.forward(
        np.tile(q[0], (STATES, 1)), v, tau))
    still = functions.inverse(q, np.zeros(model.nv, int), v)  # whole numbers are numbers
    assert_same(still, functions.inverse(q, 0.0 * v, v))
    with refused(ShapeError, ANY, expected=model.nq):
        functions.inverse(q[:, 1:], v, v)
    with refused(ShapeError, ANY, got=[(STATES,), (2,), ()]):
        functions.inverse(q, v[:2], v[0])
    with refused(ShapeError, ANY):
        functions.inverse(q + 1j, v, v)
    with refused(LiedynError, 'dynamics'):
        DynamicsFunctions(model, *by)


@pytest.mark.parametrize('name', ('inverse', 'forward', 'integrate', 'difference'))
def test_torch(dynamics: Dynamics, name: str) -> None:
    torch = pytest.importorskip('torch')
    of, functions = pullbacks(dynamics)[name], TorchFunctions(dynamics)
    given, y = arguments(dynamics, name)
    tensors = [torch.tensor(each, requires_grad=True) for each in given]
    value = getattr(functions, name)(*tensors)
    assert_same(value.detach().numpy(), of.value(*given))
    (torch.tensor(y) * value).sum().backward()
    for tensor, wanted in zip(tensors, of.pull(*given, y)):
        assert_same(tensor.grad.numpy(), wanted)
    mapped, function = [each.detach() for each in tensors], getattr(functions, name)
    assert_same(torch.func.vmap(function)(*mapped).numpy(), of.value(*given))
    places = tuple(range(len(given)))
    rows = torch.func.vmap(torch.func.jacrev(function, places))(*mapped)
    for each, wanted in zip(rows, of.pull(*given, y)):
        assert_same(np.einsum('ki,kij->kj', y, each.numpy()), wanted)
    with refused(LiedynError, ANY):  # no zeros in its place
        torch.autograd.functional.hessian(lambda *x: function(*x).sum(), tuple(mapped))
    alone = [torch.tensor(each[1], dtype=torch.float32) for each in given]
    single = getattr(functions, name)(*alone)
    assert single.dtype == torch.float32 and single.shape == value.shape[1:]
    assert_same(single.numpy(), of.value(*given)[1], 1e-3)


@pytest.mark.parametrize('forward_mode', [False, True])
@pytest.mark.parametrize('name', ('inverse', 'forward', 'integrate', 'difference'))
def test_jax(dynamics: Dynamics, name: str, forward_mode: bool) -> None:
    jax = pytest.importorskip('jax')
    of = pullbacks(dynamics)[name]
    functions = JaxFunctions(dynamics, forward_mode=forward_mode)
    given, y = arguments(dynamics, name)
    with jax.enable_x64(True):
        function = getattr(functions, name)

        def weighed(*arrays):
            return (y * function(*arrays)).sum()

        places = tuple(range(len(given)))
        found = jax.jit(jax.grad(weighed, argnums=places))(*given)
        for each, wanted in zip(found, of.pull(*given, y)):
            assert_same(each, wanted)
        mapped = jax.jit(jax.vmap(function))(*given)
        assert_same(mapped, of.value(*given))
        if forward_mode:
            changes = tuple(np.random.default_rng(6).normal(size=each.shape) for each in given)
            value, change = jax.jit(lambda x, dx: jax.jvp(function, x, dx))(given, changes)
            assert_same(value, of.value(*given))
            assert_same((y * np.asarray(change)).sum(), sum(
                (by * dx).sum() for by, dx in zip(of.pull(*given, y), changes)), 1e-9)
            rows = jax.jacfwd(function)(*(each[0] for each in given))
            assert_same(y[0] @ np.asarray(rows), of.pull(*given, y)[0][0])
        held = jax.vmap(function, in_axes=(0,) + (None,) * (len(given) - 1))
        assert_same(held(given[0], *(each[0] for each in given[1:])),
                    of.value(given[0], *(np.tile(each[0], (STATES, 1)) for each in given[1:])))
        alone = jax.jit(jax.grad(lambda x: (y * function(x, *given[1:])).sum()))(given[0][0])
        every = of.pull(np.tile(given[0][0], (STATES, 1)), *given[1:], y)
        assert_same(alone, every[0].sum(axis=0))


def test_a_thrown_arm_is_optimised_through_many_steps(dynamics: Dynamics) -> None:
    torch = pytest.importorskip('torch')
    functions, model = TorchFunctions(dynamics), dynamics.model
    q0, _, v0, *_ = states(dynamics)
    goal, dt = torch.tensor(model.integrate(q0[0], 0.05 * v0[0])), 0.02

    def reach(force):
        q, v = torch.tensor(q0[0]), torch.zeros(model.nv, dtype=torch.float64)
        for _ in range(4):
            v = v + dt * functions.forward(q, v, force)
            q = functions.integrate(q, dt * v)
        return (functions.difference(q, goal) ** 2).sum()

    force = torch.zeros(model.nv, dtype=torch.float64, requires_grad=True)
    reach(force).backward()
    push = np.random.default_rng(7).normal(size=model.nv)
    ahead, back = (float(reach(force.detach() + s * STEP * torch.tensor(push))) for s in (1, -1))
    assert float(force.grad @ torch.tensor(push)) == pytest.approx(
        (ahead - back) / (2.0 * STEP), rel=1e-6)
