# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The core stands on its own: no ROS in it, and its layers import one way."""

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
import re

import pytest
from support import forked
from tools.source_text import statements

from liedyn_ros.layers import allowed, LAYERS, WITH_ROS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / 'liedyn_ros'
ROS = ('ament_index_python', 'builtin_interfaces', 'diagnostic_msgs', 'geometry_msgs', 'launch',
       'launch_ros', 'lifecycle_msgs', 'liedyn_interfaces', 'nav_msgs', 'rcl_interfaces', 'rclpy',
       'rosgraph_msgs', 'sensor_msgs', 'std_msgs', 'std_srvs', 'tf2_msgs', 'tf2_ros',
       'trajectory_msgs', 'visualization_msgs')

SCRIPT = f"""
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
import sys


class NoRos(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in {ROS}:
            raise ImportError(f'{{name}} is blocked')


sys.meta_path.insert(0, NoRos())
try:
    import rclpy
except ImportError:
    pass
else:
    sys.exit('the block does not hold')

import liedyn_ros

root = Path(liedyn_ros.__path__[0])
for path in sorted(root.rglob('*.py')):
    parts = path.relative_to(root).with_suffix('').parts
    if parts[0] not in {(*WITH_ROS, 'commands', 'studies', 'view')}:
        try:
            import_module('.'.join(('liedyn_ros', *parts)).removesuffix('.__init__'))
        except ModuleNotFoundError as error:  # of its classes one module makes others
            if error.name != 'crocoddyl':
                raise

import numpy as np
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import load_model
from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import leg_lengths, load_geometry, PoseSolver

geometry = load_geometry(config_file('stewart_geometry.yaml'))
home = np.eye(4)
home[2, 3] = 0.5
solution = PoseSolver(geometry).solve(leg_lengths(geometry, home), home)
assert solution.converged and np.allclose(solution.pose, home)

model = load_model(config_file('aerial_manipulator.yaml'))
dynamics, rng = Dynamics(model), np.random.default_rng(0)
q, v, a = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
assert np.allclose(dynamics.forward(q, v, dynamics.inverse(q, v, a)), a)
"""


@cache
def imports(path):
    """Return the full names of the modules that a file imports, at its top or inside functions."""
    names = []
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}: expected absolute imports'
            names += [f'{node.module}.{alias.name}' for alias in node.names]
    return names


def test_core_runs_with_every_ros_module_blocked():
    result = forked.run('-c', SCRIPT, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_part_of_the_package_has_its_layer():
    parts = {path.stem for path in PACKAGE.iterdir()
             if path.suffix == '.py' or (path / '__init__.py').exists()}
    assert parts - {'__init__'} == set(LAYERS)


def test_the_table_of_layers_points_one_way():
    parts = list(LAYERS)
    for part in parts:
        assert allowed(part) - {part} <= set(parts[:parts.index(part)])


@pytest.mark.parametrize('part', LAYERS)
def test_imports_point_one_way(part):
    alone = PACKAGE / f'{part}.py'
    for path in [alone] if alone.exists() else sorted((PACKAGE / part).rglob('*.py')):
        for name in imports(path):
            top, _, inner = name.partition('.')
            assert top not in ROS or part in WITH_ROS, f'{path} imports {name}'
            assert top != 'liedyn_ros' or inner.split('.')[0] in allowed(part), (
                f'{path} imports {name}')


@cache
def module_of(name):
    """Return the file or the folder of the repository that has an imported name."""
    module = ROOT.joinpath(*name.split('.'))
    while module != ROOT and not module.is_dir():
        if module.with_suffix('.py').exists():
            return module.with_suffix('.py')
        module = module.parent
    return module


def modules_imported():
    """Return the modules and folders that each module imports, those of exports left out."""
    return {path: {module_of(name) for name in imports(path)} - {ROOT}
            for part in (PACKAGE, ROOT / 'tools') for path in part.rglob('*.py')
            if path.name != '__init__.py'}


@pytest.mark.full
def test_no_modules_import_in_a_circle():
    """Imports inside functions count."""
    TopologicalSorter(modules_imported()).prepare()  # raises CycleError


@pytest.mark.full
@pytest.mark.parametrize('part', ['dynamics', 'stewart', 'nodes/stewart'])
def test_no_two_folders_import_each_other(part):
    found = {}
    for path, modules in modules_imported().items():
        found.setdefault(path.parent, set()).update(
            module if module.is_dir() else module.parent for module in modules)
    mutual = {(a.relative_to(PACKAGE), b.relative_to(PACKAGE))
              for a, others in found.items() for b in others - {a}
              if a in found.get(b, ()) and a.is_relative_to(PACKAGE / part)}
    assert mutual == set()


def test_the_architecture_lists_the_layers_in_their_order():
    page = (ROOT / 'docs' / 'architecture.md').read_text(encoding='utf-8')
    assert re.findall(r'^\| `(\w+)` \|', page, re.MULTILINE) == list(LAYERS)
