# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How queries are read, without a node."""

from contextlib import nullcontext

from liedyn_interfaces.msg import (
    DynamicsAnswer, DynamicsQuery, TreeAcceleration, TreeEffort, TreeState)
import numpy as np
import pytest
from support.bench.dynamics_bench import AERIAL, Motion
from support.machines.mimic_gripper import FOLLOWERS, GRIPPER, LEADERS
from support.refusals import refused

from liedyn_ros.common.errors import NameSetError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.model import load_model, load_urdf
from liedyn_ros.nodes.dynamics.answers import DynamicsAnswers
from liedyn_ros.nodes.dynamics.reading import QueryReader
from liedyn_ros.ros.messages.tree_messages import TreeMessages

MODEL = load_model(AERIAL)
READER = QueryReader(TreeMessages(MODEL), with_loops=False)


@pytest.mark.whole
@pytest.mark.parametrize(('count', 'outcome'), [
    *((count, nullcontext()) for count in (0, 6)),
    *((count, refused(NameSetError, 'prescribed', got=count)) for count in range(1, 6))])
def test_a_spatial_base_is_prescribed_as_a_whole(count, outcome):
    query = Motion(AERIAL).query(accelerations=True, efforts=True)
    query.base_twist_frame = DynamicsQuery.SPATIAL
    query.prescribed = list(MODEL.coordinate_names[:count])
    inputs, _ = READER.read(query, accelerations=True, efforts=True)
    with outcome:
        assert READER.whole_spatial_base(query, inputs) is not None


def test_errors_of_one_order_are_found_where_they_have_a_bound():
    query = Motion(AERIAL).query(efforts=True)
    assert not READER.with_errors(query, efforts=True, entries=1)
    query.max_error = 1e-3
    assert READER.with_errors(query, efforts=True, entries=1)


@pytest.mark.filterwarnings('ignore::liedyn_ros.common.errors.DescriptionWarning')
def test_leaders_say_what_followers_do_where_couplings_are_held():
    model = load_urdf(GRIPPER)
    state = TreeState(joint_names=LEADERS[::-1], positions=[0.3, 0.2], velocities=[0.5, -1.0])
    query = DynamicsQuery(state=state, accelerations=[TreeAcceleration(joints=[2.0, 1.0])])
    answer, back = DynamicsAnswer(), DynamicsAnswer()
    with refused(NameSetError, *FOLLOWERS):
        DynamicsAnswers(model, dissipation=True).inverse(query, answer)
    answers = DynamicsAnswers(model, dissipation=True, hold_couplings=True)
    answers.inverse(query, answer)
    at = [model.joint(name).vi for name in (*LEADERS, *FOLLOWERS)]
    q, v, a = np.zeros((3, model.nv))
    q[at], v[at] = (0.2, 0.3, -0.2, -0.1), (-1.0, 0.5, -0.5, -0.25)
    a[at] = (1.0, 2.0, -2.0, -1.0)
    tau = ConstrainedDynamics(model).inverse(q, v, a).tau
    np.testing.assert_allclose(answer.efforts[0].joints, tau[at[1::-1]], atol=1e-12)
    answers.forward(DynamicsQuery(state=state, efforts=[TreeEffort(
        joints=answer.efforts[0].joints)]), back)
    np.testing.assert_allclose(back.accelerations[0].joints, [2.0, 1.0], atol=1e-9)
