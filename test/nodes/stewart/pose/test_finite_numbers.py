# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""No number that the node publishes or answers is NaN; a time that never comes is infinite."""

import math

from liedyn_interfaces.msg import StewartStatus
from liedyn_interfaces.srv import SolveStewartPose
import numpy as np
import pytest
from support.bench.pose_bench import GEOMETRY, LEGS, moved, NEAR
import yaml

from liedyn_ros.common.resources import config_file
from liedyn_ros.ros.node.services import not_finite
from liedyn_ros.stewart import leg_lengths

pytestmark = pytest.mark.ros
LENGTHS = leg_lengths(GEOMETRY, NEAR)
LONG, SHORT = 1e6, 1e-6  # m


@pytest.fixture(scope='module')
def geometry_file(tmp_path_factory):
    """Return the example platform with legs of nearly any length."""
    content = yaml.safe_load(config_file('stewart_geometry.yaml').read_text(encoding='utf-8'))
    for leg in content['legs'].values():
        leg['length'] = [SHORT, LONG]
    path = tmp_path_factory.mktemp('any_length') / 'geometry.yaml'
    path.write_text(yaml.safe_dump(content), encoding='utf-8')
    return str(path)


STRANGE = {
    'longest': [LONG] * 6, 'shortest': [SHORT] * 6, 'one longest': [*LENGTHS[:5], LONG],
    'one shortest': [*LENGTHS[:5], SHORT], 'no pose': [0.3, 0.9] * 3,
    'both': [LONG, SHORT] * 3, 'NaN': [*LENGTHS[:5], math.nan],
    'infinite': [*LENGTHS[:5], math.inf], 'huge': [1e300] * 6, 'none': []}


@pytest.mark.parametrize('case', STRANGE)
def test_statuses_of_strange_lengths_are_finite(tracking, geometry_file, case):
    """Published ones, and those of an answer, with success or without."""
    node = tracking(geometry_file=geometry_file)
    for lengths in (LENGTHS, STRANGE[case], LENGTHS):
        status = node.status_at(node.send(lengths))
        assert not math.isnan(status.time_to_singularity)
        status.time_to_singularity = 0.0
        assert not_finite(status) == ''
        response = node.bench.call(
            SolveStewartPose, 'stewart_pose/solve', leg_names=LEGS, lengths=lengths)
        assert not_finite(response) == ''
    assert status.status == StewartStatus.CONVERGED


def test_a_singularity_that_the_motion_leaves_is_infinitely_far(tracking):
    """In time: so a comparison with a limit tells the truth. A pose that rises leaves one."""
    node, twist = tracking(), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.1])
    times = []
    for direction in (1.0, -1.0):
        node.bench.call(SolveStewartPose, 'stewart_pose/solve', leg_names=LEGS, lengths=LENGTHS)
        statuses = [node.status_at(node.send_pose(moved(NEAR, direction * twist, 0.01 * k)))
                    for k in range(5)]
        times.append(statuses[-1].time_to_singularity)
    assert sorted(map(math.isinf, times)) == [False, True]
    assert min(times) > 0.0
