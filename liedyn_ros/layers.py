# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The one table of layers: which parts of the package each part may import.

A part is a module or a folder of the package. Arrows point down: no part imports one that stands
after it. The test of imports reads this table, docs/architecture.md lists its parts, and the build
of kernels refuses a kernel that reaches beyond it.
"""

SHARED_PARTS = ('layers', 'common')  # every part may import them
# Part: its content, and the further parts that it may import.
LAYERS: dict[str, tuple[str, tuple[str, ...]]] = {
    'layers': ('this table', ()),
    'common': ('errors, checks, stamps, files, processes: what serves all parts', ()),
    'jit': ('how kernels are written and called', ()),
    'linear_algebra': ('small dense factorizations, as kernels', ('jit',)),
    'lie': ('SO(3) and SE(3): kernels on tuples, array functions, values', ('jit',)),
    'model': ('one description of a machine; its files in `model/io`',
              ('jit', 'linear_algebra', 'lie')),
    'dynamics': ('algorithms on models', ('jit', 'linear_algebra', 'lie', 'model')),
    'robot': ('the front door: from a file to its dynamics', ('jit', 'lie', 'model', 'dynamics')),
    'control': ('feedback on SE(3) and joints, actuators that lag, robots in MuJoCo',
                ('jit', 'lie', 'model', 'dynamics')),
    'identification': ('inertial parameters, payloads, geometry: from recordings and poses',
                       ('jit', 'lie', 'model', 'dynamics')),
    'recordings': ('recordings of machines: bags, CSV and Parquet into arrays',
                   ('jit', 'lie', 'model', 'dynamics')),
    'stewart': ('the Stewart platform',
                ('jit', 'linear_algebra', 'lie', 'model', 'dynamics', 'control',
                 'identification')),
    'retiming': ('the fastest run along a path within the limits of motors',
                 ('jit', 'lie', 'model', 'dynamics', 'control', 'stewart')),
    'aerial': ('the aerial manipulator: vehicle, reference, simulation',
               ('jit', 'linear_algebra', 'lie', 'model', 'dynamics', 'control')),
    'export': ('model files and objects of the C library `libliedyn`',
               ('jit', 'linear_algebra', 'lie', 'model', 'dynamics', 'control', 'stewart')),
    'build': ('how kernels are built, by numba: no other part imports it',
              ('jit', 'linear_algebra', 'lie', 'model', 'dynamics', 'control', 'stewart',
               'export')),
    'view_state': ('what a view shows, as plain numbers',
                   ('jit', 'lie', 'model', 'dynamics', 'stewart')),
    'ros': ('what all nodes share', ('jit', 'lie', 'model', 'dynamics')),
    'nodes': ('the ROS 2 nodes, one folder a family',
              ('jit', 'lie', 'model', 'dynamics', 'control', 'identification', 'stewart',
               'retiming', 'aerial', 'view_state', 'ros')),
    'pictures': ('how pictures look and are saved; machines in space on paper',
                 ('jit', 'lie', 'model', 'dynamics', 'stewart')),
    'view': ('the live view in a browser',
             ('jit', 'lie', 'model', 'dynamics', 'stewart', 'view_state', 'ros', 'nodes')),
    'commands': ('commands for users of a robot',
                 ('pictures', 'view_state', 'view', 'jit', 'lie', 'model', 'dynamics', 'robot',
                  'identification', 'recordings', 'stewart', 'retiming')),
    'studies': ("the papers' experiments, repeated",
                ('pictures', 'view_state', 'view', 'jit', 'lie', 'model', 'dynamics', 'control',
                 'stewart', 'aerial', 'commands')),
    'bags': ('topics into a bag and back',
             ('jit', 'lie', 'model', 'dynamics', 'recordings', 'commands')),
    'demo': ('what `make demo` runs',
             ('pictures', 'jit', 'lie', 'model', 'dynamics', 'control', 'stewart', 'aerial',
              'ros', 'nodes', 'view')),
    '__main__': ('`python -m liedyn_ros`, which is the command `liedyn`', ('commands',)),
}
WITH_ROS = ('ros', 'nodes', 'bags', 'demo')  # the only parts that import ROS


def allowed(part: str) -> frozenset[str]:
    """Return the parts that modules of a part may import, itself included."""
    return frozenset((part, *LAYERS[part][1], *(() if part in SHARED_PARTS else SHARED_PARTS)))
