# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What known advisories say of pinned packages; what could not be looked up is no verdict."""

import json
import subprocess

import pytest

from tools import advisories

BAD = {'name': 'jinja2', 'version': '2.4.1', 'vulns': [{
    'id': 'PYSEC-2014-8', 'fix_versions': ['2.7.2'], 'aliases': ['CVE-2014-1402'],
    'description': 'The default configuration for bccache.FileSystemBytecodeCache ...'}]}
GOOD = {'name': 'a', 'version': '1.0', 'vulns': []}
UNKNOWN = {'name': 'c', 'skip_reason': 'Dependency not found on PyPI and could not be audited'}
CANARY = {**BAD, 'name': 'django', 'version': '3.0'}


def test_pins_are_read(tmp_path):
    path = tmp_path / 'r.txt'
    path.write_text('# a==0\nNumpy==2.0.1  # why\nx[y]==3; python_version < "3.11"\nz>=4\n')
    assert advisories.pins([path]) == ['Numpy==2.0.1', 'x==3']


def answered(tmp_path, monkeypatch, answer, errors=''):
    """Return the exit code where pip-audit answers so, as it does for packages of these kinds."""
    def run(command, **_):
        packages = open(command[command.index('-r') + 1]).read().split()
        assert packages == ['a==1.0', advisories.CANARY]
        if answer is None:
            raise subprocess.TimeoutExpired(command, advisories.LIMIT)
        return subprocess.CompletedProcess(command, 1, answer, errors)
    path = tmp_path / 'r.txt'
    path.write_text('a==1.0\n')
    monkeypatch.setattr(subprocess, 'run', run)
    return advisories.main([str(path)])


@pytest.mark.parametrize(('found', 'code', 'told'), [
    ([GOOD, BAD, UNKNOWN, CANARY], 1, 'jinja2 2.4.1: PYSEC-2014-8, mended in 2.7.2'),
    ([GOOD, UNKNOWN, CANARY], 0, '1 packages without a known advisory, 0 advisories, 1 packages'),
    ([GOOD, {**CANARY, 'vulns': []}], 0, '0 packages without a known advisory, 0 advisories, 1'),
    ([GOOD], 0, '1 packages NOT LOOKED UP')])
def test_an_advisory_fails_and_silence_is_told(tmp_path, monkeypatch, capsys, found, code, told):
    answer = json.dumps({'dependencies': found, 'fixes': []})
    assert answered(tmp_path, monkeypatch, answer) == code
    assert told in capsys.readouterr().out


def test_a_service_out_of_reach_is_no_verdict_and_another_error_is_one(tmp_path, monkeypatch):
    assert answered(tmp_path, monkeypatch, '', "Could not connect to PyPI's feed") == 0
    assert answered(tmp_path, monkeypatch, '', '503 Server Error: Service Unavailable') == 0
    assert answered(tmp_path, monkeypatch, None) == 0
    with pytest.raises(SystemExit):
        answered(tmp_path, monkeypatch, '', 'No module named pip_audit')
