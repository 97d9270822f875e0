# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""YAML models with new numbers: read back as they are, whatever YAML 1.1 takes a word for."""

import numpy as np
import pytest

from liedyn_ros.model import load_yaml, updated_yaml, with_inertias, with_resistances

TEXT = """
format: 1
name: {body}
bodies:
  {body}: &shared
    {{mass: 1e0, center_of_mass: [1e-3, 0, 2E-3], inertia: {{xx: 1e-2, yy: 1e-2, zz: 1e-2}}}}
  other: *shared
joints:
  {joint}: {{type: revolute, parent: null, child: {body}, axis: [0, 0, 1e0], damping: 1e-3}}
  last: {{type: revolute, parent: {body}, child: other, axis: [0, 1, 0], placement: [x: 1e-1]}}
"""


@pytest.mark.parametrize('body, joint', [
    ('link', 'first'), ('no', 'y'), ('010', '1:30'), ('2001-01-01', '0x10'), ('1_000', 'off'),
    ('"1e-3"', '"tRuE"'), ("'-1e5'", "'.5e1'"), ('"~"', '"null"')])
def test_yaml_is_read_back_with_what_was_changed_alone(body, joint, tmp_path):
    path = tmp_path / 'model.yaml'
    text = TEXT.format(body=body, joint=joint)
    path.write_text(text)
    given = load_yaml(path)
    heavier = 1.5 * given.body('other').inertia.parameters()
    wanted = with_resistances(with_inertias(given, {'other': heavier}), {'last': 2e-5}, {})
    path.write_text(updated_yaml(text, given, wanted))
    found = load_yaml(path)
    assert list(found.bodies) == list(given.bodies) and found.name == given.name
    assert [each.name for each in found.joint_list] == [each.name for each in given.joint_list]
    for name in given.bodies:
        np.testing.assert_allclose(found.body(name).inertia.parameters(),
                                   wanted.body(name).inertia.parameters(), rtol=1e-14)
    for got, want in zip(found.joint_list, wanted.joint_list):
        np.testing.assert_array_equal(got.damping, want.damping)
        np.testing.assert_array_equal(got.placement, want.placement)
