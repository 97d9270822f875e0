# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the dimensioned drawings of the gallery's machines show: see tools.pictures.machines."""

from dataclasses import dataclass, field
from typing import NamedTuple

Point = tuple[str | None, tuple[float, float, float], str]  # body or ground, place in it (m), what


class Part(NamedTuple):
    """A part of a drawing: its bodies, the pins that its lines join, and how it is drawn."""

    bodies: tuple[str, ...]
    lines: tuple[str, ...]
    style: str = 'bar'


@dataclass(frozen=True)
class Drawing:
    """
    A drawing: views by their axes, sentences above it, pins by letter, parts by name.

    ground, motors and dimensions name pins. slides are directions of pins that slide or roll. A
    second view shows only the pins beside, where given. pose are joints as drawn.
    """

    views: tuple[str, ...]
    title: str
    text: str
    pins: dict[str, Point]
    parts: dict[str, Part]
    ground: str = ''
    motors: str = ''
    dimensions: tuple[str, ...] = ()
    slides: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    beside: str = ''
    pose: dict[str, float] = field(default_factory=dict)


def bar(body: str, *lines: str, style: str = 'bar') -> Part:
    """Return the part of one body."""
    return Part((body,), lines, style)


def rod(*lines: str) -> Part:
    """Return a part without a body."""
    return Part((), lines, 'rod')


DELTA = Drawing(
    ('xy', 'xz'), 'Delta robot',
    'Three equal arms at 120 degrees, seen from above and from the side. Their motors A turn '
    'about level axes, tangents of the circle through A, so that the tips B move up and down. '
    'Two equal rods of 800 mm with a ball at each end lead from each arm to the platform C. '
    'Rods have no mass. The right view shows arm 1 alone.',
    {'A1': (None, (0.2, 0.0, 0.0), 'ground, arm 1: motor'),
     'A2': (None, (-0.1, 0.17321, 0.0), 'ground, arm 2: motor'),
     'A3': (None, (-0.1, -0.17321, 0.0), 'ground, arm 3: motor'),
     **{f'B{k}{side}': (f'arm_{k}', (0.3, y, 0.0), f'arm {k}, rod {k}{side}: ball')
        for k in (1, 2, 3) for side, y in (('l', 0.05), ('r', -0.05))},
     **{f'C{k}{side}': ('platform', at, f'platform, rod {k}{side}: ball')
        for k, side, at in (
            (1, 'l', (0.05, 0.05, 0.0)), (1, 'r', (0.05, -0.05, 0.0)),
            (2, 'l', (-0.0683013, 0.0183013, 0.0)), (2, 'r', (0.0183013, 0.0683013, 0.0)),
            (3, 'l', (0.0183013, -0.0683013, 0.0)), (3, 'r', (-0.0683013, -0.0183013, 0.0)))}},
    {**{f'arm {k}': bar(f'arm_{k}', f'A{k} B{k}l B{k}r A{k}') for k in (1, 2, 3)},
     'platform': bar('platform', 'C1l C2r C2l C3r C3l C1r C1l'),
     'rods': rod(*(f'B{k}{side} C{k}{side}' for k in (1, 2, 3) for side in 'lr'))},
    'A1 A2 A3', 'A1 A2 A3', ('B1l C1l', 'B1l B1r'),
    beside='A1 B1l B1r C1l C1r')

EXCAVATOR = Drawing(
    ('xz',), 'Excavator',
    'The house turns on the ground about the vertical z, by a motor. Boom, stick and bucket '
    'move in its plane, by three hydraulic cylinders: B C, E F and I J. Each is a barrel, which '
    'turns in its first pin, and a rod that slides in it, pinned at its end. J is one pin of '
    'three parts, so it takes two closures.',
    {'S': (None, (0.0, 0.0, 0.0), 'ground, house: slewing about z, motor'),
     'A': ('house', (0.3, 0.0, 1.2), 'house, boom: pin'),
     'B': ('house', (0.8, 0.0, 0.8), 'house, boom barrel: pin'),
     'C': ('boom', (2.0, 0.0, -0.1), 'boom, boom rod: pin'),
     'D': ('boom', (4.0, 0.0, 0.0), 'boom, stick: pin'),
     'E': ('boom', (1.8, 0.0, 0.4), 'boom, stick barrel: pin'),
     'F': ('stick', (-0.6, 0.0, 0.0), 'stick, stick rod: pin'),
     'G': ('stick', (2.0, 0.0, 0.0), 'stick, bucket: pin'),
     'H': ('stick', (1.7, 0.0, 0.0), 'stick, rocker: pin'),
     'I': ('stick', (0.3, 0.0, 0.35), 'stick, bucket barrel: pin'),
     'J': ('rocker', (0.427, 0.0, 0.0), 'rocker, link, bucket rod: pin'),
     'K': ('bucket', (0.0, 0.0, 0.3), 'bucket, link: pin')},
    {'house': bar('house', 'S A', 'S B'), 'boom': bar('boom', 'A E D C A'),
     'boom barrel': bar('boom_barrel', 'B C', style='barrel'),
     'boom rod': bar('boom_rod', 'B C', style='rod'),
     'stick': bar('stick', 'F D I H G', 'D H'),
     'stick barrel': bar('stick_barrel', 'E F', style='barrel'),
     'stick rod': bar('stick_rod', 'E F', style='rod'), 'bucket': bar('bucket', 'G K'),
     'rocker': bar('rocker', 'H J'), 'link': bar('link', 'J K'),
     'bucket barrel': bar('bucket_barrel', 'I J', style='barrel'),
     'bucket rod': bar('bucket_rod', 'I J', style='rod')},
    'S', 'S', ('A D', 'B C', 'E F', 'I J', 'D G'))

