# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Gradients that torch and jax take through closed loops, beside differences along motions."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.loop_states import ALL, state
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.autodiff import JaxFunctions, TorchFunctions
from liedyn_ros.dynamics.autodiff.pullbacks import pullbacks
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, project

STEP = 1e-5
MACHINES = 'balls', 'bennett', 'floating'
FUNCTIONS = 'inverse', 'forward', 'hybrid'


def first_joint(dynamics: ConstrainedDynamics) -> list[bool]:
    """Return the mask of one coordinate that hybrid dynamics prescribes."""
    return [i == dynamics.model.nv - 1 for i in range(dynamics.model.nv)]


def motion(name: str) -> tuple[ConstrainedDynamics, list[dict[str, np.ndarray]], np.ndarray]:
    """Return a machine, states (2, n) at both ends of a short motion and amid, and weights."""
    dynamics, q, v, tau, _, rng = state(ALL[name])
    model = dynamics.model
    dv, push = 0.3 * rng.normal(size=model.nv), rng.normal(size=model.nv)
    ends = []
    for s in (-1.0, 0.0, 1.0):
        there, speed = project(
            dynamics, model.integrate(q, s * STEP * v), v + s * STEP * dv)
        force = tau[0] + s * STEP * push
        ends.append({'q': there, 'v': speed, 'tau': force,
                     'a': dynamics.forward(there, speed, force).a})
    states = [{key: np.array([each[key], ends[1][key]]) for key in each} for each in ends]
    return dynamics, states, rng.normal(size=(2, model.nv))


def arguments(name: str, states: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Return the arguments of a function."""
    keys = {'inverse': 'q v a', 'forward': 'q v tau', 'hybrid': 'q v a tau'}[name]
    return [states[key] for key in keys.split()]


@pytest.mark.parametrize('function', FUNCTIONS)
@pytest.mark.parametrize('machine', MACHINES)
def test_pullbacks_are_differences_along_motions(machine: str, function: str) -> None:
    dynamics, (before, amid, after), y = motion(machine)
    of = pullbacks(dynamics, first_joint(dynamics))[function]
    ends = [arguments(function, each) for each in (before, amid, after)]
    found = of.pull(*ends[1], y)
    changed = sum(by[0] @ (end[0] - begin[0]) for by, begin, end in zip(found, ends[0], ends[2]))
    values = [float(y[0] @ of.value(*each)[0]) for each in ends]
    assert changed == pytest.approx(values[2] - values[0], rel=1e-5, abs=1e-9)


@pytest.mark.parametrize('function', FUNCTIONS)
def test_torch(function: str) -> None:
    torch = pytest.importorskip('torch')
    dynamics, (_, amid, _), y = motion('balls')
    known = first_joint(dynamics)
    of, functions = pullbacks(dynamics, known)[function], TorchFunctions(
        dynamics, prescribed=known)
    given = arguments(function, amid)
    tensors = [torch.tensor(each, requires_grad=True) for each in given]
    value = getattr(functions, function)(*tensors)
    assert_same(value.detach().numpy(), of.value(*given))
    (torch.tensor(y) * value).sum().backward()
    for tensor, wanted in zip(tensors, of.pull(*given, y)):
        assert_same(tensor.grad.numpy(), wanted)


@pytest.mark.parametrize('function', FUNCTIONS)
def test_jax(function: str) -> None:
    jax = pytest.importorskip('jax')
    dynamics, (_, amid, _), y = motion('balls')
    known = first_joint(dynamics)
    of, functions = pullbacks(dynamics, known)[function], JaxFunctions(dynamics, prescribed=known)
    given = arguments(function, amid)
    with jax.enable_x64(True):
        call = getattr(functions, function)
        found = jax.jit(jax.grad(lambda *arrays: (y * call(*arrays)).sum(),
                                 argnums=tuple(range(len(given)))))(*given)
        for each, wanted in zip(found, of.pull(*given, y)):
            assert_same(each, wanted)
        assert_same(jax.jit(jax.vmap(call))(*given), of.value(*given))


def test_trees_have_no_prescribed_joints() -> None:
    tree = Dynamics(random_model(4, 3, False))
    assert 'hybrid' not in pullbacks(tree)
    with refused(LiedynError, 'prescribed'):
        pullbacks(tree, [True, False, False])
