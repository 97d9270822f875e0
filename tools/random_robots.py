# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""
Random robot files from the schemas of their formats, for comparison with other libraries.

Every element and attribute that a schema has and VALUES gives a value is written now and then.
The schema of MJCF is MuJoCo's own; those of URDF (urdfdom's, 1.0 to 1.2) and SDF (sdformat's, 1.2
to 1.12, all versions together) are below. What is marked is optional (?), or made one by one (*).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
import random
import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

URDF_SCHEMA = """
robot: @name @version joint* link* material? transmission? gazebo? sensor?
link: @name @type? inertial? visual? collision?
inertial: origin? mass inertia
origin: @xyz? @rpy? @quat_xyzw?
mass: @value
inertia: @ixx @ixy @ixz @iyy @iyz @izz
joint: @name @type origin? parent* child* axis? calibration? dynamics? limit* safety_controller?
    mimic*
parent: @link
child: @link
axis: @xyz
dynamics: @damping @friction?
limit: @lower @upper @effort @velocity @acceleration? @deceleration? @jerk?
mimic: @joint @multiplier? @offset?
"""
WITHOUT_EFFECT = """
visual: origin? geometry
collision: origin? geometry
geometry: box
box: @size
material: @name
transmission: @name
gazebo: @reference
sensor: @name
calibration: @rising
safety_controller: @k_velocity
"""
SDF_SCHEMA = """
world: @name actor atmosphere audio frame gravity gui include joint light magnetic_field model
    physics plugin population road scene spherical_coordinates state wind
model: @canonical_link* @name @namespace* @placement_frame* allow_auto_disable? enable_wind? frame*
    gripper include* joint* link* model* model_state plugin pose? self_collide? static*
link: @name audio_sink audio_source battery collision enable_wind? frame gravity? inertial?
    kinematic? light must_be_base_link? particle_emitter pose* projector self_collide? sensor
    velocity_decay? visual
inertial: @auto* auto_inertia_params density? fluid_added_mass frame inertia mass? pose?
inertia: ixx ixy? ixz? iyy iyz? izz
joint: @name @type axis* axis2* child* frame gearbox_ratio gearbox_reference_body parent* physics?
    pose? screw_thread_pitch* sensor thread_pitch*
axis: dynamics? initial_position* limit? mimic* use_parent_model_frame* xyz*
axis2: dynamics? initial_position* limit? mimic* use_parent_model_frame* xyz*
xyz: @expressed_in*
dynamics: damping? friction? spring_reference? spring_stiffness?
limit: cfm* dissipation? effort? erp* lower stiffness? upper velocity?
mimic: @axis @joint multiplier offset reference
physics: ode? provide_feedback? simbody?
ode: bounce? cfm? cfm_damping? erp? fudge_factor? implicit_spring_damper? limit* max_force?
    provide_feedback* suspension* velocity?
simbody: must_be_loop_joint?
frame: @attached_to* @name pose?
include: @merge model_state name namespace placement_frame plugin pose static uri
pose: @degrees @frame @relative_to @rotation_format
"""
# Values of words: so many normal numbers, so many positive ones (+), or one of several texts.
VALUES = {
    **dict.fromkeys('pos axis euler zaxis refpos wind magnetic xyz rpy'.split(), '3'),
    **dict.fromkeys('quat axisangle refquat quat_xyzw'.split(), '4'), 'xyaxes': '6', 'fromto': '6',
    **dict.fromkeys(
        'armature damping frictionloss stiffness mass density viscosity width margin gap impratio '
        'kp kv timestep tolerance friction acceleration deceleration jerk effort velocity '
        'spring_stiffness dissipation max_force erp cfm fudge_factor bounce '
        'boundmass boundinertia settotalmass value radius'.split(), '+1'),
    **dict.fromkeys('ref springref multiplier offset reference:mimic spring_reference '
                    'initial_position bias'.split(), '1'),
    **dict.fromkeys('limited actuatorfrclimited ctrllimited forcelimited actlimited'.split(),
                    'auto|auto|false'),
    **dict.fromkeys(
        'actuatorgravcomp alignfree align balanceinertia strippath discardvisual usethread active '
        'fitaabb self_collide allow_auto_disable enable_wind gravity kinematic must_be_base_link '
        'provide_feedback cfm_damping implicit_spring_damper must_be_loop_joint smoothnormal '
        'saveinertial shellinertia autolimits'.split(), 'true|false'),
    'gravity:option': '3',
    # Numbers beyond the first are those of powers.
    **{f'{key}:{tag}': '.31|.2|.45|.3 .1|0 .2 .1' for key, tags in (
        ('damping', 'joint fixed spatial motor'), ('stiffness', 'joint fixed spatial'))
       for tag in tags.split()},
    **{f'{key}:flag': 'enable|enable|enable|disable' for key in (
        'actuation clampctrl constraint contact damper equality eulerdamp island filterparent '
        'frictionloss gravity limit midphase nativeccd passive refsafe sensor spring warmstart '
        'multiccd energy fwdinv invdiscrete override').split()},
    **dict.fromkeys('group iterations noslip_iterations priority'.split(), '0|1|3'),
    'rising': '.1', 'k_velocity': '9.0', 'reference': 'base', 'name': 'n',
    **dict.fromkeys(('ixy', 'ixz', 'iyz'), '.01|-.02|0'),
    'ixx': '.31|.33|.36', 'iyy': '.31|.34|.37', 'izz': '.3|.35|.38', 'condim': '1|3|4|6',
    'lower': '-1.5|-.4|-1e16', 'upper': '.4|1.5|1e16', 'size': '+3', 'scale': '+3',
    'angle': 'radian|degree', 'eulerseq': 'xyz|zyx|XYZ|zxz|XyZ|YZX', 'gravcomp': '0|1|.5',
    'inertiafromgeom': 'true|auto|false', 'inertiagrouprange': '0 3|1 2',
    'fusestatic': 'true|false', 'springdamper': '0 0|.5 1', 'solref': '.02 1|.1 1',
    'range': '-1 1|-inf inf|-1 inf|-90 90|0 0',
    'diaginertia': '.3 .3 .4|.2 .25 .3', 'fullinertia': '.3 .35 .4 .01 .02 -.01',
    'integrator': 'Euler|RK4|implicit|implicitfast', 'gear': '1|-3|2.5', 'user': '1 2',
    'cone': 'pyramidal|elliptic', 'inertia': 'convex|exact|legacy|shell', 'torquescale': '0|1|2',
    'polycoef': '0 1|.1 -2|0 1 .2|0 0 0 1', 'relpose': '0 1 0 0 0 0 0|.1 .2 .3 1 2 3 4',
    'springlength': '.1|.2 .5', 'actuatorfrcrange': '-3 3|-1 2', 'ctrlrange': '-1 1',
    'forcerange': '-5 5', 'solver': 'CG|Newton', 'jacobian': 'dense|sparse', 'fluidshape':
    'none|ellipsoid', 'contype': '0|1', 'conaffinity': '0|1', 'coef': '1|-2', 'rgba': '1 0 0 1'}
