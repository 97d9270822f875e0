# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Drawings of the gallery with dimensions: page and pictures are those of the machines' files."""

import csv
import re

import numpy as np
import pytest
from tools.pictures.machine_views import DRAWINGS
from tools.pictures.machines import IMAGES, machine, pages, place, section, tables

from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, statics
from liedyn_ros.model import ModelBuilder, pose, SpatialInertia

pytestmark = pytest.mark.full

# Of a machine: joints by pin (parent, child, type), and closures by pin (type, bodies, axis).
LIFT = (
    {'A': (None, 'lower bar', 'revolute'), 'B': ('lower bar', 'lower cross', 'revolute'),
     'D': ('lower cross', 'upper bar', 'revolute'), 'E': ('lower bar', 'upper cross', 'revolute'),
     'F': ('upper cross', 'platform', 'revolute'), 'I': (None, 'barrel', 'revolute'),
     'J': ('barrel', 'rod', 'prismatic')},
    {'C': ('point_on_plane', None, 'lower cross', [0, 0, 1]),
     'G': ('point_on_line', 'upper bar', 'upper cross', [0, 1, 0]),
     'H': ('point_on_plane', 'platform', 'upper bar', [0, 0, 1]),
     'J': ('point_on_line', 'lower bar', 'rod', [0, 1, 0])})


def test_the_page_is_that_of_the_machines():
    for path, text in pages().items():
        assert path.read_text(encoding='utf-8') == text, 'python -m tools.pictures.machines'
    assert {path.stem for path in IMAGES.glob('*.png')} == set(DRAWINGS)


@pytest.mark.parametrize('name', DRAWINGS)
def test_closures_are_at_the_pins(name):
    """Both ends of each closure are at pins of its drawing."""
    dynamics, q = machine(name)
    pins = np.array([place(dynamics, q, pin) for pin in DRAWINGS[name].pins.values()])
    for closure in dynamics.model.closures:
        for body, frame in ((closure.body_a, closure.frame_a), (closure.body_b, closure.frame_b)):
            if closure.type_name == 'point_on_plane' and body == closure.body_a:
                continue  # anywhere on its plane
            there = place(dynamics, q, (body, tuple(frame[:3, 3]), ''))
            assert np.linalg.norm(pins - there, axis=1).min() < 0.1


def test_a_machine_of_the_tables_alone_is_that_of_the_page():
    """A scissor lift whose frames turn nowhere, as the page proposes."""
    places, masses = (list(csv.reader(text.splitlines()))[1:]
                      for text in tables('scissor_lift').values())
    pins = {name: 1e-3 * np.array([float(x), 0.0, float(z)])
            for name, at, _ in places for x, z in [at.split(', ')]}
    builder, origins = ModelBuilder('lift'), {None: np.zeros(3)}
    parts = {name: [mass, *centre.split(', '), inertia.split(', ')[1]]
             for name, _, mass, centre, inertia in masses}
    joints, closures = LIFT
    for pin, (parent, child, kind) in joints.items():
        mass, x, z, inertia = (float(number) for number in parts[child])
        origins[child] = pins[pin]
        builder.add_body(child, SpatialInertia(
            mass, [1e-3 * x, 0.0, 1e-3 * z] - pins[pin], inertia * np.eye(3)))
        builder.add_joint(pin, kind, parent, child, placement=pose(pins[pin] - origins[parent]),
                          axis=pins['J'] - pins['I'] if kind == 'prismatic' else [0, -1, 0],
                          actuated=kind == 'prismatic')
    for pin, (kind, *bodies, axis) in closures.items():
        builder.add_closure(pin, kind, *bodies, axis=axis, **{
            f'placement_{side}': pose(pins[pin] - origins[body])
            for side, body in zip('ab', bodies)})
    lift = ConstrainedDynamics(builder.build())
    assert lift.mobility.degrees_of_freedom == 1
    wanted = float(re.search(r'cylinder ([\d.]+) N', section('scissor_lift'))[1])
    assert abs(statics(lift, assemble(lift)).efforts['J']) == pytest.approx(wanted, rel=2e-3)
