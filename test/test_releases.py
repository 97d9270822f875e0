# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""docs/releases.md, beside the wheels of requirements/ and what make and the doctor take."""

from datetime import date
from pathlib import Path
import re
import subprocess
import sys

import pytest
from tools import missing_requirements

from liedyn_ros.commands.operation import environment

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[1]
SETUP = ROOT / 'tools' / 'setup.sh'
ROW = re.compile(r'^\| (\w+) \| (\d{4}-\d\d-\d\d) \| [\d.]+ \| [^|]+ \| (\w+)', re.M)
ROWS = ROW.findall((ROOT / 'docs' / 'releases.md').read_text())


def setup(*arguments, python, today='2026-11-28', folder):
    """Return what tools/setup.sh does with a Python of some version, on some day."""
    programs = {'python3.x': f'echo {python}', 'date': f'echo {today}'}
    for name, line in programs.items():
        (folder / name).write_text(f'#!/bin/sh\n{line}\n')
        (folder / name).chmod(0o755)
    return subprocess.run(
        ['bash', SETUP, *arguments], capture_output=True, text=True,
        env={'PATH': f'{folder}:/usr/bin:/bin', 'PYTHON': 'python3.x'})


def test_each_release_with_wheels_has_its_row_and_newest_come_first():
    wheels = {name.lower() for name, _, tried in ROWS if tried == 'wheels'}
    assert wheels == {path.stem.removeprefix('ros-')
                      for path in (ROOT / 'requirements').glob('ros-*.txt')}
    names = [name for name, _, _ in ROWS]
    assert names == sorted(names, reverse=True)  # releases of ROS 2 follow the alphabet
    assert all(date.fromisoformat(end) for _, end, _ in ROWS)


@pytest.mark.parametrize(('python', 'release'), [
    ('3.10', 'kilted'), ('3.13', 'kilted'), ('3.14', 'none')])
def test_make_takes_the_newest_release_with_wheels(tmp_path, python, release):
    assert setup('release', python=python, folder=tmp_path).stdout == f'{release}\n'
    assert release in ('none', next(name for name, _, tried in ROWS if tried == 'wheels').lower())


@pytest.mark.parametrize(('arguments', 'python'), [
    (['kilted', 'x'], '3.14'), (['lyrical', 'x'], '3.13'), (['refuse', 'a reason'], '3.14'),
    (['kilted', 'x'], '3.9'), (['kilted', 'x'], '3.15')])
def test_what_is_not_supported_is_refused(tmp_path, arguments, python):
    done = setup(*arguments, python=python, folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, '')
    assert done.stderr.startswith('setup: ')
    assert not Path(ROOT, 'x').exists()


@pytest.fixture
def missing(tmp_path, monkeypatch):
    """Return a function: of the versions that a system has, the lines for pip."""
    (tmp_path / 'list.txt').write_text('numpy==2.2.6\npyyaml==6.0.3\nnumba==0.68.1\n')

    def missing_beside(**versions):
        monkeypatch.setattr(missing_requirements, 'present', versions.get)
        return missing_requirements.missing(tmp_path / 'list.txt')
    return missing_beside


@pytest.mark.parametrize(('numpy', 'pyyaml', 'lines'), [
    ('1.26.4', '6.0.1', ['numpy==1.26.4', 'numba==0.68.1']),  # of Ubuntu 24.04, without numba
    ('2.3.5', '5.4.1', ['numpy==2.3.5', 'pyyaml==6.0.3', 'numba==0.68.1'])])
def test_a_sourced_ros_keeps_its_numpy(missing, numpy, pyyaml, lines):
    assert missing(numpy=numpy, pyyaml=pyyaml) == lines


def test_a_sourced_ros_whose_numpy_is_too_old_is_refused(missing):
    with pytest.raises(SystemExit):
        missing(numpy='1.21.5', pyyaml='5.4.1')  # of Ubuntu 22.04


def test_the_build_goes_beside_the_coverage_of_ubuntu_24(tmp_path):
    """Version 7.4 comes there with colcon, and beside it numba does not import by itself."""
    (tmp_path / 'coverage').mkdir()
    (tmp_path / 'coverage' / '__init__.py').write_text('from coverage import types\n')
    (tmp_path / 'coverage' / 'types.py').write_text('class TTracer: pass\n')
    subprocess.run([sys.executable, '-c', 'import liedyn_ros.build.compiler'], check=True,
                   env={'PYTHONPATH': f'{tmp_path}:{ROOT}'})


@pytest.mark.parametrize(('today', 'warned'), [('2026-12-31', False), ('2027-01-01', True)])
def test_a_release_that_ended_is_named(tmp_path, today, warned):
    """The end is looked up in the table, by the lines that setup.sh does it with."""
    lines = SETUP.read_text()
    script = 'ros=kilted\n' + lines[lines.index('ended='):lines.index('\n# colcon asks')]
    (tmp_path / 'date').write_text(f'#!/bin/sh\necho {today}\n')
    (tmp_path / 'date').chmod(0o755)
    done = subprocess.run(['bash', '-euc', script], capture_output=True, text=True, cwd=ROOT,
                          env={'PATH': f'{tmp_path}:/usr/bin:/bin'}, check=True)
    assert ('2026-12-31' in done.stderr) == warned


def test_the_doctor_takes_the_same_pythons(tmp_path):
    oldest, newest = environment.PYTHON
    assert "python_requires='>={}.{}'".format(*oldest) in (ROOT / 'setup.py').read_text()
    for minor in range(oldest[1] - 1, newest[1] + 2):
        supported = oldest[1] <= minor <= newest[1]
        done = setup('release', python=f'3.{minor}', folder=tmp_path)
        assert (done.returncode == 0) == supported, minor