ODD = '<oddity>.*?</oddity>'  # an element that nobody knows
_TURNS = 'quat', 'axisangle', 'euler', 'xyaxes', 'zaxis'
_ALONE = (_TURNS, (*_TURNS, 'fromto'), ('pos', 'fromto'), ('fullinertia', 'diaginertia'),
          ('fullinertia', *_TURNS), ('rpy', 'quat_xyzw'), ('springdamper', 'damping'),
          ('springdamper', 'stiffness'))
_RARE = {  # words that are rarely written, as most files of theirs say the same otherwise
    'gravcomp', 'density:option', 'viscosity', 'wind', 'springdamper', 'kinematic', 'gravity',
    'settotalmass', 'boundmass', 'range', 'inertiafromgeom', 'fusestatic', 'enable_wind'}


def words(schema: str) -> dict[str, tuple[str, ...]]:
    """Return the marked words of a schema above by element."""
    lines = schema.strip().replace('\n    ', ' ').splitlines()
    return {tag: tuple(text.split()) for tag, _, text in (line.partition(':') for line in lines)}


@cache
def mjcf_words() -> dict[str, tuple[str, ...]]:
    """Return the attributes of elements of MuJoCo's schema, as `parent/element`."""
    import mujoco

    found, stack, key = dict[str, tuple[str, ...]](), [''] * 20, ''
    for line in mujoco.mj_printSchema(False, False).splitlines():
        match = re.match(r'( *)(\S+) \((.)\)\s*(.*)', line)
        if match:
            depth, tag = len(match[1]) // 3, match[2].replace('(world)', '')
            stack[depth], key = tag, f'{stack[depth - 1]}/{tag}'
            found[key] = tuple(match[4].split())
        else:
            found[key] += tuple(line.split())
    return found


