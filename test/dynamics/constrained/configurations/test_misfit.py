# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Closures whose redundant rows contradict each other by rounded numbers; small machines."""

from dataclasses import replace
from pathlib import Path
import re

import numpy as np
import pytest
from support.machines.looped_machines import bar, four_bar, link, planar_linkage
from support.refusals import ANY, refused

from liedyn_ros.common.errors import ConvergenceError, LiedynError, ModelError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, complete_velocity, ConstrainedDynamics, ConstraintStatus,
    LoopTracker)
from liedyn_ros.model import annotate, load_urdf, Model, ModelBuilder, pose

INERTIA = """<inertial><origin xyz="0 0.1 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01"
 izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""
# A planar four-bar linkage as a CAD program writes it: right angles in roll and pitch.
URDF = """<robot name="cad"><link name="base"/><link name="crank">{inertia}</link>
<link name="coupler">{inertia}</link><link name="rocker">{inertia}</link>
<joint name="crank_joint" type="continuous"><parent link="base"/><child link="crank"/>
<origin rpy="{right} 0 0" xyz="0 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="coupler_joint" type="continuous"><parent link="crank"/><child link="coupler"/>
<origin xyz="0.2 0 0" rpy="0 {right} 0"/><axis xyz="1 0 0"/></joint>
<joint name="rocker_joint" type="continuous"><parent link="base"/><child link="rocker"/>
<origin xyz="0.45 0 0" rpy="{right} {right} 0"/><axis xyz="0 0 1"/></joint>
<loop name="tip" type="{kind}"{more}>
<predecessor link="coupler"><origin xyz="0 0.5 0"/></predecessor>
<successor link="rocker"><origin xyz="0 0.4 0" rpy="0 {right} 0"/></successor>
{axis}</loop></robot>"""
EXACT, ROUNDED = repr(0.5 * np.pi), '1.5708'
KNOWN = [True, False, False]


def cad(right: str, kind: str, more: str = '') -> Model:
    """Return the linkage, its closure of a kind about the axis of its hinges."""
    axis = '' if kind == 'spherical' else '<axis xyz="1 0 0"/>'
    return load_urdf(URDF.format(right=right, kind=kind, more=more, axis=axis, inertia=INERTIA))


@pytest.mark.parametrize(('axis', 'angle'), [
    ([1.0, 0.0, 0.0], '90 deg'), ([0.1, 0.0, 1.0], '5.71 deg')])
def test_an_axis_that_no_motion_aligns_is_named(axis: list[float], angle: str) -> None:
    builder, inertia = ModelBuilder('crossed'), bar(1.0, 0.3)
    for name, parent, at in (('crank', None, 0.0), ('coupler', 'crank', 0.2),
                             ('rocker', None, 0.45)):
        builder.add_body(name, inertia)
        builder.add_joint(f'{name}_joint', 'revolute', parent, name, axis=[0.0, 0.0, 1.0],
                          placement=pose([at, 0.0, 0.0]), actuated=name == 'crank')
    builder.add_closure('pin', 'revolute', 'coupler', 'rocker', axis=axis,
                        placement_a=pose([0.5, 0.0, 0.0]), placement_b=pose([0.4, 0.0, 0.0]))
    with refused(ConvergenceError, ANY) as caught:
        assemble(ConstrainedDynamics(builder.build()))
    assert f'closure pin on coupler is {angle}' in str(caught.value)


@pytest.mark.parametrize('kind', ['revolute', 'spherical'])
def test_the_error_names_gap_and_closure_and_what_closes(kind: str) -> None:
    assert ConstrainedDynamics(cad(EXACT, kind)).mobility.degrees_of_freedom == 1
    with pytest.raises(ConvergenceError) as caught:
        assemble(ConstrainedDynamics(cad(ROUNDED, kind)), held={'crank_joint': 0.9})
    found = re.search(r'Rounded numbers leave such a gap, here of (\S+) m and (\S+) rad\. '
                      r"\['tip'\] closed by point_on_line, along [xyz] of its frames, would fit "
                      r"and leave mobility 1\. A tolerance of (\S+) m on closures \['tip'\]",
                      str(caught.value))
    assert found, caught.value
    gap, _, tolerance = map(float, found.groups())
    assert 0.0 < gap < tolerance
    accepted = ConstrainedDynamics(cad(ROUNDED, kind, f' tolerance="{tolerance}"'))
    assemble(accepted, held={'crank_joint': 0.9})
    line = ConstrainedDynamics(cad(ROUNDED, 'point_on_line'))  # about the axis of the hinges
    assert line.mobility.degrees_of_freedom == 1


@pytest.mark.parametrize('kind', ['revolute', 'spherical'])
def test_a_tolerance_gives_the_dynamics_of_the_exact_machine(kind: str) -> None:
    exact, rounded = (ConstrainedDynamics(cad(right, kind, more)) for right, more in (
        (EXACT, ''), (ROUNDED, ' tolerance="1e-5"')))
    assert exact.mobility.degrees_of_freedom == rounded.mobility.degrees_of_freedom == 1
    found = []
    for dynamics in (exact, rounded):
        q = assemble(dynamics, held={'crank_joint': 0.9})
        v = complete_velocity(dynamics, q, [2.0, 0.0, 0.0], KNOWN)
        a = complete_acceleration(dynamics, q, v, [[0.3, 0.0, 0.0], [1.0, 0.0, 0.0]], KNOWN)
        needed = dynamics.inverse(q, v, a, actuated=KNOWN)
        moved = dynamics.forward(q, v, needed.tau)
        np.testing.assert_allclose(moved.a, a, rtol=1e-10, atol=1e-10)
        later = LoopTracker(dynamics, ['crank_joint'], start=q).update([0.95], [2.0], [0.3])
        found.append((q, v, a, needed.tau, needed.wrenches, later.a))
    # Its right angles are off by 4e-6 rad; a machine far from singular moves by some of that.
    tolerance = 10.0 * (float(ROUNDED) - 0.5 * np.pi)
    for one, other in zip(*found):
        np.testing.assert_allclose(one, other, atol=tolerance * np.abs(one).max())
    assert moved.status is ConstraintStatus.REGULAR
    gap = rounded.gaps(found[1][0])['tip']
    assert 1e-7 < gap.length < 1e-5
    assert gap.angle < 1e-5
    assert exact.gaps(found[0][0])['tip'].length < 1e-11


def test_a_gap_above_the_tolerance_is_refused_with_both() -> None:
    with refused(ConvergenceError, 'cad'):
        ConstrainedDynamics(cad(ROUNDED, 'revolute', ' tolerance="1e-9"'))


def test_a_gap_that_no_rounding_leaves_has_no_suggestion() -> None:
    short = planar_linkage((0.2, 0.1), (0.1,), 0.9, ('left_0',))
    with refused(ConvergenceError, 'linkage'):
        assemble(ConstrainedDynamics(short), attempts=5)


def test_a_spatial_linkage_from_a_drawing() -> None:
    """Bennett's linkage with lengths and angles of four digits: rank 2 of 5 but for rounding."""
    a, b, alpha = 0.5, 0.3, 0.9
    beta = round(float(np.arcsin(b * np.sin(alpha) / a)), 4)
    builder = ModelBuilder('drawn')
    for i, placement in enumerate((np.eye(4), link(a, alpha), link(b, beta))):
        builder.add_body(f'link_{i}', bar(1.0 + 0.3 * i, 0.4))
        builder.add_joint(f'hinge_{i}', 'revolute', f'link_{i - 1}' if i else None, f'link_{i}',
                          axis=[0.0, 0.0, 1.0], placement=placement, actuated=i == 0)
    builder.add_closure('hinge_3', 'revolute', None, 'link_2', tolerance=1e-3,
                        placement_a=np.linalg.inv(link(b, beta)), placement_b=link(a, alpha))
    dynamics = ConstrainedDynamics(builder.build())
    assert dynamics.mobility.degrees_of_freedom == 1
    assert dynamics.m == 2
    q = assemble(dynamics, [0.4, 0.6, -0.5], held={'hinge_0': 0.4})
    assert max(dynamics.gaps(q)['hinge_3']) < 1e-3
    v = complete_velocity(dynamics, q, [1.0, 0.0, 0.0])
    a = complete_acceleration(dynamics, q, v, [0.5, 0.0, 0.0])
    np.testing.assert_allclose(
        dynamics.forward(q, v, dynamics.inverse(q, v, a).tau).a, a, rtol=1e-9)


