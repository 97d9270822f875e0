# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write the documents of the nodes' parameters from where the parameters are declared.

    python -m tools.parameter_documents

rewrites the tables of docs/tables, which the site shows on the page of their node, and the
parameter files of config/. Parameters that several nodes share are on docs/nodes/README.md.
"""

from collections.abc import Mapping, Sequence
import csv
import io
from pathlib import Path
import re
import textwrap

from tools.command_line import no_arguments
import yaml

from liedyn_ros.nodes.aerial import parameters as aerial
from liedyn_ros.nodes.dynamics.parameters import (
    DYNAMICS_SERVER, MODEL_PARAMETERS, MUJOCO_SIMULATOR)
from liedyn_ros.nodes.loops.parameters import LOOP_STATE_PUBLISHER
from liedyn_ros.nodes.path_runner.parameters import PATH_RUNNER
from liedyn_ros.nodes.stewart import parameters as stewart
from liedyn_ros.nodes.view.parameters import VIEW
from liedyn_ros.ros.node.lifecycle import OF_ALL_NODES
from liedyn_ros.ros.parameters.parameter_set import Parameter

ROOT = Path(__file__).resolve().parents[1]
PAGES, TABLES, CONFIG = ROOT / 'docs' / 'nodes', ROOT / 'docs' / 'tables', ROOT / 'config'
MAX_DEFAULT = 50  # characters of a default in a table
TABLE = re.compile(r'(<!-- parameters: ([^>]+) -->\n).*?(<!-- end -->)', re.DOTALL)

STEWART_NODES: Mapping[str, Sequence[Parameter]] = {
    'stewart_pose': (*OF_ALL_NODES, *stewart.POSE_PARAMETERS),
    'stewart_simulator': (*OF_ALL_NODES, *stewart.PLATFORM_SIMULATOR),
    'stewart_dynamics_simulator': (*OF_ALL_NODES, *stewart.DYNAMICS_SIMULATOR),
    'stewart_controller': (*OF_ALL_NODES, *stewart.PLATFORM_CONTROLLER),
}
AERIAL_NODES: Mapping[str, Sequence[Parameter]] = {
    'aerial_manipulator_simulator': (*OF_ALL_NODES, *aerial.SIMULATOR_PARAMETERS),
    'aerial_manipulator_controller': (*OF_ALL_NODES, *aerial.CONTROLLER_PARAMETERS),
}
SERVER: Mapping[str, Sequence[Parameter]] = {
    'dynamics_server': (*OF_ALL_NODES, *DYNAMICS_SERVER),
    'mujoco_simulator': (*OF_ALL_NODES, *MUJOCO_SIMULATOR)}
LOOPS: Mapping[str, Sequence[Parameter]] = {
    'loop_state_publisher': (*OF_ALL_NODES, *LOOP_STATE_PUBLISHER)}
RUNNER: Mapping[str, Sequence[Parameter]] = {'path_runner': (*OF_ALL_NODES, *PATH_RUNNER)}
VIEWS: Mapping[str, Sequence[Parameter]] = {'view': (*OF_ALL_NODES, *VIEW)}
NODES = {**STEWART_NODES, **SERVER, **LOOPS, **RUNNER, **AERIAL_NODES, **VIEWS}
SHARED: Mapping[str, Sequence[Parameter]] = {  # groups that several nodes have
    'all nodes': OF_ALL_NODES, 'nodes of platforms': stewart.PLATFORM_PARAMETERS,
    'nodes with a model': MODEL_PARAMETERS,
    "the aerial manipulator's nodes": aerial.MACHINE_PARAMETERS}


def page_of(node: str) -> Path:
    """Return the path of a node's contract page."""
    return PAGES / f'{node}.md'


def with_tables(text: str) -> str:
    """Return a text with each table between its markers as the code has it."""
    return TABLE.sub(lambda m: f'{m[1]}{_table(m[2])}\n{m[3]}', text)


def _table(name: str) -> str:
    """Return the link to a table of parameters, after those that a node shares."""
    link = f'[Parameters of {name}](../tables/{_file_of(name)})'
    groups = ', '.join(f'[{group}](README.md#parameters-of-{_anchor(group)})'
                       for group in SHARED if name not in SHARED and _has(name, group))
    return f'Those of {groups}, and:\n\n{link}' if groups else link


