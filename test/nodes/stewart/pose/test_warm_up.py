# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""After the warm-up of the pose node no kernel is left that its stream could have to load."""

import pytest
from support import forked

pytestmark = pytest.mark.ros

# Printed by a fresh process: how many were compiled, then each kernel that Python code of the
# node names and the warm-up did not call. Compilation of a kernel also compiles its callees, which
# then look called: run it again if any were compiled.
CENSUS = """
import ast, inspect, sys
from numba.core.dispatcher import Dispatcher
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode

for call in (StewartPoseNode.warm_up, *StewartPoseNode.behind):
    call()
compiled, left = 0, set()
for name, module in list(sys.modules.items()):
    if not name.startswith(('liedyn_ros.stewart.', 'liedyn_ros.nodes.stewart.', 'liedyn_ros.ros.')
                           ) or '.kernels' in name:
        continue
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        found = None
        if isinstance(node, ast.Name):
            found = getattr(module, node.id, None)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found = getattr(getattr(module, node.value.id, None), node.attr, None)
        if isinstance(found, Dispatcher):
            compiled += sum(found.stats.cache_misses.values())
            if not found.overloads:
                left.add(f'{found.py_func.__module__}.{found.py_func.__name__}')
print(compiled)
print(*sorted(left), sep='\\n')
"""
# No topic, timer or service of the node calls these. They are batches of poses, a method with
# seven unknowns, covariances of legs that differ and of a geometry, and ratios of drives. How a
# Jacobian changes is asked of seven legs alone.
SEVEN_LEGS = 'liedyn_ros.stewart.redundant.'  # the node has six
NOT_OF_THE_NODE = {f'liedyn_ros.stewart.{name}' for name in (
    'platform.kernels.leg_types.ratio', 'platform.kernels.geometry_errors.covariance_of_errors',
    'platform.kernels.leg_types.values_batch', 'platform.kernels.inverse_rates.covariance',
    'platform.kernels.inverse_rates.jacobian_change', 'platform.kernels.limits.margins_batch',
    'platform.kernels.state.signed_values', 'solver.kernels.solve.solve_poses',
    'solver.kernels.solve.solve_seven')}


def census():
    """Return how many kernels were compiled, and those that were not called."""
    result = forked.run('-c', CENSUS)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.split()
    return int(lines[0]), set(lines[1:])


def test_the_warm_up_calls_each_kernel_that_the_node_can_call():
    compiled, left = census()
    if compiled:
        compiled, left = census()
    assert not compiled
    assert {name for name in left if not name.startswith(SEVEN_LEGS)} == NOT_OF_THE_NODE
