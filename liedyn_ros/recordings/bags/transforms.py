# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where the bodies of a robot are, as the messages of /tf by which viewers move its URDF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import math
from pathlib import Path
from typing import Any, NamedTuple

from rosbags.typesys import get_typestore, Stores

from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.xacro_reader import expand
from liedyn_ros.common.xml_reader import text_of
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import se3
from liedyn_ros.lie.kernels.motion import position_quaternion
from liedyn_ros.model import JOINT_TYPES, Model, to_urdf

TRANSFORM_TOPIC, TRANSFORM_TYPE = '/tf', 'tf2_msgs/msg/TFMessage'
BAG_DESCRIPTION, TEXT = '/robot_description', 'std_msgs/msg/String'
BAG_TF_RATE = 50.0  # Hz, as the nodes send transforms by default
STORE = get_typestore(Stores.LATEST)


class Placement(NamedTuple):
    """Where a frame is in its parent: numbers are x, y, z (m) and the quaternion x, y, z, w."""

    parent: str
    child: str
    numbers: Sequence[float]


class RobotFrames:
    """
    The bodies of a model in their parent bodies, as robot_state_publisher sends them.

    Joints whose positions are not known are left out: a viewer has them where the URDF has them
    at zero.
    """

    def __init__(self, model: Model) -> None:
        """Begin with no joint known but the fixed ones."""
        self._dynamics, self._q, self._model = Dynamics(model), model.neutral(), model
        self._at = {joint.name: joint.qi for joint in model.joint_list
                    if JOINT_TYPES[joint.type_name].nv == 1}
        self._known = {joint.name for joint in model.joint_list
                       if JOINT_TYPES[joint.type_name].nv == 0}

    def at(self, positions: Mapping[str, float]) -> list[Placement]:
        """Return the placements at positions, rad or m; joints that they lack stay."""
        given = {name: value for name, value in positions.items()
                 if name in self._at and math.isfinite(value)}
        for name, value in given.items():
            self._q[self._at[name]] = value
        self._known.update(given)
        self._follow(given)
        joints = [joint for joint in self._model.joint_list
                  if joint.parent is not None and joint.name in self._known]
        if not joints:
            return []
        poses = self._dynamics.kinematics(self._q).poses
        above, below = (poses[[self._model.body_index(str(name)) for name in names]]
                        for names in zip(*((each.parent, each.child) for each in joints)))
        return [Placement(str(joint.parent), joint.child, position_quaternion(pose))
                for joint, pose in zip(joints, se3.compose(se3.inverse(above), below))]

    def _follow(self, given: Mapping[str, float]) -> None:
        """Set the joints that mimic others, where no message has them."""
        waiting = {each.joint: each for each in self._model.couplings
                   if each.joint in self._at and each.joint not in given}
        for _ in self._model.couplings:  # a leader may follow another
            for each in [each for each in waiting.values() if all(
                    name in self._known and name not in waiting for name, _ in each.terms)]:
                self._q[self._at[each.joint]] = each.offset + sum(
                    factor * self._q[self._at[name]] for name, factor in each.terms)
                self._known.add(each.joint)
                del waiting[each.joint]


def tf_message(stamp_ns: int, placements: Iterable[Placement]) -> bytes:
    """Return the bytes of a TRANSFORM_TYPE message, with one stamp, ns, for all its transforms."""
    sec, nanosec = divmod(stamp_ns, 10**9)
    stamp = _made('builtin_interfaces/msg/Time', sec=sec, nanosec=nanosec)
    transforms = []
    for parent, child, (x, y, z, *quaternion) in placements:
        transforms.append(_made(
            'geometry_msgs/msg/TransformStamped', child_frame_id=child,
            header=_made('std_msgs/msg/Header', stamp=stamp, frame_id=parent),
            transform=_made(
                'geometry_msgs/msg/Transform',
                translation=_made('geometry_msgs/msg/Vector3', x=x, y=y, z=z),
                rotation=_made('geometry_msgs/msg/Quaternion', **dict(zip('xyzw', quaternion))))))
    return bytes(STORE.serialize_cdr(_made(TRANSFORM_TYPE, transforms=transforms), TRANSFORM_TYPE))


def description_message(urdf: str) -> bytes:
    """Return the bytes of a message of TEXT with a URDF."""
    return bytes(STORE.serialize_cdr(_made(TEXT, data=urdf), TEXT))


def urdf_of(path: Path, model: Model) -> str | None:
    """Return the URDF of a file and its model; None where URDF cannot describe the model."""
    if path.suffix == '.urdf':
        return text_of(path)
    if path.suffix == '.xacro':
        return expand(path, {})
    try:
        return to_urdf(model)
    except DescriptionError:
        return None


def _made(kind: str, **fields: Any) -> Any:
    return STORE.types[kind](**fields)