CASSIE_LEG = Drawing(
    ('xz',), "Leg after Cassie's",
    'Everything turns about y. Motors: A (hip), B (knee) and G (foot). The shin turns in the '
    'knee at C by a leaf spring of 1500 N m/rad, and the heel in the tarsus at F by one of 1250 '
    'N m/rad. Both dampers have 0.1 N m s/rad. Both springs are unbent as drawn. The rods H I '
    'and K L have no mass.',
    {'A': (None, (0.0, 0.0, 1.1), 'ground, thigh: motor'),
     'B': ('thigh', (0.45, 0.0, 0.0), 'thigh, knee: motor'),
     'C': ('knee', (0.06, 0.0, 0.0), 'knee, shin: spring'),
     'D': ('shin', (0.37, 0.0, 0.0), 'shin, tarsus: pin'),
     'F': ('tarsus', (-0.07, 0.0, 0.0), 'tarsus, heel: spring'),
     'G': ('tarsus', (0.05, 0.0, 0.0), 'tarsus, foot crank: motor'),
     'H': ('thigh', (0.33, 0.0, 0.0), 'thigh, heel rod: pin'),
     'I': ('heel', (0.05, 0.0, 0.0), 'heel, heel rod: pin'),
     'J': ('tarsus', (0.41, 0.0, 0.0), 'tarsus, foot: pin'),
     'K': ('foot_crank', (0.055, 0.0, 0.0), 'foot crank, plantar rod: pin'),
     'L': ('foot', (0.04763, 0.0, 0.0275), 'foot, plantar rod: pin')},
    {'thigh': bar('thigh', 'A H B'), 'knee': bar('knee', 'B C'), 'shin': bar('shin', 'C D'),
     'tarsus': bar('tarsus', 'F D G J'), 'heel': bar('heel', 'F I'),
     'foot crank': bar('foot_crank', 'G K'), 'foot': bar('foot', 'J L'),
     'rods': rod('H I', 'K L')},
    'A', 'A B G', ('A B', 'C D', 'D J', 'H I', 'K L'))

FIVE_BAR = Drawing(
    ('xz',), 'Five-bar linkage',
    'Two motors A and B turn the cranks. The tips of both couplers meet in the pin E. As drawn '
    'the cranks stand at 110 and 70 degrees.',
    {'A': (None, (0.0, 0.0, 0.0), 'ground, left crank: motor'),
     'B': (None, (0.25, 0.0, 0.0), 'ground, right crank: motor'),
     'C': ('left_crank', (0.3, 0.0, 0.0), 'left crank, left coupler: pin'),
     'D': ('right_crank', (0.3, 0.0, 0.0), 'right crank, right coupler: pin'),
     'E': ('left_coupler', (0.4, 0.0, 0.0), 'both couplers: pin')},
    {'left crank': bar('left_crank', 'A C'), 'left coupler': bar('left_coupler', 'C E'),
     'right crank': bar('right_crank', 'B D'), 'right coupler': bar('right_coupler', 'D E')},
    'A B', 'A B', ('A C', 'C E', 'D E'),
    pose={'left_crank_joint': 1.919862, 'right_crank_joint': 1.221730})

