# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A machine with closed loops as the node reads it."""

import re

import pytest
from support.machines.looped_machines import planar_linkage

from liedyn_ros.common.errors import SingularError
from liedyn_ros.nodes.loops.machine import LoopedMachine

pytestmark = pytest.mark.ros


def test_the_start_that_the_error_proposes_is_accepted():
    model = planar_linkage((0.2, 0.5), (0.2,), 0.5, ('left_0',))
    with pytest.raises(SingularError) as refused:
        LoopedMachine(model, [''], '', False, 0.05)
    starts = re.findall("'(.*?)'", str(refused.value))
    assert len(starts) == 2
    for start in starts:
        machine = LoopedMachine(model, [''], start, False, 0.05)
        assert machine.tracker.update([0.3]).inverse_condition_number > 0.1
