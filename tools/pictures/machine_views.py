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

DRAWINGS = {'delta': DELTA, 'excavator': EXCAVATOR, 'scissor_lift': SCISSOR_LIFT}