GRIPPER = Drawing(
    ('xz',), 'Gripper',
    'A motor A turns the left crank. Gears of equal size turn the right crank as far the other '
    'way, about E. Each jaw hangs on a crank and a link of 60 mm, which stay parallel.',
    {'A': (None, (-0.015, 0.0, 0.03), 'ground, left crank: motor'),
     'B': (None, (-0.015, 0.0, 0.0), 'ground, left link: pin'),
     'C': ('left_crank', (0.06, 0.0, 0.0), 'left crank, left jaw: pin'),
     'D': ('left_link', (0.06, 0.0, 0.0), 'left link, left jaw: pin'),
     'E': (None, (0.015, 0.0, 0.03), 'ground, right crank: pin, geared to A'),
     'F': (None, (0.015, 0.0, 0.0), 'ground, right link: pin'),
     'G': ('right_crank', (0.06, 0.0, 0.0), 'right crank, right jaw: pin'),
     'H': ('right_link', (0.06, 0.0, 0.0), 'right link, right jaw: pin')},
    {'left crank': bar('left_crank', 'A C'), 'left link': bar('left_link', 'B D'),
     'left jaw': bar('left_jaw', 'C D'), 'right crank': bar('right_crank', 'E G'),
     'right link': bar('right_link', 'F H'), 'right jaw': bar('right_jaw', 'G H')},
    'A B E F', 'A', ('A C', 'B D'))

SCISSOR_LIFT = Drawing(
    ('xz',), 'Scissor lift',
    'Two stages of bars of 1000 mm, pinned at their middles B and G. The bars begin at pins in '
    'the ground, A, and in the platform, F. Their other ends, C and H, are rollers: C on the '
    'level ground, H under the level platform. The cylinder I J is a barrel, pinned to the '
    'ground, and a rod that slides in it.',
    {'A': (None, (0.0, 0.0, 0.0), 'ground, lower bar: pin'),
     'B': ('lower_bar', (0.5, 0.0, 0.0), 'lower bar, lower cross: pin'),
     'C': ('lower_cross', (0.5, 0.0, 0.0), 'lower cross on the ground: roller'),
     'D': ('lower_cross', (-0.5, 0.0, 0.0), 'lower cross, upper bar: pin'),
     'E': ('lower_bar', (1.0, 0.0, 0.0), 'lower bar, upper cross: pin'),
     'F': ('platform', (0.0, 0.0, 0.0), 'upper cross, platform: pin'),
     'G': ('upper_bar', (0.5, 0.0, 0.0), 'upper bar, upper cross: pin'),
     'H': ('upper_bar', (1.0, 0.0, 0.0), 'upper bar under the platform: roller'),
     'I': (None, (0.2, 0.0, 0.0), 'ground, barrel: pin'),
     'J': ('lower_bar', (0.7, 0.0, 0.0), 'lower bar, rod: pin')},
    {'lower bar': bar('lower_bar', 'A B J E'), 'lower cross': bar('lower_cross', 'D B C'),
     'upper bar': bar('upper_bar', 'D G H'), 'upper cross': bar('upper_cross', 'E G F'),
     'platform': bar('platform', 'F H'), 'barrel': bar('barrel', 'I J', style='barrel'),
     'rod': bar('rod', 'I J', style='rod')},
    'A I', '', ('D H', 'I J'), {'C': (1.0, 0.0, 0.0), 'H': (1.0, 0.0, 0.0)})

SERVO_HEXAPOD = Drawing(
    ('xy', 'xz'), 'Hexapod of servos (6-RSS)',
    'Six servos A turn arms of 25 mm, which are level as drawn, about level axes at right '
    'angles to the arm. So their tips B move up and down. A rod of 120 mm with a ball at each '
    'end leads from each tip to the platform C. Rods have no mass. The right view shows legs 1 '
    'and 2.',
    {**{f'A{k}': (None, at, f'ground, arm {k}: servo') for k, at in enumerate((
        (0.088033, -0.018712, 0.0), (0.088033, 0.018712, 0.0), (-0.027811, 0.085595, 0.0),
        (-0.060222, 0.066883, 0.0), (-0.060222, -0.066883, 0.0), (-0.027811, -0.085595, 0.0)),
        1)},
     **{f'B{k}': (f'arm_{k}', (0.025, 0.0, 0.0), f'arm {k}, rod {k}: ball')
        for k in range(1, 7)},
     **{f'C{k}': ('platform', at, f'platform, rod {k}: ball') for k, at in enumerate((
         (0.065778, -0.023941, 0.0), (0.065778, 0.023941, 0.0), (-0.012156, 0.068936, 0.0),
         (-0.053622, 0.044995, 0.0), (-0.053622, -0.044995, 0.0), (-0.012156, -0.068936, 0.0)),
         1)}},
    {**{f'arm {k}': bar(f'arm_{k}', f'A{k} B{k}') for k in range(1, 7)},
     'platform': bar('platform', 'C1 C2 C3 C4 C5 C6 C1'),
     'rods': rod(*(f'B{k} C{k}' for k in range(1, 7)))},
    'A1 A2 A3 A4 A5 A6', 'A1 A2 A3 A4 A5 A6', ('A2 B2', 'B2 C2'), beside='A1 B1 C1 A2 B2 C2')

