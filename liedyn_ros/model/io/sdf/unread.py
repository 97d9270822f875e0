# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What an SDF model has beyond what is read, as far as it would change the dynamics."""

from collections.abc import Iterator

from liedyn_ros.common.checks import listed
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.io.sdf.frames import number_of, text_of


def unread(model: Element) -> Iterator[str]:
    """Name what is not read, with its links and joints."""
    off, added, slowed = [], [], []
    for link in model.each('link'):
        name = link.text('name')
        if text_of(link, 'gravity', 'true').lower() in ('false', '0'):
            off.append(name)
        if link.value.find('inertial/fluid_added_mass') is not None:
            added.append(name)
        decay = link.optional('velocity_decay')
        if decay is not None and any(number_of(decay, tag, 0.0) for tag in ('linear', 'angular')):
            slowed.append(name)
    for names, what in ((off, 'gravity turned off, not read: it acts on them'),
                        (added, 'fluid_added_mass not read: add it to the inertial'),
                        (slowed, 'velocity_decay not read: write damping of the joints')):
        if names:
            yield f'links {listed(names)}: {what}'
    for gripper in model.each('gripper'):
        yield f'gripper {gripper.value.get("name")}: not read'
