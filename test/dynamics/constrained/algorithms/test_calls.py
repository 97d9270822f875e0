# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Calls of closed loops take the arguments of those of trees, in the same order."""

import inspect

import pytest
from support.machines.loop_states import ALL

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics

ALGORITHMS = 'forward', 'inverse', 'hybrid'
PARTS = ('__call__', 'batch', 'partial_derivatives.__call__', 'partial_derivatives.product',
         'partial_derivatives.gradient', 'partial_derivatives.time_derivatives',
         'partial_derivatives.by_kinematics')


def positional(call, path):
    """Return the positional arguments without those of memory; None where there is no call."""
    for name in path.split('.'):
        call = getattr(call, name, None)
    return None if call is None else [
        name for name, each in inspect.signature(call).parameters.items()
        if each.kind is not each.KEYWORD_ONLY and name not in ('data', 'out')]


@pytest.mark.parametrize('algorithm', ALGORITHMS)
@pytest.mark.parametrize('part', PARTS)
def test_loops_take_the_arguments_of_trees(algorithm, part):
    model = ALL['four bar'].model
    loops, trees = (positional(getattr(dynamics, algorithm), part)
                    for dynamics in (ConstrainedDynamics(model), Dynamics(model)))
    assert loops == (trees or loops) and loops[-1] == 'external'