QUICK_RETURN = Drawing(
    ('xz',), 'Quick return of a shaper',
    'A motor A turns the crank. Its pin B slides in a straight slot of the rocker, along O D. '
    'The link D E drives the ram, which slides along x.',
    {'A': (None, (0.0, 0.0, 0.3), 'ground, crank: motor'),
     'B': ('crank', (0.1, 0.0, 0.0), 'crank in the slot of the rocker: pin in a slot'),
     'O': (None, (0.0, 0.0, 0.0), 'ground, rocker: pin'),
     'D': ('rocker', (0.6, 0.0, 0.0), 'rocker, link: pin'),
     'E': ('ram', (0.0, 0.0, 0.0), 'ram, link: pin; the ram slides on the ground along x')},
    {'crank': bar('crank', 'A B'), 'rocker': bar('rocker', 'O B D'), 'link': bar('link', 'D E'),
     'ram': bar('ram', 'E')},
    'A O', 'A', ('A B', 'O D', 'D E'),
    {'B': (0.316, 0.0, 0.949), 'E': (1.0, 0.0, 0.0)})

HUMANOID_ANKLE = Drawing(
    ('yz', 'xz'), 'Ankle of a humanoid',
    'Two motors A in the shank, which stands still here, turn cranks about y. Rods of 250 mm '
    'with a ball at each end lead to the foot. The foot turns on a universal joint C: first '
    'about y, then about its own x. Rods have no mass.',
    {'A1': (None, (0.0, 0.04, 0.33), 'shank, left crank: motor'),
     'A2': (None, (0.0, -0.04, 0.33), 'shank, right crank: motor'),
     'B1': ('left_crank', (-0.06, 0.0, 0.0), 'left crank, left rod: ball'),
     'B2': ('right_crank', (-0.06, 0.0, 0.0), 'right crank, right rod: ball'),
     'C': (None, (0.0, 0.0, 0.08), 'shank, foot: universal joint'),
     'D1': ('foot', (-0.06, 0.04, 0.0), 'foot, left rod: ball'),
     'D2': ('foot', (-0.06, -0.04, 0.0), 'foot, right rod: ball')},
    {'left crank': bar('left_crank', 'A1 B1'), 'right crank': bar('right_crank', 'A2 B2'),
     'foot': bar('foot', 'C D1 D2 C'), 'rods': rod('B1 D1', 'B2 D2')},
    'A1 A2 C', 'A1 A2', ('A1 B1', 'B1 D1'))

DUAL_ARM = Drawing(
    ('xy', 'xz'), 'Two arms with a box',
    'Two equal arms of six motors each hold one box firmly. At A the shoulder turns about z, '
    'then the upper arm about y. The elbow B turns about y. At the wrist C the forearm rolls '
    'about its own axis B C, then comes a turn about y, then one about z, each of a body of its '
    'own. As drawn the hands are level, and hold the box at D. The right view shows both arms, '
    'one behind the other.',
    {**{f'{letter}{k}': (body and f'{side}_{body}', at, f'{what}')
        for k, side, sign in ((1, 'left', 1.0), (2, 'right', -1.0)) for letter, body, at, what in (
            ('A', None, (0.0, 0.3 * sign, 0.0),
             f'ground, {side} shoulder, {side} upper arm: two motors, about z and y'),
            ('B', 'upper_arm', (0.35, 0.0, 0.0), f'{side} upper arm, {side} forearm: motor'),
            ('C', 'forearm', (0.35, 0.0, 0.0),
             f'{side} forearm, {side} wrist 1, {side} wrist 2, {side} hand: three motors'),
            ('D', 'hand', (0.1, 0.0, 0.0), f'{side} hand, box: held firmly'))}},
    {**{f'{side} {part}': bar(f'{side}_{part.replace(" ", "_")}', *lines)
        for k, side in ((1, 'left'), (2, 'right')) for part, lines in (
            ('shoulder', ()), ('upper arm', (f'A{k} B{k}',)), ('forearm', (f'B{k} C{k}',)),
            ('wrist 1', ()), ('wrist 2', ()), ('hand', (f'C{k} D{k}',)))},
     'box': bar('box', 'D1 D2', style='barrel')},
    'A1 A2', 'A1 A2 B1 B2 C1 C2', ('A1 B1', 'B1 C1', 'C1 D1'))

DRAWINGS = {
    'delta': DELTA, 'excavator': EXCAVATOR, 'cassie_leg': CASSIE_LEG, 'five_bar': FIVE_BAR,
    'gripper': GRIPPER, 'scissor_lift': SCISSOR_LIFT, 'servo_hexapod': SERVO_HEXAPOD,
    'quick_return': QUICK_RETURN, 'humanoid_ankle': HUMANOID_ANKLE, 'dual_arm': DUAL_ARM}
