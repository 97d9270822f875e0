# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The four ways through the code of docs/architecture.md pass what the page names.

`pytest -s test/nodes/test_walks.py` prints the modules of each in the order of their first call.
Kernels are compiled, so a trace of Python does not see them.
"""

from pathlib import Path
import re
import sys
import threading

import numpy as np
import pytest
from support.bench.dynamics_bench import AERIAL, Motion, ServerBench
from support.bench.pose_bench import FAR, NEAR, PoseBench

import liedyn_ros
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.dynamics.partial_derivatives import Parameters
from liedyn_ros.model import load_model

pytestmark = pytest.mark.ros
PACKAGE = Path(liedyn_ros.__file__).parent
PAGE = PACKAGE.parent / 'docs' / 'architecture.md'


class Walk:
    """The calls of the package's own functions, in threads that begin after it; while `on`."""

    def __init__(self):
        """Begin."""
        self.on, self._calls, self._known = False, [], {}

    def __call__(self, frame, event, argument):
        """Take an event of Python's profiler."""
        if self.on and event == 'call':
            self._calls.append((threading.get_ident(), frame.f_code))

    def _module(self, code):
        """Return the path of code in the package, or nothing."""
        path = Path(code.co_filename)
        return path.relative_to(PACKAGE).as_posix() if PACKAGE in path.parents else ''

    def calls_of(self, first):
        """Return modules and names of the calls of the thread that called a function first."""
        thread = next(who for who, code in self._calls if code.co_name == first)
        named = [(self._module(code), code.co_name) for who, code in self._calls if who == thread]
        begin = next(k for k, each in enumerate(named) if each[1] == first)
        return [each for each in named[begin:] if each[0]]


@pytest.fixture
def walk():
    """Return a walk that sees this thread, and all that begin in the test."""
    walk = Walk()
    threading.setprofile(walk)
    sys.setprofile(walk)
    yield walk
    sys.setprofile(None)
    threading.setprofile(None)


def passes(walk, way, first):
    """Assert that a walk passes what the page names, and print its modules."""
    row, = re.findall(rf'^\| {way} \| (.*`.*) \|$', PAGE.read_text(encoding='utf-8'), re.MULTILINE)
    calls = walk.calls_of(first)
    modules = list(dict.fromkeys(module for module, _ in calls))
    folders = {Path(module).parent for module in modules}
    print(f'\n{way}: {len(calls)} calls, {len(modules)} modules in {len(folders)} folders')
    print('  ' + ' '.join(modules))
    functions = re.findall(r'`\w+\.(\w+)`|`([a-z_]{5,})`', row)
    for name in filter(None, (name for pair in functions for name in pair)):
        assert name in {each for _, each in calls}, name
    for path in re.findall(r'`([a-z_/]+\.py)`', row):
        assert any(module.endswith(path) for module in modules), path


def test_a_joint_state_to_a_pose(bench, walk):
    node = PoseBench(bench).settle()
    node.send_pose(NEAR)
    walk.on = True
    node.pose_at(node.send_pose(FAR))
    walk.on = False
    passes(walk, 'a joint state to a pose', '_take_joint_state')


def test_a_request_to_its_answer(bench, walk):
    server = ServerBench(bench, model_file=AERIAL.name)
    query = Motion(AERIAL).query()
    server.ask('inverse_dynamics', query)
    walk.on = True
    assert server.ask('inverse_dynamics', query).success
    walk.on = False
    passes(walk, 'a request to its answer', '_answer_query')


def test_a_file_to_dynamics(walk):
    walk.on = True
    Dynamics(load_model(config_file('aerial_manipulator.yaml')))
    walk.on = False
    passes(walk, 'a file to dynamics', 'load_model')


def test_parameters_to_derivatives(walk):
    tree = Dynamics(load_model(config_file('aerial_manipulator.yaml')))
    loops = ConstrainedDynamics(load_model(config_file('five_bar.yaml')))
    for dynamics, q in ((tree, tree.model.neutral()), (loops, assemble(loops))):
        change, rest = Parameters(dynamics.model), np.zeros((4, dynamics.model.nv))
        walk.on = True
        dynamics.forward.partial_derivatives.product(
            q, rest[0], rest[0], *rest[1:], parameters=change)
        walk.on = False
    passes(walk, 'parameters to derivatives', 'product')