def test_a_small_machine_is_judged_at_its_size() -> None:
    small, large = (ConstrainedDynamics(planar_linkage(
        (0.2 * size, 0.5 * size), (0.4 * size,), 0.45 * size, ('left_0',)))
        for size in (1e-3, 1.0))
    for dynamics in (small, large):
        q = assemble(dynamics, held={'left_0_joint': 0.9})
        dynamics.forward(q, np.zeros(3), np.zeros(3))
        with refused(LiedynError, 'tip/force_x', 'tip/force_y'):
            dynamics.forward(q + [0.0, 1e-5, 0.0], np.zeros(3), np.zeros(3))
    assert (large.row_sizes == 1.0).all()  # as ever
    first, second = (assemble(each, held={'left_0_joint': 0.9}) for each in (small, large))
    np.testing.assert_allclose(first, second, atol=1e-9)


def test_where_a_tolerance_is_written(tmp_path: Path) -> None:
    (tmp_path / 'loops.yaml').write_text(
        'format: 1\nclosures:\n  tip: {type: point_on_plane, body_a: left_0, body_b: null, '
        'tolerance: 2.0e-4}\n')
    read = annotate(replace(four_bar(), closures=()), tmp_path / 'loops.yaml')
    assert read.closures[0].tolerance == 2e-4
    assert cad(ROUNDED, 'revolute', ' tolerance="3e-4"').closures[0].tolerance == 3e-4
    builder = ModelBuilder('none')
    with refused(ModelError, 'closure tip'):
        builder.add_closure('tip', 'spherical', None, 'a', tolerance=-1.0)
