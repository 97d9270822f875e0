# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Surroundings of a simulated robot: the ground, a box, a payload, and what touches."""

from collections.abc import Mapping

from geometry_msgs.msg import WrenchStamped
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.parameters.parameter_set import Parameter, ParameterSet

SURROUNDINGS = (
    Parameter('ground', 0.0, 'height of the plane that bodies of a robot with a free base touch, '
              'with MuJoCo alone', 'm', least=-1000.0, most=1000.0),
    Parameter('box', [0.0] * 6, 'centre and sizes, in the world, of a box that bodies touch, such '
              'as a table or a wall; sizes of 0 for none. With MuJoCo alone', 'm',
              least=-1000.0, most=1000.0, size=6),
    Parameter('payload_body', '', 'body that carries a mass which no model knows; empty for none'),
    Parameter('payload_mass', 0.0, 'mass that `payload_body` carries', 'kg', least=0.0, most=1e6),
    Parameter('payload_position', [0.0, 0.0, 0.0], 'position of that mass in the frame of the '
                                                   'body',
              'm', least=-1000.0, most=1000.0, size=3),
)


def box_of(parameters: ParameterSet) -> list[float]:
    """Return centre and sizes of the box that bodies touch, nothing where there is none."""
    box: list[float] = parameters['box']
    if any(box[3:]) and not min(box[3:]) > 0.0:
        raise LimitError(f'box: expected three sizes above 0 m, or none, got {box[3:]}',
                         names=('box',), expected='> 0', got=min(box[3:]))
    return box if any(box[3:]) else []


def loaded(model: Model, parameters: ParameterSet) -> Model:
    """Return a model with the payload of the parameters; raises ModelError for a wrong body."""
    if not parameters['payload_body']:
        return model
    builder = ModelBuilder.of(model)
    builder.add_payload('payload', parameters['payload_body'], SpatialInertia(
        parameters['payload_mass'], parameters['payload_position'], np.zeros((3, 3))))
    return builder.build()


class Touches:
    """The publisher of wrenches of what touches, each on its body, in its frame."""

    def __init__(self, node: ManagedNode, prefix: str) -> None:
        """Open the publisher; prefix is put before the frame ids of bodies."""
        self._publisher, self._prefix = node.open_publisher(WrenchStamped, '~/touches'), prefix

    @property
    def heard(self) -> bool:
        """Return whether anyone subscribes."""
        return self._publisher.get_subscription_count() > 0

    def publish(self, stamp_ns: int, touches: Mapping[str, Array]) -> None:
        """Publish a wrench (6,) of each body."""
        for body, wrench in touches.items():
            message = WrenchStamped()
            conversions.to_wrench(wrench, message.wrench)
            message.header.stamp = conversions.stamp_of(stamp_ns)
            message.header.frame_id = self._prefix + body
            self._publisher.publish(message)
