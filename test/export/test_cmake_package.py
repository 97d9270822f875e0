# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The installed library, as another project finds it."""

from importlib import metadata
import os
from pathlib import Path
import shutil
import subprocess
import sys

import numpy as np
import pytest
from support.c_library.c_library import HOST, installed, project, require_tools, ROOT, run
from support.machines.example_robots import example_robot

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, ConstrainedDynamics, TaskSpace)
from liedyn_ros.export import write_loops, write_model, write_platform
from liedyn_ros.model import load_model
from liedyn_ros.stewart import load_geometry

pytestmark = pytest.mark.full


@pytest.fixture(scope='module')
def prefix():
    """Return the folder into which the library is installed."""
    return installed()


def eigen():
    """Return the folder of Eigen's package files, or skip the test without its wheel."""
    try:
        wheel = metadata.distribution('cmeel-eigen')
    except metadata.PackageNotFoundError:
        pytest.skip('needs the cmeel-eigen wheel (pip install cmeel-eigen)')
    return Path(str(wheel.locate_file('cmeel.prefix')))


@pytest.fixture(scope='module')
def examples(prefix):
    """Return the folder of the examples in C++, another project that finds the library."""
    require_tools('g++')
    return project(ROOT / 'examples', f'-DCMAKE_PREFIX_PATH={prefix};{eigen()}')


def test_the_library_exports_what_the_header_declares(prefix):
    require_tools('nm')
    lines = run('nm', '-D', '--defined-only', prefix / 'lib' / 'libliedyn.so').splitlines()
    exported = {line.split()[-1] for line in lines}
    header = (prefix / 'include' / 'liedyn.h').read_text()
    assert exported and all(f'{name}(' in header for name in exported)
    assert os.readlink(prefix / 'lib' / 'libliedyn.so') == 'libliedyn.so.0'


def test_another_project_finds_it_by_cmake_and_controls_a_robot(examples, tmp_path):
    write_model(tmp_path / 'ur5.liedyn', load_model(
        example_robot('ur_description/urdf/ur5_robot.urdf')))
    printed = run(examples / 'computed_torque', tmp_path / 'ur5.liedyn', 0.5)
    first = printed.splitlines()[0].split()
    assert first[:2] == ['largest', 'error'] and float(first[2]) < 1e-3


TASKS = r"""
#include <cstdio>
#include <cstdlib>
#include "liedyn.hpp"

int main(int, char **arguments) {
  const liedyn::Model model(arguments[1]);
  liedyn::Work work(model);
  const liedyn::Vector q = liedyn::Vector::Constant(model.nq(), 0.3);
  const liedyn::Vector v = liedyn::Vector::Constant(model.nv(), 0.1), tau = 0.0 * v;
  liedyn::Jacobian rows;
  work.frame_jacobian(q, std::atoi(arguments[2]), LIEDYN_LOCAL_WORLD_ALIGNED, rows);
  liedyn::Vector a(model.nv()), sizes(6);
  liedyn::Matrix response, mobility, inertia, directions;
  work.task_space(q, v, tau, 6, rows, a, response, mobility, inertia, directions, sizes);
  for (int i = 0; i < 36; ++i) std::printf("%a\n", inertia.data()[i]);
}
"""


LOOPS = r"""
#include <cstdio>
#include "liedyn_loops.hpp"

int main(int, char **arguments) {
  const liedyn::Loops loops(arguments[1]);
  liedyn::LoopsWork work(loops);
  liedyn::Vector q(4), v(4), a(4), tau(4);
  q << 2.0, -1.4, 1.2, 1.4;
  v << 0.5, 0.0, -0.3, 0.0;
  tau << 1.0, 0.0, -2.0, 0.0;
  const unsigned char held[] = {1, 0, 1, 0};
  work.assemble(q, 1, false, held);
  work.complete_velocity(q, v);
  work.forward(q, v, tau, a);
  for (const auto &each : {q, v, a})
    for (int i = 0; i < 4; ++i) std::printf("%a\n", each[i]);
}
"""


def printed(prefix, folder, text, *arguments):
    """Return the numbers that a program in C++ with the library prints."""
    require_tools('g++')
    (folder / 'main.cpp').write_text(text)
    run('g++', '-std=c++17', '-Wall', '-Werror', '-I', prefix / 'include', '-isystem',
        eigen() / 'include' / 'eigen3', folder / 'main.cpp', '-L', prefix / 'lib', '-lliedyn',
        f'-Wl,-rpath,{prefix / "lib"}', '-o', folder / 'main')
    return [float.fromhex(word) for word in run(folder / 'main', *arguments).split()]


