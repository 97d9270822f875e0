# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Random files from the schemas: equal in the library of their format, and nothing is silent."""

from pathlib import Path

import pytest

from benchmarks.algorithms.random_files import outcomes

pytest.importorskip('mujoco')
pytest.importorskip('pinocchio')
AGREED = {'equal', 'equal, without motion', 'refused by both'}


@pytest.mark.full
@pytest.mark.parametrize(('form', 'count', 'agreed'), [
    ('mjcf', 30, AGREED), ('urdf', 40, AGREED),
    ('sdf', 20, AGREED | {'read here alone'})])  # where there is no Drake
def test_random_files_agree(tmp_path: Path, form: str, count: int, agreed: set[str]) -> None:
    found = outcomes(form, count, seed=7, folder=tmp_path)
    assert set(found) <= agreed
    assert found['refused by both'] < count / 2
