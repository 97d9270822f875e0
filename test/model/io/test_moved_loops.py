# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Files of machines whose loops were moved: read back as they are."""

import numpy as np
import pytest

from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.model import load_urdf, load_yaml, Model, updated_urdf, updated_yaml

URDF = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="ab" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<joint name="ac" type="continuous"><parent link="a"/><child link="c"/><axis xyz="0 0 1"/></joint>
<loop name="tip" type="revolute"><predecessor link="b"><origin xyz="0.3 0 0"/></predecessor>
<successor link="c"><origin xyz="0.2 0 0" rpy="0 0 0"/></successor><axis xyz="0 0 1"/></loop>
</robot>"""


def moved(model):
    """Return the model with other frames of its closure, and a tolerance."""
    closure, = model.closures
    by = se3.exp([0.01, 0.02, 0.03, 1e-3, 2e-3, 3e-3])
    kind = type(closure)
    new = kind(**{**vars(closure), 'frame_a': closure.frame_a @ by,
                  'frame_b': by @ closure.frame_b, 'tolerance': 1e-4})
    return Model(**{**vars(model), 'closures': (new,)})


@pytest.mark.parametrize('kind', ('yaml', 'urdf'))
def test_a_moved_closure_is_read_back(kind, tmp_path):
    path = tmp_path / f'model.{kind}'
    text = config_file('five_bar.yaml').read_text() if kind == 'yaml' else URDF
    load, update = ((load_yaml, updated_yaml) if kind == 'yaml' else (load_urdf, updated_urdf))
    path.write_text(text)
    given = load(path)
    wanted = moved(given)
    path.write_text(update(text, given, wanted))
    found, = load(path).closures
    np.testing.assert_allclose(found.frame_a, wanted.closures[0].frame_a, atol=1e-14)
    np.testing.assert_allclose(found.frame_b, wanted.closures[0].frame_b, atol=1e-14)
    assert found.tolerance == 1e-4 and found.type_name == 'revolute'
