# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The ten machines of the gallery by loop_state_publisher, and a machine as the node reads it."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
import re

from liedyn_interfaces.msg import LoopStatus
import numpy as np
import pytest
from support.bench.loop_bench import LoopBench
from support.machines.looped_machines import planar_linkage

from liedyn_ros.common.errors import SingularError
from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.loops.machine import LoopedMachine

pytestmark = pytest.mark.ros
SPEC = spec_from_file_location(
    'gallery', Path(__file__).parents[3] / 'examples' / 'gallery.py')
gallery = module_from_spec(SPEC)


SPEC.loader.exec_module(gallery)


@pytest.mark.parametrize('name', gallery.MACHINES)
def test_encoders_move_all_joints(bench, name):
    machine, (file, swings) = gallery.machine(name), gallery.MACHINES[name]
    motion, names = gallery.motion(machine, name), list(swings)
    columns = [machine.model.joint(each).qi for each in names]
    node = LoopBench(bench, model_file=str(config_file(file)), measured_joints=names)
    node.settle(motion.q[0, columns], names=names)
    joints = {joint.name: joint.qi for joint in machine.model.joint_list
              if joint.q_slice.stop - joint.q_slice.start == 1}
    for q, v in zip(motion.q[1:50:8], motion.v[1:50:8]):
        rates = [v[machine.model.joint(each).vi] for each in names]
        status = node.send(q[columns], velocities=rates, names=names)
        assert status.status == LoopStatus.COMPLETED
        state = node.state()
        assert set(state.name) == set(joints)
        np.testing.assert_allclose(
            state.position, [q[joints[each]] for each in state.name], atol=1e-9)
        np.testing.assert_allclose(
            state.velocity, [v[machine.model.joint(each).vi] for each in state.name], atol=1e-9)


def test_the_start_that_the_error_proposes_is_accepted():
    model = planar_linkage((0.2, 0.5), (0.2,), 0.5, ('left_0',))
    with pytest.raises(SingularError) as refused:
        LoopedMachine(model, [''], '', False, 0.05)
    starts = re.findall("'(.*?)'", str(refused.value))
    assert len(starts) == 2
    for start in starts:
        machine = LoopedMachine(model, [''], start, False, 0.05)
        assert machine.tracker.update([0.3]).inverse_condition_number > 0.1


def test_loops_that_close_in_two_ways_are_doubted_without_a_start():
    model = planar_linkage((0.2, 0.5), (0.4,), 0.45, ('left_0',))  # open at zeros
    starts = re.findall("'(.*?)'", LoopedMachine(model, [''], '', False, 0.05).doubt)
    assert len(starts) == 2
    ends = []
    for start in starts:
        machine = LoopedMachine(model, [''], start, False, 0.05)
        assert not machine.doubt
        ends.append(machine.tracker.update([0.9]).q)
    assert np.abs(ends[0] - ends[1]).max() > 0.1
    closed = gallery.machine('gripper').model  # at zeros
    assert not LoopedMachine(closed, [''], '', False, 0.05).doubt
