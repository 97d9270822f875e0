# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Warnings of an SDF model's unread parts, as far as they would change the dynamics."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element as XML

from liedyn_ros.common.checks import listed
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.io.sdf.frames import number_of, text_of
from liedyn_ros.model.io.vocabulary import Vocabulary

# The elements and attributes of SDF 1.2 to 1.12; those of shapes and sensors are left alone.
WORDS = Vocabulary(read="""
world: @name gravity model include physics
model: @name @canonical_link @placement_frame static pose frame link joint model include gripper
    plugin
link: @name pose inertial gravity velocity_decay
inertial: @auto pose mass density inertia fluid_added_mass auto_inertia_params
inertia: ixx ixy ixz iyy iyz izz
joint: @name @type pose parent child axis axis2 thread_pitch screw_thread_pitch gearbox_ratio
    gearbox_reference_body physics drake:rotor_inertia drake:gear_ratio
axis: xyz dynamics limit mimic use_parent_model_frame
axis2: xyz dynamics limit mimic use_parent_model_frame
xyz: @expressed_in
dynamics: damping friction spring_reference spring_stiffness
limit: lower upper effort velocity
mimic: @joint @axis multiplier offset reference
physics: ode simbody
ode:
frame: @name @attached_to pose
pose: @relative_to @frame @rotation_format @degrees
include: @merge uri name pose static plugin placement_frame
""", quiet="""
world: audio gui scene light magnetic_field atmosphere spherical_coordinates road actor
    plugin frame
model: self_collide allow_auto_disable @namespace
link: collision visual sensor projector audio_sink audio_source battery light particle_emitter
    self_collide must_be_base_link
joint: sensor
axis: initial_position
axis2: initial_position
limit: stiffness dissipation cfm erp
physics: provide_feedback
ode: cfm_damping provide_feedback implicit_spring_damper fudge_factor cfm erp bounce limit
    suspension
simbody: must_be_loop_joint
include: @namespace namespace
""")


def unread(model: Element) -> Iterator[str]:
    """Yield a warning for each unread part of a model, with its links and joints."""
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
    yield from WORDS.unread(model.value)


def unread_of_world(world: Element) -> Iterator[str]:
    """Yield a warning for each part that a world has beside its models."""
    shell = XML('world', world.value.attrib)
    shell.extend(each for each in world.value if each.tag not in ('model', 'include', 'physics'))
    yield from WORDS.unread(shell)
