# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parameters of the Stewart nodes, in the order of the pages' tables."""

from liedyn_ros.control import Gains
from liedyn_ros.nodes.simulator_node import (
    INTEGRATION_RATE, MAX_AGE_PARAMETER, SIMULATOR_CHOICE, TIME_PARAMETERS)
from liedyn_ros.ros.messages.tf import TF_RATE_PARAMETER
from liedyn_ros.ros.parameters.parameter_set import Parameter
from liedyn_ros.ros.streams.diagnostics import MAX_MISSED
from liedyn_ros.stewart.home import NO_TURN, NOT_GIVEN

JOINT_STATE_INPUT = 'joint_state'
JOINT_STATE_TOPICS = 'joint_state_topics'
FLOAT64_TOPICS = 'float64_topics'
FLOAT64_ARRAY = 'float64_array'
INPUTS = (JOINT_STATE_INPUT, JOINT_STATE_TOPICS, FLOAT64_TOPICS, FLOAT64_ARRAY)
UNSTAMPED = (FLOAT64_TOPICS, FLOAT64_ARRAY)  # with the time at which they were sent


SIMULATOR_NAME = 'stewart_simulator'
DYNAMICS_SIMULATOR_NAME = 'stewart_dynamics_simulator'
SIMULATORS = {SIMULATOR_NAME, DYNAMICS_SIMULATOR_NAME}

_GAINS = Gains()

PLATFORM_PARAMETERS = (
    Parameter('geometry_file', '', "path of the platform's geometry (YAML); empty for the "
              "package's config/stewart_geometry.yaml"),
    Parameter('base_frame', 'stewart_base', 'frame id of the base'),
    Parameter('platform_frame', 'stewart_platform', 'frame id of the platform'),
    Parameter('frame_prefix', '', 'prefix of both frame ids, to distinguish several platforms; '
                                  'the launch file gives its namespace and a slash'),
    Parameter('home_position', NOT_GIVEN, 'position of the platform in the base at home, '
              'x, y, z; it must lie on the assembly mode of the machine. A single 0 stands for '
              '`home` of the geometry file', 'm', size=3),
    Parameter('home_orientation', NO_TURN, 'orientation of the platform in the base '
              'at home, quaternion x, y, z, w of norm 1; only with `home_position`', least=-1.0,
              most=1.0, size=4),
    Parameter('actuators', JOINT_STATE_INPUT, 'how the legs are reported: one JointState on '
              '`leg_states`, or one Float64MultiArray in the order of the legs; or one topic an '
              'actuator, `leg_states/<actuator name>`, of JointState or Float64. `leg_forces` is '
              'one JointState in any case',
              choices=INPUTS),
    Parameter('actuator_names', [''], "the actuator of each leg in the geometry's order, as "
              "JointState names it; one empty name stands for the legs' own names"),
    Parameter('actuator_scale', [1.0] * 6, 'leg length (of servos: rad) per unit of '
              'actuator position, not zero; six ones stand for one of each of more legs',
              'm per unit', size=6, or_more=True),
    Parameter('actuator_offset', [0.0] * 6, 'leg length at actuator position zero; six zeros '
                                            'stand for one of each of more legs', 'm',
              size=6, or_more=True),
    Parameter('actuator_beside', [0.0] * 6, 'distance of an actuator or a sensor from its leg, to '
              'which it is parallel: hypot(this, offset + scale * position) is the length', 'm',
              least=0.0, most=10.0, size=6, or_more=True),
)