def _has(node: str, group: str) -> bool:
    return {parameter.name for parameter in SHARED[group]} <= {
        parameter.name for parameter in NODES[node]}


def _file_of(name: str) -> str:
    return f'parameters_{_anchor(name).replace("-", "_")}.csv'


def parameter_tables() -> Mapping[Path, str]:
    """Return the text of each table: of a shared group, or of a node's own parameters."""
    own = {node: [parameter for parameter in parameters if not any(
        parameter in SHARED[group] for group in SHARED if _has(node, group))]
        for node, parameters in NODES.items()}
    return {TABLES / _file_of(name): _rows(parameters)
            for name, parameters in (*SHARED.items(), *own.items())}


def _rows(parameters: Sequence[Parameter]) -> str:
    """Return the parameters as a table; those that may change at run time have a star."""
    text = io.StringIO(newline='')
    table = csv.writer(text, lineterminator='\n')
    table.writerow(('parameter', 'default', 'meaning'))
    for p in parameters:
        unit = f' {p.unit}' if p.unit else ''
        allowed = f'; {p.range_text}' if p.range_text != 'any' else ''
        default = '[...]' if len(repr(p.default)) > MAX_DEFAULT else repr(p.default)
        table.writerow((f'`{p.name}`{"*" * p.run_time}', f'`{default}`{unit}',
                        f'{p.description}{allowed}'))
    return text.getvalue()


def _anchor(group: str) -> str:
    return group.replace("'", '').replace(' ', '-')


def parameter_files() -> Mapping[Path, str]:
    """Return the text of each parameter file: every parameter, at its default."""
    return {
        CONFIG / 'stewart.yaml': _file(
            'Stewart nodes', STEWART_NODES, (*OF_ALL_NODES, *stewart.PLATFORM_PARAMETERS),
            'All nodes: the platform and its actuators.'),
        CONFIG / 'dynamics_server.yaml': _file(
            'dynamics server and of a simulator', SERVER, (*OF_ALL_NODES, *MODEL_PARAMETERS),
            'Both nodes: the robot.'),
        CONFIG / 'loop_state_publisher.yaml': _file('loop state publisher', LOOPS),
        CONFIG / 'path_runner.yaml': _file('node that runs paths', RUNNER),
        CONFIG / 'view.yaml': _file('view', VIEWS),
        CONFIG / 'aerial_manipulator_nodes.yaml': _file(
            "aerial manipulator's nodes", AERIAL_NODES,
            (*OF_ALL_NODES, *aerial.MACHINE_PARAMETERS),
            'All nodes; the model file is also the one that dynamics_server serves.')}


def _file(whose: str, nodes: Mapping[str, Sequence[Parameter]],
          shared: Sequence[Parameter] = (), about_shared: str = '') -> str:
    blocks = [f'# Every parameter of the {whose} at its default, in any namespace.\n'
              '# Written by python -m tools.parameter_documents.\n']
    if shared:
        blocks.append(f'# {about_shared}\n' + _block('/**', shared))
    for node, parameters in nodes.items():
        own = [each for each in parameters if each.name not in {one.name for one in shared}]
        title = f'# {node} alone.\n' if shared else ''
        blocks.append(title + _block(f'/**/{node}', own))
    return '\n'.join(blocks)


def _block(key: str, parameters: Sequence[Parameter]) -> str:
    entries = '\n'.join(_entry(parameter) for parameter in parameters)
    return f'{key}:\n  ros__parameters:\n{textwrap.indent(entries, " " * 4)}\n'


def _entry(parameter: Parameter) -> str:
    unit = f' [{parameter.unit}]' if parameter.unit else ''
    allowed = f' ({parameter.range_text})' if parameter.range_text != 'any' else ''
    comment = textwrap.fill(f'{parameter.description}{unit}{allowed}', 90,
                            initial_indent='# ', subsequent_indent='# ')
    value = yaml.safe_dump([parameter.default], default_flow_style=True).strip()[1:-1]
    return f'{comment}\n{parameter.name}: {value}'


if __name__ == '__main__':
    no_arguments(__doc__)
    for name in ('README', *NODES):
        page = page_of(name)
        page.write_text(with_tables(page.read_text(encoding='utf-8')), encoding='utf-8')
    for path, text in (*parameter_files().items(), *parameter_tables().items()):
        path.write_text(text, encoding='utf-8')
