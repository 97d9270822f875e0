# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Mass properties of the links of SDF."""

from pathlib import Path

import numpy as np

from liedyn_ros.common.checks import require_finite
from liedyn_ros.common.errors import InertiaError
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.io.sdf.frames import number_of, pose_of
from liedyn_ros.model.io.sdf.shapes import computed_inertia
from liedyn_ros.model.parts.inertia import SpatialInertia, unphysical

_MOMENTS = (('ixx', 1.0), ('ixy', 0.0), ('ixz', 0.0), ('iyy', 1.0), ('iyz', 0.0), ('izz', 1.0))


def inertia_of(link: Element, strict: bool, faults: dict[str, list[str]], folder: Path | None
               ) -> SpatialInertia:
    """
    Return the inertia of a link, and note it under what is to be known of it.

    What a file does not say is 1 kg and 1 kg m^2, as in Gazebo. folder is that of the file, for
    meshes whose masses are computed.
    """
    inertial, name = link.optional('inertial'), link.text('name')
    if inertial is None:
        faults.setdefault('without an inertial, so of 1 kg and 1 kg m^2 as in Gazebo',
                          []).append(name)
        return SpatialInertia(1.0, [0.0, 0.0, 0.0], np.eye(3))
    if inertial.value.get('auto', '').strip().lower() in ('true', '1'):
        return computed_inertia(link, inertial, folder)
    moments = inertial.optional('inertia')
    xx, xy, xz, yy, yz, zz = (default if moments is None else number_of(moments, tag, default)
                              for tag, default in _MOMENTS)
    mass, placement = number_of(inertial, 'mass', 1.0), pose_of(inertial)[1]
    turn = placement[:3, :3]
    inertia = turn @ np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))) @ turn.T
    inertia = 0.5 * (inertia + inertia.T)
    with inertial.context():
        require_finite('inertia', inertia)
        fault = unphysical(mass, inertia)
        if fault is not None:
            if strict or mass < 0.0:
                raise InertiaError(fault)
            faults.setdefault(f'{fault.partition(", got")[0]}; their mass properties, which no '
                              'rigid body has, are used as they are (strict refuses them)',
                              []).append(name)
        return SpatialInertia(mass, placement[:3, 3], inertia, physical=False)
