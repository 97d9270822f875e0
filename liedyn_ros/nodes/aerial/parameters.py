# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parameters of the aerial manipulator's nodes, in the order of the pages' tables."""

from math import pi

from liedyn_ros.aerial import AerialManipulator, Reference
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.common.resources import named_file
from liedyn_ros.control import Gains
from liedyn_ros.model import load_model
from liedyn_ros.nodes.simulator_node import (
    INTEGRATION_RATE, MAX_AGE_PARAMETER, PUBLISH_RATE, SIMULATOR_CHOICE, TIME_PARAMETERS)
from liedyn_ros.nodes.surroundings import SURROUNDINGS
from liedyn_ros.ros.messages.tf import TF_RATE_PARAMETER
from liedyn_ros.ros.parameters.parameter_set import Parameter, ParameterSet

MODEL_DEFAULT = 'aerial_manipulator.yaml'
ROTOR_SPEEDS = 'rotor_speeds'
BASE_WRENCH = 'base_wrench'
EFFORTS = 'efforts'
EFFORT_RATES = 'effort_rates'

_GAINS, _REFERENCE = Gains(), Reference()
_START = _REFERENCE.at(0.0).q.tolist()

MACHINE_PARAMETERS = (
    Parameter('model_file', MODEL_DEFAULT, 'path of the model of the machine, with '
              "its rotors (YAML); a bare name is one of the package's config folder"),
    Parameter('world_frame', 'world', 'frame id of the ground, which several machines may share'),
    Parameter('frame_prefix', '', 'prefix of the frame ids of bodies, to distinguish several '
                                  'machines; the launch file gives its namespace and a slash'),
    MAX_AGE_PARAMETER,
)

SIMULATOR_PARAMETERS = MACHINE_PARAMETERS + (
    Parameter('base_command', ROTOR_SPEEDS, 'how the base is commanded: the topic `rotor_speeds` '
              'of JointState (velocity), or `base_wrench` of WrenchStamped in the base frame',
              choices=(ROTOR_SPEEDS, BASE_WRENCH)),
    Parameter('start_position', _START[:3], 'position of the base at the start, x, y, z', 'm',
              size=3),
    Parameter('start_orientation', _START[3:7], 'orientation of the base at the start, '
              'quaternion x, y, z, w of norm 1', least=-1.0, most=1.0, size=4),
    Parameter('start_joints', _REFERENCE.joint_start.tolist(), 'joint positions at the start, '
              "in the model's order", 'rad'),
    SIMULATOR_CHOICE,
    *SURROUNDINGS,
    Parameter('wind', [0.0, 0.0, 0.0], 'force on the base, in the world', 'N', least=-1e4,
              most=1e4, size=3),
    Parameter('gusts', 0.0, 'standard deviation of the wind in each direction', 'N', least=0.0,
              most=1e4),
    INTEGRATION_RATE,
    Parameter('rotor_lag', 0.0, 'time constant with which the thrusts of the rotors, or the '
              'wrench, follow their commands', 's', least=0.0, most=10.0),
    Parameter('joint_lag', 0.0, 'time constant of the joint torques, likewise', 's', least=0.0,
              most=10.0),
    PUBLISH_RATE,
    TF_RATE_PARAMETER,
) + TIME_PARAMETERS

CONTROLLER_PARAMETERS = MACHINE_PARAMETERS + (
    Parameter('mode', EFFORTS, 'what the dynamics server computes: efforts, or also their rates, '
              'which compensate the lag of actuators', choices=(EFFORTS, EFFORT_RATES)),
    Parameter('rotor_lag', 0.0, 'time constant of the thrusts that effort_rates assumes', 's',
              least=0.0, most=10.0, run_time=True),
    Parameter('joint_lag', 0.0, 'time constant of the joint torques, likewise', 's', least=0.0,
              most=10.0, run_time=True),
    Parameter('reply_timeout', 0.2, 'time after which a request to the dynamics server is given '
              'up as lost, and the vehicle hovers by the model of this node', 's', least=0.001,
              most=10.0, run_time=True),
    Parameter('state_timeout', 0.5, 'time without a state after which the silence is reported, '
              'and the vehicle, which hovers by dead reckoning before, descends so; 0 for never: '
              'the last command holds', 's', least=0.0, most=3600.0, run_time=True),
    Parameter('descent', 0.5, 'speed of that descent', 'm/s', least=0.0, most=10.0, run_time=True),
    Parameter('stop_time', 2.0, 'longest time without a state, after which the rotors stop until '
              'the node is activated again; in gusts they stop before', 's', least=0.0,
              most=3600.0, run_time=True),
    Parameter('radius', _REFERENCE.radius, 'radius of the reference circle', 'm', least=0.0,
              most=100.0),
    Parameter('height', _REFERENCE.height, 'height of the circle above the ground', 'm',
              least=-100.0, most=1000.0),
    Parameter('period', _REFERENCE.period, 'period of the circle; the joints sweep once in it',
              's', least=1.0, most=1000.0),
    Parameter('yaw_amplitude', _REFERENCE.yaw_amplitude, 'amplitude of the yaw', 'rad',
              least=0.0, most=pi),
    Parameter('yaw_frequency', _REFERENCE.yaw_frequency, 'frequency of the yaw, a sinusoid', 'Hz',
              least=0.0, most=10.0),
    Parameter('joint_start', _REFERENCE.joint_start.tolist(), 'joint positions at the start, in '
              "the model's order", 'rad'),
    Parameter('joint_sweep', _REFERENCE.joint_sweep.tolist(), 'how far the joints sweep from '
              '`joint_start`', 'rad'),
    Parameter('rise_time', _REFERENCE.rise_time, 'time in which the motion rises from rest to '
              'full speed', 's', least=0.1, most=1000.0),
    Parameter('rotation_pole', _GAINS.rotation, 'how fast errors of attitude vanish: all three '
              'poles; four at 1.59 times this with effort_rates', 'rad/s', least=0.1,
              most=100.0, run_time=True),
    Parameter('position_pole', _GAINS.position, 'how fast errors of position vanish, likewise',
              'rad/s', least=0.1, most=100.0, run_time=True),
    Parameter('joint_pole', _GAINS.joints, 'how fast errors of joints vanish, likewise', 'rad/s',
              least=0.1, most=100.0, run_time=True),
    Parameter('integral_limit', _GAINS.integral_limit, 'bound of the acceleration that the '
              'integral of the error adds', 'rad/s^2, m/s^2', least=1e-3, most=100.0,
              run_time=True),
)


def aerial_manipulator_of(parameters: ParameterSet) -> AerialManipulator:
    """Return the machine; raises LiedynError that names the wrong parameter."""
    file = parameters['model_file']
    return AerialManipulator(load_model(named_file(file)))


def start_of(parameters: ParameterSet, machine: AerialManipulator) -> list[float]:
    """Return the configuration of the parameters; raises ShapeError or LimitError."""
    joints = parameters['start_joints']
    if len(joints) != len(machine.joints):
        raise ShapeError(f'start_joints: expected {len(machine.joints)} numbers, one for each of '
                         f'{list(machine.joints)}, got {len(joints)}')
    for name, start in zip(machine.joints, joints):
        limits = machine.model.joint(name).limits
        if not limits.lower[0] <= start <= limits.upper[0]:
            raise LimitError(f'start_joints: {name}: expected {limits.lower[0]:g} to '
                             f'{limits.upper[0]:g}, got {start:g}')
    return [*parameters['start_position'], *parameters['start_orientation'], *joints]