def test_task_space_in_eigen_has_the_bits_of_python(prefix, tmp_path):
    model = load_model(example_robot('ur_description/urdf/ur5_robot.urdf'))
    write_model(tmp_path / 'ur5.liedyn', model)
    found = printed(prefix, tmp_path, TASKS, tmp_path / 'ur5.liedyn', model.frame_index('tool0'))
    at = TaskSpace(Dynamics(model), 'tool0')(np.full(model.nq, 0.3), np.full(model.nv, 0.1))
    assert np.array_equal(np.reshape(found, (6, 6)), at.inertia)


def test_loops_in_eigen_are_those_of_python(prefix, tmp_path):
    model = load_model(config_file('five_bar.yaml'))
    write_loops(tmp_path / 'loops.liedyn', model)
    found = np.reshape(printed(prefix, tmp_path, LOOPS, tmp_path / 'loops.liedyn'), (3, 4))
    robot = ConstrainedDynamics(model)
    q = assemble(robot, [2.0, -1.4, 1.2, 1.4], held={
        'left_crank_joint': 2.0, 'right_crank_joint': 1.2})
    v = complete_velocity(robot, q, [0.5, 0.0, -0.3, 0.0])
    np.testing.assert_allclose(
        found, [q, v, robot.forward(q, v, [1.0, 0.0, -2.0, 0.0])], rtol=1e-12, atol=1e-12)


def test_a_package_with_the_library_is_found_as_well(prefix, tmp_path):
    require_tools('g++')
    run('env', f'LIEDYN_LIBRARY={prefix}', 'PYTHONWARNINGS=ignore', 'sh', '-c',
        f'cd {ROOT.parent} && {sys.executable} setup.py -q install_data '
        f'--install-dir={tmp_path / "install"}')
    run('cmake', '-S', ROOT / 'examples', '-B', tmp_path / 'build',
        f'-DCMAKE_PREFIX_PATH={tmp_path / "install"};{eigen()}')
    cache = (tmp_path / 'build' / 'CMakeCache.txt').read_text()
    assert f'liedyn_DIR:PATH={tmp_path / "install"}' in cache
    run('cmake', '--build', tmp_path / 'build', '--target', 'computed_torque')
    run(tmp_path / 'build' / 'computed_torque', tmp_path / 'none', 1, code=1)


@HOST
@pytest.mark.parametrize('processor, machine', [('x86_64', 62), ('aarch64', 183)])
def test_an_installed_copy_builds_for_either_processor(prefix, tmp_path, processor, machine):
    compiler = 'gcc' if processor == 'x86_64' else 'aarch64-linux-gnu-gcc'
    require_tools(compiler)
    run('cmake', '-S', prefix / 'share' / 'liedyn' / 'source', '-B', tmp_path,
        '-DPython3_EXECUTABLE=none', '-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_SYSTEM_NAME=Linux',
        f'-DCMAKE_SYSTEM_PROCESSOR={processor}', f'-DCMAKE_C_COMPILER={compiler}')
    run('cmake', '--build', tmp_path)
    assert (tmp_path / 'libliedyn.so').read_bytes()[18] == machine  # of the ELF header


def test_the_pose_of_a_platform_is_followed_and_proved(examples, tmp_path):
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    write_platform(tmp_path / 'platform.liedyn', geometry, length_bound=1e-5, joint_bound=1e-5)
    printed = run(examples / 'platform_pose', tmp_path / 'platform.liedyn', 0.5, 1000)
    words = printed.split()
    assert words[:2] == ['largest', 'error'] and float(words[2].strip(',')) < 1e-12
    assert '1000 of 1000 proved' in printed and 'force of leg_1: ' in printed


def test_the_example_names_what_is_wrong(examples, tmp_path):
    done = subprocess.run([examples / 'computed_torque', tmp_path / 'none', '1'],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and str(tmp_path / 'none') in done.stderr


def test_another_project_finds_it_by_pkg_config_where_a_wheel_puts_it(prefix, tmp_path):
    require_tools('pkg-config')
    moved = tmp_path / 'moved'
    shutil.copytree(prefix, moved)
    (tmp_path / 'main.c').write_text(
        '#include <liedyn.h>\nint main(void) { return liedyn_processor() == NULL; }\n')
    flags = run('env', f'PKG_CONFIG_PATH={moved / "lib" / "pkgconfig"}', 'pkg-config',
                '--cflags', '--libs', 'liedyn').split()
    assert not any(str(prefix) in flag for flag in flags)
    run('gcc', tmp_path / 'main.c', *flags, '-o', tmp_path / 'main')
    run('env', f'LD_LIBRARY_PATH={moved / "lib"}', tmp_path / 'main')
