# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What known advisories say of pinned packages; what could not be looked up is no verdict."""

import pytest

from tools import advisories

REPORT = {'dependencies': [
    {'name': 'a', 'version': '1.0', 'vulns': []},
    {'name': 'b', 'version': '2.0', 'vulns': [{'id': 'PYSEC-1', 'fix_versions': ['2.1']}]},
    {'name': 'c', 'skip_reason': 'not found'}]}


def test_pins_are_read(tmp_path):
    path = tmp_path / 'r.txt'
    path.write_text('# a==0\nNumpy==2.0.1  # why\nx[y]==3; python_version < "3.11"\nz>=4\n')
    assert advisories.pins([path]) == ['Numpy==2.0.1', 'x==3']


@pytest.mark.parametrize(('report', 'code', 'told'), [
    (REPORT, 1, 'b 2.0: PYSEC-1, mended in 2.1'),
    ({'dependencies': REPORT['dependencies'][::2]}, 0, '1 packages NOT LOOKED UP'),
    (None, 0, 'NOT LOOKED UP')])
def test_an_advisory_fails_and_silence_is_told(tmp_path, monkeypatch, capsys, report, code, told):
    path = tmp_path / 'r.txt'
    path.write_text('a==1.0\n')
    monkeypatch.setattr(advisories, 'audit', lambda packages: report)
    assert advisories.main([str(path)]) == code
    assert told in capsys.readouterr().out
