# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model written as a file of the package's own format."""

from pathlib import Path

from transforms3d.euler import mat2euler
import yaml

from liedyn_ros.model import JOINT_TYPES, Model


def write_yaml(model: Model, path: Path) -> Path:
    """Write bodies and joints and return the path."""
    path.write_text(yaml.safe_dump({
        'format': 1, 'name': model.name, 'gravity': model.gravity.tolist(),
        'bodies': {body.name: _body(body.inertia) for body in model.body_list},
        'joints': {joint.name: _joint(joint) for joint in model.joint_list}}, sort_keys=False))
    return path


def _body(inertia):
    if inertia is None:
        return {'mass': 0.0}
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.inertia_about_com.tolist()
    return {'mass': float(inertia.mass), 'center_of_mass': inertia.center_of_mass.tolist(),
            'inertia': {'xx': xx, 'yy': yy, 'zz': zz, 'xy': xy, 'xz': xz, 'yz': yz}}


def _joint(joint):
    spec = JOINT_TYPES[joint.type_name]
    entry = {
        'type': joint.type_name, 'parent': joint.parent, 'child': joint.child,
        'placement': [{'xyz': joint.placement[:3, 3].tolist()},
                      {'rpy': [float(angle) for angle in mat2euler(joint.placement[:3, :3])]}],
        'limits': {key: getattr(joint.limits, key).tolist()
                   for key in ('lower', 'upper', 'velocity', 'effort')},
        'damping': joint.damping.tolist(), 'friction': joint.friction.tolist()}
    if spec.has_axis:
        entry['axis'] = joint.axis.tolist()
    if spec.has_second_axis:
        entry['second_axis'] = joint.second_axis.tolist()
    if joint.pitch:
        entry['pitch'] = float(joint.pitch)
    return entry
