# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which tests run where: the core's everywhere, the nodes' where there is a ROS 2."""

from collections.abc import Iterator
import gc
from importlib.util import find_spec
import os
from pathlib import Path
import signal
import subprocess
import sys

from _pytest.runner import runtestprotocol
import pytest
from support.domains import domain_of

from liedyn_ros.jit import rooms

HAS_ROS = find_spec('rclpy') is not None
WITH_ROS = [
    'bags', 'demo', 'interfaces', 'launch', 'nodes', 'ros', 'benchmarks/test_benchmarks.py',
    'benchmarks/test_faults.py', 'benchmarks/test_soak.py']
collect_ignore = [] if HAS_ROS else WITH_ROS
# Files that take long, beside others on two cores as measured on 2026-11-27, the longest first.
LONG = (
    'test_linters.py', 'test_documents.py', 'test_sweeps.py', 'test_executables.py',
    'test_own_hexapod.py', 'test_browser.py', 'test_examples.py', 'test_moving_ends.py',
    'test_branch_monitor.py', 'test_core.py', 'test_parameters.py', 'test_loops.py',
    'test_time_derivatives.py', 'test_controller.py', 'test_security_policies.py',
    'test_retime.py', 'test_calibration.py', 'test_tracker.py', 'test_looped_machines.py',
    'test_rates.py', 'test_calibrate.py', 'test_tutorials.py', 'test_services.py',
    'test_joint_bags.py', 'test_c_library.py', 'test_path_runner.py', 'test_soak.py',
    'test_c_controller.py', 'test_kinematics.py', 'test_bad_input.py',
    'test_cmake_package.py', 'test_identify.py', 'test_held_readings.py',
    'test_bad_recordings.py', 'test_doubts.py', 'test_modes.py', 'test_workspace.py',
    'test_actuators.py', 'test_pose.py', 'test_front_door.py',
    'test_unequal_noise.py', 'test_commissioning.py', 'test_papers.py')
# Folders whose files wait, for nodes and processes: they run beside files that compute.
WAITING = {'interfaces', 'jit', 'launch', 'nodes', 'ros', 'view'}
TESTS = Path(__file__).parent
OF_ALL_REPORTS = 'xmlpath', 'durations', 'reruns'  # options that need those of setups as well
GARBAGE = 20000, 20, 20  # thresholds of the collector: what the tests make is looked at seldom
pytest_plugins = ['support.margins', 'support.tiers']
if HAS_ROS:
    pytest_plugins.append('support.bench.ros_fixtures')

# Threads of BLAS gain nothing on small matrices, and wait for cores that other tests take. The
# number is read when numpy is imported, so nothing above imports it.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
os.environ.setdefault('MUJOCO_GL', 'disable')  # no test draws by it, which looks for a screen

# Tests that a script starts in its background ignore interrupts, and so does what they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Kernels whose sources have changed are built again, once for all processes that share the tests.
if 'PYTEST_XDIST_WORKER' not in os.environ and os.environ.get('LIEDYN_CHECK') != '1':
    subprocess.run([sys.executable, '-m', 'liedyn_ros.build'], cwd=TESTS.parent, check=True)

# Tests call kernels that only kernels call, too: numba compiles these at their first call.
rooms.DEVELOPMENT = True
if find_spec('numba') is not None:
    import liedyn_ros.build  # noqa: F401  # numba imports beside an old coverage then
    from support import kernel_cache
    kernel_cache.keep()

# Processes that share the tests have a ROS domain each.
WORKER = os.environ.get('PYTEST_XDIST_WORKER', 'gw0').removeprefix('gw')
if WORKER != '0' and 'ROS_DOMAIN_ID' in os.environ:
    os.environ['ROS_DOMAIN_ID'] = str(domain_of(int(WORKER), int(os.environ['ROS_DOMAIN_ID'])))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Accept the options of pytest-xdist where it is missing: one process runs all tests then."""
    if find_spec('xdist') is None:
        for option in ('--numprocesses', '--dist', '--max-worker-restart'):
            parser.addoption(option)
        parser.addoption('--no-loadscope-reorder', action='store_true')


def pytest_configure() -> None:
    """Look for no garbage while tests are collected: what that makes stays."""
    gc.disable()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """
    Let one of several processes tell the first of calls, and of setups and teardowns that fail.

    Setups and teardowns that pass are two thirds of all reports: 0.3 ms of the 1 ms of a test.
    """
    options = item.config.option
    if not hasattr(item.config, 'workerinput') or any(
            getattr(options, each, None) for each in OF_ALL_REPORTS):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == 'call' or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Begin with files that take long, so that no process has them left at the end.

    Files with waits and files with work take turns, so that both end with the run.
    """
    place, turns = {name: k for k, name in enumerate(LONG)}, {}
    for waits in (True, False):
        files = sorted(
            (path for path in dict.fromkeys(item.path for item in items)
             if (path.relative_to(TESTS).parts[0] in WAITING) is waits),
            key=lambda path: place.get(path.name, len(LONG)))
        turns.update({path: k / len(files) for k, path in enumerate(files)})
    items.sort(key=lambda item: (turns[item.path], item.path))


def pytest_report_header() -> str:
    """Say in the first lines which tests are left out."""
    return 'ROS 2: found' if HAS_ROS else f'ROS 2: none; {", ".join(WITH_ROS)} not collected'


def pytest_collection_finish() -> None:
    """
    Search for no garbage among modules and tests, which took a seventh of the tests' time.

    What is garbage by now stays: it is little, and to find it takes 0.4 s.
    """
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    gc.enable()


@pytest.fixture
def switching() -> Iterator[None]:
    """Let threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
