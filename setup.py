# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

import os
from pathlib import Path
import subprocess
import sys

from setuptools import Distribution, find_namespace_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.develop import develop
from setuptools.errors import CompileError

NAME = 'liedyn_ros'
SHARE = f'share/{NAME}'


def files(folder):
    """Return the files of a folder, relative to this one."""
    return sorted(str(path) for path in Path(folder).glob('*') if path.is_file())


def relative(name, default):
    """Return the folder that a variable names, as colcon takes it: relative to this one."""
    return Path(os.path.relpath(os.environ.get(name, default)))


def library():
    """
    Return the files of libliedyn by folder, from where CMake installed it; none if it did not.

    LIEDYN_LIBRARY names that prefix, by default out/libliedyn/prefix.
    """
    prefix = relative('LIEDYN_LIBRARY', 'out/libliedyn/prefix')
    found = {}
    for path in sorted(prefix.rglob('*')):
        if path.is_file():
            found.setdefault(str(path.parent.relative_to(prefix)), []).append(str(path))
    return sorted(found.items())


class BuildWithKernels(build_py):
    """Build the compiled kernels, too; LIEDYN_PROCESSORS names kinds of processors."""

    def run(self):
        """Copy the sources, then build; in a tree of sources that stays where it is, there."""
        super().run()
        root = Path(__file__).resolve().parent
        package = root if getattr(self, 'editable_mode', False) else Path(self.build_lib).resolve()
        build_kernels(root, package / NAME / 'jit')


class DevelopWithKernels(develop):
    """Build the compiled kernels in the tree of sources, as colcon's symlink install does."""

    def run(self):
        """Install links, then build."""
        super().run()
        root = Path(__file__).resolve().parent
        build_kernels(root, root / NAME / 'jit')


class WithKernels(Distribution):
    """A package with compiled code."""

    def has_ext_modules(self):
        """Return that wheels are for one Python and one platform."""
        return True


def build_kernels(root, folder):
    """Run the build of kernels in a process of its own, for it needs its variables early."""
    processors = os.environ.get('LIEDYN_PROCESSORS', '').split()
    path = os.pathsep.join(filter(None, (str(root), os.environ.get('PYTHONPATH'))))
    done = subprocess.run(
        [sys.executable, '-m', f'{NAME}.build', '--into', str(folder),
         *(['--processors', *processors] if processors else [])],
        check=False, env={**os.environ, 'PYTHONPATH': path})
    if done.returncode != 0:
        raise CompileError(f'{NAME}: the kernels were not built; see above')


def warn_of_missing_interfaces():
    """Say how to build the nested package where a ROS 2 build of this one does not find it."""
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    marker = 'share/ament_index/resource_index/packages/liedyn_interfaces'
    if prefixes != [''] and not any(Path(prefix, marker).exists() for prefix in prefixes):
        print('liedyn_ros: the nodes need liedyn_interfaces, which colcon does not find by '
              'itself; build both: colcon build --base-paths src '
              'src/liedyn_ros/liedyn_interfaces', file=sys.stderr)


warn_of_missing_interfaces()
setup(
    name=NAME,
    version='0.1.0',
    packages=find_namespace_packages(  # folders without names of their own have no __init__.py
        include=[NAME, f'{NAME}.*'],
        exclude=[f'{NAME}.build', f'{NAME}.jit.libraries*', '*.__pycache__']),
    package_data={NAME: ['py.typed'], f'{NAME}.jit': ['calls.c'],
                  f'{NAME}.model.io': ['vocabulary.txt']},
    cmdclass={'build_py': BuildWithKernels, 'develop': DevelopWithKernels},
    distclass=WithKernels,
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (SHARE, ['package.xml']),
        (f'{SHARE}/config', files('config')),
        (f'{SHARE}/config/gallery', files('config/gallery')),
        (f'{SHARE}/config/layouts', files('config/layouts')),
        (f'{SHARE}/config/policies', files('config/policies')),
        (f'{SHARE}/launch', files('launch')),
        (f'lib/{NAME}', [path for path in files('executables') if Path(path).is_symlink()]),
        *library(),
    ],
    python_requires='>=3.10',
    install_requires=[
        'numpy>=1.26,<3', 'PyYAML>=6.0.1,<7', 'scipy>=1.11.1,<2', 'transforms3d>=0.4.1'],
    extras_require={
        'bags': ['rosbags>=0.11,<1', 'mcap>=1.2,<2'],
        'completion': ['argcomplete>=3,<4'],
        'contacts': ['clarabel>=0.9,<1'],
        'identification': ['clarabel>=0.9,<1'], 'meshes': ['trimesh>=4,<6'],
        'mujoco': ['mujoco>=3.3,<5'],
        'parquet': ['pyarrow>=14'], 'plots': ['matplotlib>=3.6,<4'],
        'retiming': ['clarabel>=0.9,<1'], 'test': ['pytest'],
        'view': ['viser>=1,<2', 'pycollada>=0.8,<1'], 'xacro': ['xacro>=2,<3']},
    zip_safe=False,
    maintainer='The liedyn_ros authors',
    maintainer_email='maintainers@liedyn.example',
    description='Kinematics and dynamics of robots on Lie groups, with ROS 2 nodes',
    license='Apache-2.0',
    entry_points={'console_scripts': ['liedyn = liedyn_ros.commands.liedyn:main']},
)
