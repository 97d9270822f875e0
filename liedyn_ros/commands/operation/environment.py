# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The environment: Python, ROS 2, and the versions of the packages beside the ranges allowed."""

import ast
from collections.abc import Iterator
from importlib import import_module, metadata
from importlib.util import find_spec
import os
from pathlib import Path
import platform
import re

from liedyn_ros.commands.operation.computer import DoctorLine, Severity

ENVIRONMENT_PART = 'environment'
LIEDYN_PACKAGE = import_module('liedyn_ros')  # not of a layer: it has the version alone
VARIABLES = ('ROS_DISTRO', 'RMW_IMPLEMENTATION', 'ROS_DOMAIN_ID', 'ROS_AUTOMATIC_DISCOVERY_RANGE',
             'ROS_STATIC_PEERS', 'ROS_SECURITY_ENABLE', 'ROS_SECURITY_STRATEGY',
             'FASTRTPS_DEFAULT_PROFILES_FILE', 'CYCLONEDDS_URI', 'LIEDYN_JIT',
             'XDG_CACHE_HOME')
PYTHON = (3, 10), (3, 14)  # oldest and newest
_REQUIREMENT = re.compile(r'([\w-]+)([^;]*)')
_BOUND = re.compile(r'(>=|<)\s*([\d.]+)')
_RELEASE = re.compile(r'ros-(\w+)-rclpy')  # a wheel that is named after the release


def findings() -> Iterator[DoctorLine]:
    """Yield findings on this process: version, Python, ROS, variables, packages."""
    version = platform.python_version_tuple()
    good = PYTHON[0] <= (int(version[0]), int(version[1])) <= PYTHON[1]
    yield DoctorLine(ENVIRONMENT_PART, Severity.OK if good else Severity.ERROR,
                     f'liedyn_ros {LIEDYN_PACKAGE.__version__}, Python '
                     f'{platform.python_version()}, '
                     f'{platform.platform()}', '' if good else 'use Python 3.10 to 3.14')
    yield from _ros()
    for name in VARIABLES:
        if name in os.environ:
            yield DoctorLine(ENVIRONMENT_PART, Severity.OK, f'{name}={os.environ[name]}')
    for prefix in filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)):
        there = Path(prefix).is_dir()
        yield DoctorLine(ENVIRONMENT_PART, Severity.OK if there else Severity.WARN,
                         f'prefix {prefix}',
                         '' if there else 'it does not exist: source the workspace again')
    for requirement in requirements():
        yield _judge(requirement)


def _ros() -> Iterator[DoctorLine]:
    if find_spec('rclpy') is None:
        yield DoctorLine(ENVIRONMENT_PART, Severity.WARN,
                         'no ROS 2: rclpy cannot be imported. The core works, '
                         'the nodes do not', 'source a ROS 2, or . tools/env.sh')
        return
    wheels = sorted(found[1] for each in metadata.distributions()
                    if (found := _RELEASE.fullmatch(each.name or '')))
    release = os.environ.get('ROS_DISTRO') or ', '.join(wheels) or 'of an unknown release'
    yield DoctorLine(ENVIRONMENT_PART, Severity.OK, f'ROS 2 {release}')
    if find_spec('liedyn_interfaces') is None:
        yield DoctorLine(ENVIRONMENT_PART, Severity.ERROR, 'liedyn_interfaces cannot be imported',
                         'build it with colcon and source the workspace: docs/guides/install.md')


def requirements() -> list[str]:
    """Return the requirements in setup.py, from the installed package or from the source tree."""
    try:
        found = metadata.requires('liedyn_ros')
    except metadata.PackageNotFoundError:
        found = None
    if found:
        return [each for each in found if 'extra ==' not in each]
    setup = Path(str(LIEDYN_PACKAGE.__file__)).parents[1] / 'setup.py'
    return next((ast.literal_eval(node.value) for node in ast.walk(ast.parse(setup.read_text()))
                 if isinstance(node, ast.keyword) and node.arg == 'install_requires'), [])


def _judge(requirement: str) -> DoctorLine:
    """Return whether a requirement such as 'scipy>=1.11.1,<2' is met."""
    match = _REQUIREMENT.match(requirement)
    name, bounds = match.groups() if match else (requirement, '')
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return DoctorLine(ENVIRONMENT_PART, Severity.ERROR, f'{name} is missing',
                          f'install {requirement}')
    good = all((_numbers(version) >= _numbers(bound)) == (sign == '>=')
               for sign, bound in _BOUND.findall(bounds))
    return DoctorLine(ENVIRONMENT_PART, Severity.OK if good else Severity.ERROR,
                      f'{name} {version}', '' if good else f'install {requirement}')


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a release, without zeros at its end."""
    numbers = [int(part) for part in re.findall(r'\d+', version)[:3]]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
