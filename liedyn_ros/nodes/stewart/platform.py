# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parameters common to the Stewart nodes: the platform, its home, its actuators."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rclpy.exceptions import InvalidTopicNameException
from rclpy.validate_topic_name import validate_topic_name
from std_msgs.msg import Header

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, NameSetError
from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.stewart.parameters import PLATFORM_MOTION
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.parameters.parameter_set import ParameterSet
from liedyn_ros.stewart import leg_lengths, load_geometry, SmoothTrajectory, StewartGeometry
from liedyn_ros.stewart.home import home_of
from liedyn_ros.stewart.input.actuators import actuators_of, LegActuators
from liedyn_ros.stewart.platform.state import SINGULARITY_WARNING
from liedyn_ros.stewart.simulation.trajectory import check_times, travel_share

LEG_STATES = 'leg_states'
LEG_FORCES = 'leg_forces'


@dataclass(frozen=True)
class Platform:
    """A platform as the parameters describe it; frames are frame ids."""

    geometry: StewartGeometry
    home: Array
    actuators: LegActuators
    base_frame: str
    platform_frame: str

    @classmethod
    def from_parameters(cls, parameters: ParameterSet, ignore_others: bool,
                        driven: bool = False) -> 'Platform':
        """
        Read and check the parameters; raises LiedynError.

        driven: whether the legs are the drives, and not what is read of them.
        """
        geometry = load_geometry(
            parameters['geometry_file'] or config_file('stewart_geometry.yaml'))
        geometry = geometry if driven else geometry.readings
        home, prefix = home_of(geometry, parameters), parameters['frame_prefix']
        return cls(replace(geometry, home=home), home,
                   actuators_of(parameters, geometry, ignore_others),
                   prefix + parameters['base_frame'], prefix + parameters['platform_frame'])

    def require_base_frame(self, name: str, header: Header) -> None:
        """Raise NameSetError unless a header names the base frame, or none, which means it."""
        if header.frame_id not in ('', self.base_frame):
            raise NameSetError(f'{name}.header.frame_id: expected {self.base_frame!r}, the base '
                               f'frame, or none, got {header.frame_id!r}')

    def lengths_of(self, names: Sequence[str], values: Sequence[float]) -> Array:
        """
        Return lengths (n,), m, in leg order, of a request; without names they are in that order.

        Raises LiedynError for other names or numbers, and for lengths beyond the limits.
        """
        legs = self.geometry.leg_names
        order = checks.order_of('leg_names', legs, names or legs)
        lengths = checks.as_array('lengths', values, (len(legs),))[order]
        self.geometry.require_within_limits(lengths, read=True)
        return lengths

    def lengths_of_actuators(self, names: Sequence[str], positions: Sequence[float]) -> Array:
        """Return lengths (n,), m, in leg order of actuator positions; as lengths_of."""
        lengths = self.actuators.lengths(names or self.actuators.names, positions)
        self.geometry.require_within_limits(lengths, read=True)
        return lengths

    def trajectory(self, node: ManagedNode, duration: float = 0.0) -> SmoothTrajectory:
        """
        Return the motion about home that a node's parameters describe, within the drives' travel.

        Default amplitudes that do not fit, or lead near a singularity, are scaled down, which the
        log says. duration: end of the motion, s, or 0 for none. Raises LimitError for other
        amplitudes that do not fit.
        """
        parameters = node.parameters
        motion = SmoothTrajectory(
            self.home, parameters['amplitudes'], parameters['frequencies'], parameters['phases'],
            parameters['rise_time'])
        times = check_times(motion, duration)
        default = motion.amplitudes.tolist() == PLATFORM_MOTION[0].default
        try:
            share = travel_share(self.geometry, motion, times, SINGULARITY_WARNING * default)
        except LimitError as error:
            raise LimitError(f'home_position: {error}', names=('home_position',)) from error
        if share == 1.0:
            return motion
        if default:
            node.get_logger().info(
                f'amplitudes: {share:g} of the default, as travel and singularities allow')
            return replace(motion, amplitudes=share * motion.amplitudes)
        for t, pose in zip(times, motion.pose(times)):
            try:
                self.geometry.require_within_limits(leg_lengths(self.geometry, pose))
            except LimitError as error:
                raise LimitError(
                    f'amplitudes: after {t:.3g} s {error}; {share:g} of these amplitudes fits',
                    names=error.names, expected=error.expected, got=error.got) from error
        return motion


def actuator_topic(name: str) -> str:
    """Return the topic on which one actuator reports alone; raises LiedynError for no name."""
    topic = f'{LEG_STATES}/{name}'
    try:
        validate_topic_name(topic)
    except InvalidTopicNameException as error:
        raise LiedynError(
            f'actuator {name!r}: expected a name that can be a topic, {error}') from error
    return topic