POSE_PARAMETERS = PLATFORM_PARAMETERS + (
    Parameter('ignore_other_joints', False, 'pass over unknown names in a JointState, for a topic '
              'shared with other joints; otherwise they are refused'),
    Parameter('use_leg_rates', True, 'take the twist from the measured velocities where a '
              'JointState has them; otherwise it is estimated from the lengths, at their stamp'),
    Parameter('matching_tolerance', 0.002, 'largest difference of stamps of six single readings '
              'that make a set. It must be less than half the period of an actuator; where '
              'JointStates come faster, half their period is used', 's', least=0.0, most=10.0),
    Parameter('input_timeout', 0.5, 'time without an accepted set after which a fault is '
              'reported; 0 for never', 's', least=0.0, most=3600.0, run_time=True),
    Parameter('max_age', 1.0, 'age beyond which a set is refused as stale; 0 for any age', 's',
              least=0.0, most=3600.0, run_time=True),
    Parameter('max_lead', 0.05, 'time by which a stamp may be ahead of the clock; beyond it a '
                                'set is refused, as all later ones would be late. With max_age 0 '
                                'any stamp is accepted', 's',
              least=0.0, most=3600.0, run_time=True),
    Parameter('damping', 1e-6, 'first damping of Levenberg-Marquardt, relative to the largest '
              'diagonal entry of the normal matrix', least=1e-15, most=0.999),
    Parameter('max_iterations', 50, 'iterations after which a solve is given up',
              least=1, most=10000),
    Parameter('marker_rate', 10.0, 'rate of `markers`; 0 for none', 'Hz', least=0.0, most=100.0,
              run_time=True),
    TF_RATE_PARAMETER,
    Parameter('joint_state_rate', 0.0, 'rate of `joint_states`; where it is not 0, '
              '`robot_description` is published too', 'Hz', least=0.0, most=1000.0),
    Parameter('leg_noise', 0.0, 'standard deviation of the noise on each leg length, for '
              'covariances and warnings; 0 to estimate it (`/diagnostics`)', 'm or rad', least=0.0,
              most=0.1),
    Parameter('leg_noises', [0.0], 'noise of each leg, in the order of the geometry; a single 0 '
              'stands for `leg_noise` of all', 'm or rad', least=0.0, most=0.1),
    Parameter('leg_rate_noise', 0.0, 'standard deviation of the noise on each measured leg rate; '
              '0 for its difference from the rate by lengths', 'm/s', least=0.0, most=10.0),
    Parameter('covariance_rate', 100.0, 'rate of `odometry`, `pose_with_covariance` and '
              '`twist_with_covariance` at most; 0 for every sample', 'Hz', least=0.0, most=5000.0),
    Parameter('leg_acceleration', 0.0, 'greatest acceleration of a leg; a reading beyond any such '
              'motion is an outlier; 0 for 25, or twice the measured one if greater', 'm/s^2',
              least=0.0, most=1000.0),
    Parameter('replace_outliers', True, "solve with an outlier's predicted length in its place, "
              'where the noise is known'),
    Parameter('frozen_time', 0.05, 'time for which a reading repeats exactly, while other legs '
              'move, that makes it a fault; 0 for never', 's', least=0.0, most=60.0),
    Parameter('leg_resolution', 0.0, 'smallest step of a leg reading, which repeats where the leg '
              'is slow; 0 for the smallest that each has made so far', 'm', least=0.0, most=0.1),
    Parameter('singularity_warning', 0.05, 'smallest singular value below which a pose is near a '
              'singularity', least=1e-6, most=1.0),
    Parameter('singularity_warning_time', 0.5, 'warn this long before that singular value is '
              'reached at the present rate', 's', least=0.0, most=60.0),
    Parameter('length_bound', 0.0, 'greatest error of a leg length, for the radius of error in '
              '`status`', 'm (rad of a crank)', least=0.0, most=0.1),
    Parameter('joint_bound', 0.0, "greatest error of a joint's centre, on base and platform, and "
              "of a rod's length, for the same", 'm', least=0.0, most=0.1),
    Parameter('hold_hypotheses', False, 'follow both poses through a singularity and publish the '
              'one that the motion, or the redundant sensor, supports'),
    Parameter('orientation_noise', 0.0, 'standard deviation of an orientation of the platform on '
              '`orientation`; 0 for no such sensor', 'rad', least=0.0, most=3.0),
    Parameter('orientation_mounting', [0.0, 0.0, 0.0, 1.0], "the sensor's orientation in the "
              'platform frame, quaternion x, y, z, w of norm 1. Its readings are in the base '
              'frame', least=-1.0, most=1.0, size=4),
    Parameter('extra_length_noise', 0.0, 'standard deviation of a seventh length on '
              '`extra_length`; 0 for no such sensor', 'm', least=0.0, most=0.1),
    Parameter('extra_length_base', [0.0, 0.0, 0.0], 'end of the seventh length on the base, base '
                                                    'frame', 'm',
              size=3),
    Parameter('extra_length_platform', [0.0, 0.0, 0.0], 'end of the seventh length on the '
                                                        'platform, platform frame',
              'm', size=3),
    Parameter('sensor_tolerance', 0.01, 'largest difference of the stamps of a redundant reading '
              'and of the leg lengths it is compared with', 's', least=0.0, most=10.0),
    Parameter('sensor_time', 1.0, 'time over which that difference is averaged', 's', least=1e-3,
              most=1000.0),
    Parameter('diagnostics_rate', 1.0, 'rate of `/diagnostics`; 0 for none', 'Hz', least=0.0,
              most=100.0, run_time=True),
    Parameter('age_warning', 0.05, 'age of a published pose above which `/diagnostics` warns '
              'that the node or the machine is too slow', 's', least=0.0, most=3600.0,
              run_time=True),
    Parameter('missed_warning', MAX_MISSED, 'share of the samples, passed over or lost in a '
              'report of `/diagnostics`, above which it warns; 1 for never', least=0.0, most=1.0,
              run_time=True),
    Parameter('queue_depth', 10, 'messages the input keeps while the node is busy; all that wait '
              'are tracked at once, and the newest is published', least=1, most=10000),
)

