# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parameters of the loop state publisher, in the order of its page's table."""

from dataclasses import replace

from liedyn_ros.nodes.dynamics.parameters import MODEL_PARAMETERS
from liedyn_ros.ros.messages.tf import TF_RATE_PARAMETER
from liedyn_ros.ros.parameters.parameter_set import Parameter

LOOP_STATE_PUBLISHER = tuple(replace(parameter, run_time=False)
                             for parameter in MODEL_PARAMETERS) + (
    Parameter('measured_joints', [''], 'measured joints, each of one coordinate; by default all '
              'actuated ones'),
    Parameter('start', '', 'approximate positions that select the assembly, e.g. `knee:=0.5 '
              'ankle:=-1.2`; other joints start at 0'),
    Parameter('ignore_other_joints', False, 'ignore joints of the input that are not measured; '
              'otherwise such input is refused'),
    Parameter('agreement', 0.05, 'largest disagreement of a reading with the loops, rad or m, '
              'if more joints are measured than needed. The state then fits all readings best',
              least=1e-9, most=10.0),
    Parameter('frame_prefix', '', 'prefix of the frame ids of TF, which are the names of bodies, '
                                  'as by this parameter of robot_state_publisher'),
    TF_RATE_PARAMETER,
    Parameter('singularity_warning', 0.02, 'inverse condition number below which the state is '
              'near a singularity', least=0.0, most=1.0, run_time=True),
    Parameter('singularity_warning_time', 0.5, 'time to a singularity, at the present rate, '
              'below which the node warns', 's', least=0.0, most=60.0, run_time=True),
    Parameter('max_age', 0.5, 'age of a sample, by its stamp, above which it is refused; 0 for '
              'any', 's', least=0.0, most=3600.0, run_time=True),
    Parameter('max_lead', 0.1, 'how far a stamp may be ahead of the clock', 's', least=0.0,
              most=3600.0, run_time=True),
    Parameter('input_timeout', 1.0, 'time without an accepted sample after which the silence is '
              'reported; 0 for never', 's', least=0.0, most=3600.0, run_time=True),
    Parameter('queue_depth', 10, 'messages the input keeps while the node is busy; of all that '
              'wait the newest is used', least=1, most=10000),
)
