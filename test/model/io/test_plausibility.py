# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Machines in kg and m have no remark on that; in grams, millimetres or kg mm^2 they have one."""

import numpy as np
import pytest

from liedyn_ros.common.errors import DescriptionWarning
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import load_mjcf, load_sdf, load_urdf, to_mjcf, to_sdf, to_urdf
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia

pytestmark = pytest.mark.filterwarnings(
    'ignore::liedyn_ros.common.errors.DescriptionWarning')


def arm(mass: float = 1.0, moment: float = 1.0, length: float = 1.0, center: float = 1.0
        ) -> Model:
    """Return three rods of 0.4 m and 2 kg, with factors of their numbers."""
    builder, parent = ModelBuilder('arm'), None
    for k in range(3):
        builder.add_body(f'l{k}', SpatialInertia(
            2.0 * mass, (0.0, 0.0, 0.2 * center), np.eye(3) * moment * 2.0 * 0.4**2 / 12.0))
        placement = np.eye(4)
        placement[2, 3] = 0.4 * length if k else 0.0
        builder.add_joint(f'j{k}', 'continuous', parent, f'l{k}', axis=(0, 1, 0),
                          placement=placement)
        parent = f'l{k}'
    return builder.build()


WRONG = {  # factors, and what the warning begins with
    'grams': ({'mass': 1e5, 'moment': 1e5}, 'mass of'),
    'kg mm^2': ({'moment': 1e6}, 'inertias of'),
    'lengths in mm': ({'length': 1e3}, 'lengths of'),
    'centres in mm': ({'center': 1e3}, 'centres of mass of')}


@pytest.mark.parametrize('write, load', [
    (to_urdf, load_urdf), (to_mjcf, load_mjcf), (to_sdf, load_sdf)], ids=['URDF', 'MJCF', 'SDF'])
@pytest.mark.parametrize('name', WRONG)
def test_other_units_are_named_in_every_format(name, write, load) -> None:
    factors, said = WRONG[name]
    warning, = load(write(arm(**factors))).warnings
    assert warning.startswith(said)


def test_machines_in_kg_and_m_have_no_remark() -> None:
    assert load_urdf(to_urdf(arm())).warnings == ()
    assert load_urdf(config_file('linkage_leg.urdf')).warnings == ()


def test_a_base_of_1000_kg_m2_for_1_kg_is_named() -> None:
    text = to_urdf(arm()).replace('ixx="0.0266', 'ixx="1000.0266', 1)
    with pytest.warns(DescriptionWarning, match='l0 .*on average'):
        load_urdf(text)
