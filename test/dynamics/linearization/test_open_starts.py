# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A start off the loops is refused by all that goes on from it, with the error of forward."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.machines.looped_machines import four_bar
from support.refusals import ANY, refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, constrained_stormer_verlet, ConstrainedDynamics, project,
    projected_runge_kutta)
from liedyn_ros.dynamics.linearization import (
    linearize_step, motion_gradient, RUNGE_KUTTA, simulate, STORMER_VERLET, transition)

DT, REST = 1e-3, np.zeros(3)


def cost(k: int, q: Array, v: Array) -> tuple[float, Array, Array]:
    """Return none."""
    return 0.0, REST, REST


GOING_ON: dict[str, Callable[[ConstrainedDynamics, Array, Array], Any]] = {
    'projected step': lambda d, q, v: projected_runge_kutta.step(d, q, v, DT, REST),
    'variational step': lambda d, q, v: constrained_stormer_verlet.step(d, q, v, DT, REST),
    'rollout': lambda d, q, v: simulate(d, q, v, REST, DT, 3),
    'variational rollout': lambda d, q, v: simulate(
        d, q, v, REST, DT, 3, scheme=STORMER_VERLET),
    'rollout of no step': lambda d, q, v: simulate(d, q, v, REST, DT, 0),
    'derivatives of a step': lambda d, q, v: linearize_step(d, q, v, DT, REST, None, RUNGE_KUTTA),
    'of a variational one': lambda d, q, v: linearize_step(
        d, q, v, DT, REST, None, STORMER_VERLET),
    'transition': lambda d, q, v: transition(d, q, v, DT, REST),
    'gradient': lambda d, q, v: motion_gradient(d, q, v, np.zeros((3, 3)), DT, cost),
    'gradient of no step': lambda d, q, v: motion_gradient(d, q, v, np.zeros((0, 3)), DT, cost)}


@pytest.mark.parametrize('go_on', GOING_ON.values(), ids=GOING_ON)
@pytest.mark.parametrize(('dq', 'dv'), [
    ([0.0, 0.2, -0.1], REST), ([0.0, 3e-6, 0.0], REST), (REST, [2.0, 0.0, 0.0])])
def test_a_start_off_the_loops(go_on: Callable[..., Any], dq: list[float], dv: list[float]
                               ) -> None:
    machine = ConstrainedDynamics(four_bar())
    q = assemble(machine)
    v = complete_velocity(machine, q, [1.0, 0.0, 0.0])
    go_on(machine, q, v)
    with refused(LiedynError, ANY) as wanted:
        machine.forward(q + dq, v + dv, REST)
    with refused(LiedynError, *wanted.value.names, expected=0.0, got=wanted.value.got) as found:
        go_on(machine, q + dq, v + dv)
    assert str(found.value) == str(wanted.value)
    go_on(machine, *project(machine, q + dq, v + dv))
