# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parameters of the dynamics server, in the order of its page's table."""

from dataclasses import replace

from liedyn_ros.nodes.simulator_node import (
    INTEGRATION_RATE, MAX_AGE_PARAMETER, PUBLISH_RATE, TIME_PARAMETERS)
from liedyn_ros.nodes.surroundings import SURROUNDINGS
from liedyn_ros.ros.messages.tf import TF_RATE_PARAMETER
from liedyn_ros.ros.parameters.parameter_set import Parameter

MODEL_PARAMETERS = (
    Parameter('model_file', '', 'path of the model: a .yaml, .urdf or .xacro file, an '
              '.xml file of MJCF, or the geometry file of a Stewart platform with masses. A bare '
              "name is a file of the package's config folder; empty for none", run_time=True),
    Parameter('robot_description', '', 'the model: text of a URDF; empty for none. Without either '
              'the model comes from the topic `robot_description`', run_time=True),
    Parameter('floating', False, 'free the root link of a URDF from the ground', run_time=True),
    Parameter('strict', False, 'refuse mass properties of a URDF that no rigid body has; they are '
              'otherwise used as they are, with a warning that names the links', run_time=True),
    Parameter('xacro_arguments', '', 'arguments of a .xacro file as on the command line of xacro, '
              'e.g. `prefix:=left_ reach:=3`', run_time=True),
    Parameter('loops_file', '', 'path of a .yaml file with closures, couplings and passive '
              "joints of a URDF. A bare name is a file of the package's config folder; empty for "
              'none', run_time=True),
    Parameter('gravity', [0.0, 0.0, -9.81], 'acceleration of gravity in the world for a URDF; a '
              'YAML file has its own', 'm/s^2', least=-1000.0, most=1000.0, size=3,
              run_time=True),
)
DYNAMICS_PARAMETERS = MODEL_PARAMETERS + (
    Parameter('dissipation', True, 'apply the damping and the friction of the model to its joints',
              run_time=True),
    Parameter('hold_couplings', False, 'enforce the mimic joints and gears of a model without '
                                       'closed loops too; with closed loops they are always '
                                       'enforced', run_time=True),
)
DYNAMICS_SERVER = DYNAMICS_PARAMETERS + (
    Parameter('payload_body', '', 'body, such as a flange, whose payload is estimated from '
              '`joint_states`; empty for none'),
    Parameter('payload_offsets', False, 'estimate constant errors of the efforts with the '
                                        'payload'),
    Parameter('external_effort_gain', 0.0, 'estimate from `joint_states` what touches a machine, '
              'with the time constant 1 / gain; 0 for no estimate', '1/s',
              least=0.0, most=10_000.0),
    Parameter('external_effort_levels', '', 'external efforts above which there is contact, as '
              '`learn_contact_levels` finds them, e.g. `shoulder:=4.2 elbow:=1.7` [N m or N]; '
              'empty for none'),
)
MUJOCO_SIMULATOR = tuple(replace(parameter, run_time=False) for parameter in MODEL_PARAMETERS) + (
    Parameter('world_frame', 'world', 'frame id of the ground, which several robots may share'),
    Parameter('frame_prefix', '', 'prefix of the frame ids of bodies, to distinguish several '
                                  'robots'),
    MAX_AGE_PARAMETER,
    Parameter('start', '', 'positions of joints at the start, e.g. `knee:=0.5 ankle:=-1.2` [rad '
              'or m]; others are at 0, or at their limit, and so that loops are closed'),
    Parameter('start_height', 0.0, 'height of the lowest point of a robot with a free base above '
                                   'the ground, at the start', 'm', least=0.0, most=1000.0),
    *SURROUNDINGS, INTEGRATION_RATE, PUBLISH_RATE, TF_RATE_PARAMETER, *TIME_PARAMETERS)
MODEL_SOURCES = ('model_file', 'robot_description')
