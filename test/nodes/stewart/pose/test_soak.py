# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A short soak of the pose node: every sample is accounted for and no memory is kept."""

import gc
import tracemalloc

from diagnostic_msgs.msg import DiagnosticArray
from liedyn_interfaces.srv import PredictStewartPose, SolveStewartPose
import numpy as np
import pytest
from std_srvs.srv import Trigger
from support.bench.pose_bench import GEOMETRY, HOME, LEGS, moved, PoseBench, stamp_of

from liedyn_ros.stewart import leg_lengths

pytestmark = pytest.mark.ros
SAMPLES = 300  # of a round
CALL_EVERY = 30
ROUNDS, MAX_GROWTH = 3, 6_000  # bytes in each round; a cache that grows does so in one
REPORTS = 3  # of diagnostics, before memory is compared
TWIST = np.array([0.3, -0.2, 0.4, 0.05, 0.1, -0.05])


def soak(node):
    """Send samples as fast as they go, call services between; return how many were reported."""
    last_ns, told = node.stamp_ns, 0
    for k in range(1, SAMPLES + 1):
        stamp_ns = last_ns + 1_000_000 * k
        angle = 2.0 * np.pi * k / SAMPLES
        lengths = leg_lengths(GEOMETRY, moved(HOME, TWIST, 0.1 * np.sin(angle)))
        node.send(lengths, velocities=[0.0] * 6, stamp_ns=stamp_ns, wait=False)
        if k % CALL_EVERY == 0:
            solved = node.bench.call(SolveStewartPose, 'stewart_pose/solve', leg_names=LEGS,
                                     lengths=lengths.tolist())
            assert solved.success, solved.message
            node.status_at(stamp_ns)  # what waits is taken
            node.bench.call(PredictStewartPose, 'stewart_pose/predict', stamp=stamp_of(stamp_ns))
    told = sum(1 + status.passed_over for status in node.statuses)
    forget(node)
    return told


def forget(node):
    """Forget what the node published and the bench has taken."""
    for outputs in (node.poses, node.twists, node.statuses, node.markers):
        outputs.clear()


def held(node, reports):
    """Return the memory, bytes, that Python holds since the tracing began, reports left out."""
    node.bench.call(Trigger, 'stewart_pose/reset')  # forgets the ages since the last report
    forget(node)  # poses may come after the statuses that were waited for
    reports.clear()
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.full
def test_a_short_soak(bench):
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    node = PoseBench(bench, queue_depth=2 * CALL_EVERY, input_timeout=0.0).settle()
    tracemalloc.start()
    try:
        for k in range(REPORTS):  # what is made once is made by then
            assert soak(node) == SAMPLES
            bench.until(lambda k=k: len(reports) > k, 'a report')
        sizes = [held(node, reports)]
        for _ in range(ROUNDS):
            assert soak(node) == SAMPLES
            sizes.append(held(node, reports))
        assert min(np.diff(sizes)) < MAX_GROWTH, sizes
    finally:
        tracemalloc.stop()
