# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Dependencies for pip and for rosdep are one set within the pins; releases with wheels."""

import ast
from datetime import date
from importlib import metadata
import os
from pathlib import Path
import re
import subprocess
import sys

from catkin_pkg.package import parse_package
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
import pytest
from tools import missing_requirements
import yaml

from liedyn_ros.commands.operation import environment

pytestmark = pytest.mark.full
ROOT = Path(__file__).parents[1]
PYTHONS = ['3.10', '3.11', '3.12', '3.13', '3.14']
KEYS = {'pyyaml': 'python3-yaml'}  # rosdep keys that are not python3-<name>


def declared():
    """Return the requirements that setup.py declares."""
    argument = next(
        node.value for node in ast.walk(ast.parse((ROOT / 'setup.py').read_text()))
        if isinstance(node, ast.keyword) and node.arg == 'install_requires')
    return [Requirement(text) for text in ast.literal_eval(argument)]


def surroundings_of(python):
    """Return what markers of requirements are evaluated in, for a version of Python."""
    return {'python_version': python, 'python_full_version': f'{python}.5', 'extra': ''}


def pinned(python):
    """Return the versions of requirements/runtime.txt by name, but of what builds kernels."""
    own = (ROOT / 'requirements' / 'runtime.txt').read_text().partition('# What builds')[0]
    pins = [Requirement(line) for line in own.splitlines() if '==' in line]
    return {each.name: str(each.specifier)[2:] for each in pins
            if applies(each, surroundings_of(python))}


@pytest.mark.parametrize('python', PYTHONS)
def test_pins_are_within_the_ranges(python):
    versions = pinned(python)
    assert {each.name.lower() for each in declared()} == set(versions)
    for each in declared():
        assert each.specifier.contains(versions[each.name.lower()]), each


@pytest.mark.parametrize('python', PYTHONS)
def test_lists_of_the_demo_are_whole(python):
    """Its parts are installed without what their packages ask for."""
    surroundings = surroundings_of(python)
    wanted = [
        requirement for name in ('runtime', 'messages', 'demo', 'ros-kilted', 'ros-jazzy')
        for line in (ROOT / 'requirements' / f'{name}.txt').read_text().splitlines()
        if '==' in line and applies(requirement := Requirement(line), surroundings)]
    names, missing = {canonicalize_name(each.name) for each in wanted}, []
    for name in names:
        try:
            needs = metadata.requires(name) or ()
        except metadata.PackageNotFoundError:  # of another release or version of Python
            continue
        missing += [f'{name} needs {need}' for need in needs
                    if applies(Requirement(need), surroundings)
                    and canonicalize_name(Requirement(need).name) not in names]
    assert missing == []


def applies(requirement, surroundings):
    """Return whether a requirement is one there."""
    return requirement.marker is None or requirement.marker.evaluate(surroundings)


def test_rosdep_brings_the_same():
    package = parse_package(str(ROOT / 'package.xml'))
    keys = {depend.name for depend in package.exec_depends}
    for each in declared():
        assert KEYS.get(each.name.lower(), f'python3-{each.name.lower()}') in keys


@pytest.mark.parametrize(('release', 'packaged'), [
    ('jazzy', False), ('kilted', False), ('lyrical', True)])
def test_rosdep_asks_for_numba_where_ubuntu_has_it(release, packaged):
    package = parse_package(str(ROOT / 'package.xml'))
    package.evaluate_conditions({'ROS_DISTRO': release})
    needed = {each.name for each in package.build_depends if each.evaluated_condition}
    assert ('python3-numba' in needed) == packaged


@pytest.mark.parametrize(('prefix', 'warned'), [('', False), ('ros', True), ('both', False)])
def test_setup_warns_where_ros_lacks_the_interfaces(tmp_path, prefix, warned):
    """Without ROS there is no warning; setup.py does not fail in either case."""
    for name, package in (('ros', 'rclpy'), ('both', 'liedyn_interfaces')):
        index = tmp_path / name / 'share' / 'ament_index' / 'resource_index' / 'packages'
        index.mkdir(parents=True)
        (index / package).touch()
    path = str(tmp_path / prefix) if prefix else ''
    done = subprocess.run(
        [sys.executable, 'setup.py', '--version'], cwd=ROOT, capture_output=True, text=True,
        check=True, env={**os.environ, 'AMENT_PREFIX_PATH': path})
    assert ('the nodes need liedyn_interfaces' in done.stderr) == warned


def test_colcon_test_runs_without_xdist():
    """Of ROS's own packages none brings it; the others' plugins are not loaded here either."""
    arguments = yaml.safe_load((ROOT / 'colcon_defaults.yaml').read_text())['test']['pytest-args']
    code = ("import pytest, sys; sys.modules['xdist'] = None; "
            f"sys.exit(pytest.main({arguments} + ['--collect-only', {__file__!r}]))")
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, 'PYTEST_ADDOPTS': '', 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1'})
    assert (done.returncode, done.stderr) == (0, '')


SETUP = ROOT / 'tools' / 'setup.sh'
ROW = re.compile(r'^\| (\w+) \| (\d{4}-\d\d-\d\d) \| [\d.]+ \| [^|]+ \| (\w+)', re.M)
ROWS = ROW.findall((ROOT / 'docs' / 'releases.md').read_text())


def setup(*arguments, python, today='2026-11-28', folder):
    """Return code and output of tools/setup.sh with a Python of some version, on some day."""
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
