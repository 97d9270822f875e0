# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Dependencies for pip and for rosdep are one set, and the pins are within its ranges."""

import ast
from importlib import metadata
import os
from pathlib import Path
import subprocess
import sys

from catkin_pkg.package import parse_package
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
import pytest
import yaml

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