PLATFORM_MOTION = (
    Parameter('amplitudes', [0.2, 0.2, 0.3, 0.06, 0.06, 0.06], 'amplitudes of the motion about '
              'home: rotation about x, y, z, then translation; the default is scaled down to the '
              'travel of the legs, away from singularities',
              'rad, m', least=-3.0, most=3.0, size=6),
    Parameter('frequencies', [0.23, 0.31, 0.17, 0.29, 0.19, 0.37], 'frequencies of the same six '
                                                                   'coordinates',
              'Hz', least=0.0, most=100.0, size=6),
    Parameter('phases', [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 'phases of the same six coordinates',
              'rad', least=-10.0, most=10.0, size=6),
    Parameter('rise_time', 1.0, 'time in which the motion grows from rest to its amplitudes', 's',
              least=1e-3, most=1000.0),
)

PLATFORM_SIMULATOR = PLATFORM_PARAMETERS + (
    Parameter('rate', 1000.0, 'samples a second', 'Hz', least=0.1, most=5000.0),
    Parameter('duration', 0.0, 'time after which the simulator stops publishing; 0 for never',
              's', least=0.0, most=1e6),
    Parameter('wait_for_nodes', [''], 'start the motion only when nodes of these names are '
              'connected to the topics, so that none misses its beginning; one empty name for '
              'none'),
    *PLATFORM_MOTION,
    Parameter('length_noise', 0.0, 'standard deviation of the white noise on each leg length',
              'm', least=0.0, most=0.1),
    Parameter('publish_leg_rates', True, 'report the leg velocities too (JointState only)'),
    Parameter('dropout_probability', 0.0, 'share of samples that are not published', least=0.0,
              most=1.0),
    Parameter('delay', 0.0, 'time between a sample and its publication', 's', least=0.0,
              most=10.0),
    Parameter('seed', 0, 'seed of the noise and the dropouts', least=0, most=2**31 - 1),
)

DYNAMICS_SIMULATOR = PLATFORM_PARAMETERS + (
    SIMULATOR_CHOICE,
    Parameter('leg_friction', 0.0, 'dry friction of each drive, with MuJoCo alone', 'N, N m',
              least=0.0, most=1e6),
    Parameter('length_resolution', 0.0, 'resolution of the sensors of the legs; 0 for exact ones',
              'm, rad', least=0.0, most=1.0),
    Parameter('rate', 250.0, 'samples a second', 'Hz', least=1.0, most=5000.0),
    INTEGRATION_RATE,
    Parameter('leg_lag', 0.0, 'time constant with which the forces of the legs follow their '
              'commands', 's', least=0.0, most=10.0),
    Parameter('publish_leg_rates', True, 'report the leg velocities too (JointState only)'),
    MAX_AGE_PARAMETER,
) + TIME_PARAMETERS

PLATFORM_CONTROLLER = PLATFORM_PARAMETERS + PLATFORM_MOTION + (
    Parameter('leg_lag', 0.0, 'time constant of the legs that commands make up for', 's',
              least=0.0, most=10.0, run_time=True),
    MAX_AGE_PARAMETER,
    Parameter('state_timeout', 0.5, 'time without a state after which the silence is reported; 0 '
              'for never', 's', least=0.0, most=3600.0, run_time=True),
    Parameter('rotation_pole', _GAINS.rotation, 'how fast errors of attitude vanish: four poles '
              'at 1.59 times this', 'rad/s', least=0.1, most=100.0, run_time=True),
    Parameter('position_pole', _GAINS.position, 'how fast errors of position vanish, likewise',
              'rad/s', least=0.1, most=100.0, run_time=True),
    Parameter('integral_limit', _GAINS.integral_limit, 'bound of the acceleration that the '
              'integral of the error adds', 'rad/s^2, m/s^2', least=1e-3, most=100.0,
              run_time=True),
)