class Robots:
    """Random files of a seed; each call of a format makes the next."""

    def __init__(self, seed: int) -> None:
        """Start the numbers."""
        self._rng = random.Random(seed)
        self._count = 0

    def value(self, key: str, parent: str = '') -> str | None:
        """Return a random value of a word, None for one without."""
        kind, rng = VALUES.get(f'{key}:{parent}', VALUES.get(key)), self._rng
        if kind is None:
            return None
        if kind.lstrip('+').isdecimal():
            draw = (lambda: rng.uniform(0.05, 0.5)) if kind[0] == '+' else (
                lambda: rng.gauss(0.0, 0.6))
            return ' '.join(f'{draw():.4f}' for _ in range(int(kind.lstrip('+'))))
        return rng.choice(kind.split('|'))

    def fill(self, xml: Element, keys: Iterable[str], chance: float) -> Element:
        """Give an element some attributes that it does not have, of those that agree."""
        for key in keys:
            often = chance * (0.2 if {key, f'{key}:{xml.tag}'} & _RARE else
                              3.0 if key in ('pos', 'axis', *_TURNS) else 1.0)
            apart = any(key in each and set(each) & set(xml.attrib) for each in _ALONE)
            if key not in ('name', *xml.attrib) and not apart and self._rng.random() < often and (
                    value := self.value(key, xml.tag)):
                xml.set(key, value)
        return xml

    def grown(self, tag: str, schema: dict[str, tuple[str, ...]], leaves: bool, **given: str
              ) -> Element:
        """Return an element with what its schema has; leaves are texts of elements (SDF)."""
        xml = Element(tag, given)
        for word in schema.get(tag, ()):
            key, mark = word.strip('@?*'), word[-1]
            if mark == '*' or key in given or (mark == '?' and self._rng.random() < (
                    0.9 if key in _RARE else 0.5)):
                continue
            value = self.value(key, tag)
            if word[0] == '@' and value is not None and not (
                    key in ('rpy', 'quat_xyzw') and {'rpy', 'quat_xyzw'} & set(xml.attrib)):
                xml.set(key, value)
            elif word[0] != '@' and key in schema and key not in ('frame', 'pose', 'xyz'):
                xml.append(self.grown(key, schema, leaves))
            elif leaves and value is not None:
                SubElement(xml, key).text = value
        return xml

    def _name(self, kind: str) -> str:
        self._count += 1
        return f'{kind}{self._count}'

    def _types(self, *types: str) -> str:
        return self._rng.choice(types)

    def urdf(self) -> str:
        """Return the text of a URDF: a tree of links, and blocks of other programs."""
        rng, schema = self._rng, words(URDF_SCHEMA) | words(WITHOUT_EFFECT)
        version = self._types('1.0', '1.1', '1.2')
        robot = Element('robot', {'name': 'r', 'version': version})
        links = [self._name('l') for _ in range(rng.randrange(2, 8))]
        parts = [self.grown('link', schema, False, name=name) for name in links]
        turning: list[str] = []
        for i, child in enumerate(links[1:], 1):
            kind = self._types('revolute', 'revolute', 'prismatic', 'continuous', 'fixed')
            joint = self.grown('joint', schema, False, name=self._name('j'), type=kind)
            SubElement(joint, 'parent', link=links[rng.randrange(i)])
            SubElement(joint, 'child', link=child)
            if kind != 'fixed':
                joint.append(self.grown('limit', schema, False))
            if turning and kind != 'fixed' and rng.random() < 0.1:
                joint.append(self.grown('mimic', schema, False, joint=rng.choice(turning)))
            elif kind != 'fixed':
                turning.append(joint.attrib['name'])
            parts.append(joint)
        rng.shuffle(parts)
        robot.extend(parts)
        return self._odd(robot)

    def sdf(self) -> str:
        """Return the text of an SDF: a tree of links with poses in each other's frames."""
        rng, schema = self._rng, words(SDF_SCHEMA)
        version = self._types('1.4', '1.5', '1.6', '1.7', '1.8', '1.9', '1.10', '1.11', '1.12')
        late = version not in ('1.4', '1.5', '1.6')
        links = [self._name('l') for _ in range(rng.randrange(1, 6))]
        model = self.grown('model', schema, True, name='m')
        frames = [self._name('f')] if late and rng.random() < 0.5 else []
        for i, name in enumerate(links):
            link = self.grown('link', schema, True, name=name)
            self._place(link, version, links[:i] if late else [])
            model.append(link)
        for name in frames:
            self._place(SubElement(model, 'frame', name=name, attached_to=links[0]), version, [])
        for i, name in enumerate(links):
            kind = self._types('revolute', 'prismatic', *(
                ('continuous', 'screw', 'fixed', 'universal') if late else ()))
            joint = self.grown('joint', schema, True, name=self._name('j'), type=kind)
            self._place(joint, version, [*links, *frames] if late else [])
            SubElement(joint, 'parent').text = links[rng.randrange(i)] if i else 'world'
            SubElement(joint, 'child').text = name
            for tag in {'fixed': (), 'universal': ('axis', 'axis2')}.get(kind, ('axis',)):
                axis = SubElement(joint, tag)
                axis.extend(self.grown(tag, schema, True))
                xyz = SubElement(axis, 'xyz')
                xyz.text = self.value('axis') if kind != 'universal' else (
                    '0 1 0' if tag == 'axis2' else '1 0 0')
                if late and kind != 'universal' and rng.random() < 0.3:
                    xyz.set('expressed_in', rng.choice([*links, *frames, '__model__']))
            if kind == 'screw':
                SubElement(joint, 'screw_thread_pitch').text = self.value('radius')
            model.append(joint)
        root = Element('sdf', version=version)
        root.append(model)
        return self._odd(root)

    def _place(self, xml: Element, version: str, frames: list[str]) -> None:
        """Give an element a pose, in one of some frames."""
        if self._rng.random() < 0.7:
            pose = SubElement(xml, 'pose')
            pose.text = f'{self.value("pos")} {self.value("pos")}'
            if frames and self._rng.random() < 0.4:
                pose.set('relative_to', self._rng.choice(frames))
            if version in ('1.9', '1.10', '1.11', '1.12') and self._rng.random() < 0.3:
                pose.set('degrees', 'true')

    def _odd(self, root: Element) -> str:
        """Return the text of a document, in one of three with a word that nobody knows."""
        places = [each for each in root.iter() if each.tag in words(
            SDF_SCHEMA if root.tag == 'sdf' else URDF_SCHEMA) and len(each)]
        if self._rng.random() < 1.0 / 3.0:
            SubElement(self._rng.choice(places), 'oddity').text = '0.7'
        return ElementTree.tostring(root, encoding='unicode')

    def mjcf(self) -> str:
        """Return the text of an MJCF: bodies in frames, classes, motors, tendons, equalities."""
        rng, root = self._rng, Element('mujoco')
        self._named: dict[str, list[str]] = {
            kind: [] for kind in ('body', 'joint', 'site', 'tendon')}
        self._made(root, 'mujoco/compiler', 0.1)
        self._made(self._made(root, 'mujoco/option', 0.07), 'option/flag', 0.07)
        self._classes = ['', *(self._name('c') for _ in range(rng.randrange(3)))]
        top = SubElement(root, 'default')
        for name in self._classes:
            within = SubElement(top, 'default', {'class': name}) if name else top
            for tag in ('joint', 'geom', 'site', 'tendon', 'motor', 'equality'):
                if rng.random() < 0.3:
                    _drop(self._made(within, f'default/{tag}', 0.1),
                          'type', 'range', 'fromto', 'pos')
        SubElement(SubElement(root, 'asset'), 'mesh', {
            'name': 'solid', 'vertex': '0 0 0 .3 0 0 0 .4 0 0 0 .5', **(
                {'scale': '1 -1 2'} if rng.random() < 0.3 else {}), 'inertia': self._types(
                    'convex', 'exact', 'legacy', 'shell')})
        world = SubElement(root, 'worldbody')
        for _ in range(rng.choice([1, 1, 2])):
            self._add_body(world, 0)
        parts = [Element(tag) for tag in ('tendon', 'equality', 'actuator')]
        for fill, part in zip((self._tendons, self._equalities, self._actuators), parts):
            fill(part)
        root.extend(part for part in parts if len(part))
        return ElementTree.tostring(root, encoding='unicode')

    def _made(self, parent: Element, path: str, chance: float = 0.15, **given: str) -> Element:
        return self.fill(SubElement(parent, path.rpartition('/')[2], given), mjcf_words()[path],
                         chance)

    def _put(self, parent: Element, path: str, **given: str) -> Element:
        """Add an element of a body, now and then in a frame."""
        rng, classes = self._rng, self._classes[1:]
        if rng.random() < 0.25:
            parent = self.fill(SubElement(parent, 'frame'), ('pos', *_TURNS), 0.4)
            if classes and rng.random() < 0.3:
                parent.set('childclass', rng.choice(classes))
        if classes and rng.random() < 0.2 and 'class' in mjcf_words()[path]:
            given['class'] = rng.choice(classes)
        return self._made(parent, path, 0.15, **given)

    def _add_body(self, parent: Element, depth: int) -> None:
        rng, name = self._rng, self._name('b')
        body = self._put(parent, 'mujoco/body', name=name)
        self._named['body'].append(name)
        kinds = rng.choice([('free',), ('ball',), (), ('hinge',), ('hinge',), ('slide',), (
            'slide', 'hinge'), ('hinge', 'hinge', 'hinge')])
        for kind in kinds if depth == 0 or kinds != ('free',) else ():
            joint = self._put(body, 'body/joint', name=self._name('j'), type=kind)
            if kind in ('free', 'ball'):
                _drop(joint, 'ref', 'springref', 'range', 'springdamper', 'axis')
            else:
                self._named['joint'].append(joint.attrib['name'])
        if rng.random() < 0.3:
            inertial = self._put(body, 'body/inertial', mass='1.5', pos='.1 .2 .1')
            if 'fullinertia' not in inertial.attrib:
                inertial.set('diaginertia', '.2 .25 .3')
        for _ in range(rng.choice([1, 1, 2])):
            kind = self._types('sphere', 'capsule', 'box', 'cylinder', 'ellipsoid', 'mesh')
            geom = self._put(body, 'body/geom', type=kind, **(
                {'mesh': 'solid'} if kind == 'mesh' else {'size': '.1 .2 .3'}))
            # A mesh has shellinertia as an asset.
            _drop(geom, *{'sphere': ['fromto'], 'mesh': ['fromto', 'shellinertia']}.get(kind, []))
        site = self._put(body, 'body/site', name=self._name('s'))
        _drop(site, 'fromto')
        self._named['site'].append(site.attrib['name'])
        for _ in range(rng.choice([0, 1, 1, 2]) if depth < 3 else 0):
            self._add_body(body, depth + 1)

    def _tendons(self, tendons: Element) -> None:
        rng, joints, sites = self._rng, self._named['joint'], self._named['site']
        for _ in range(rng.choice([0, 0, 1, 2]) if joints else 0):
            name = self._name('t')
            if rng.random() < 0.5:
                tendon = self._made(tendons, 'tendon/fixed', name=name)
                SubElement(tendon, 'joint', joint=rng.choice(joints), coef=self._types('1', '-2'))
            elif len(sites) > 1:
                tendon = self._made(tendons, 'tendon/spatial', name=name)
                for site in rng.sample(sites, 2):
                    SubElement(tendon, 'site', site=site)
            else:
                continue
            self._named['tendon'].append(name)

    def _equalities(self, equalities: Element) -> None:
        rng, named = self._rng, self._named
        if rng.random() >= 0.4:
            return
        if len(named['body']) > 1:
            a, b = rng.sample(named['body'], 2)
            kind = self._types('connect', 'weld')
            self._made(equalities, f'equality/{kind}', 0.2, body1=a, body2=b, **(
                {'anchor': '.1 .2 .3'} if kind == 'connect' else {}))
            a, b = rng.sample(named['site'], 2)
            if rng.random() < 0.4:
                SubElement(equalities, kind, site1=a, site2=b)
        if len(named['joint']) > 1:
            a, b = rng.sample(named['joint'], 2)
            self._made(equalities, 'equality/joint', joint1=a, joint2=b)
        if named['tendon'] and rng.random() < 0.5:
            self._made(equalities, 'equality/tendon', tendon1=rng.choice(named['tendon']))

    def _actuators(self, actuators: Element) -> None:
        rng, joints, tendons = self._rng, self._named['joint'], self._named['tendon']
        for _ in range(rng.choice([0, 1, 2]) if joints else 0):
            kind = self._types('motor', 'motor', 'position', 'velocity', 'general', 'damper')
            target = {'tendon': rng.choice(tendons)} if tendons and rng.random() < 0.3 else {
                'joint': rng.choice(joints)}
            motor = self._made(actuators, f'actuator/{kind}', 0.1, **target)
            if kind in ('damper', 'position'):
                motor.attrib |= {'ctrlrange': '0 1'} if kind == 'damper' else {'kp': '2'}


def _drop(xml: Element, *keys: str) -> None:
    """Take attributes away."""
    for key in keys:
        xml.attrib.pop(key, None)
