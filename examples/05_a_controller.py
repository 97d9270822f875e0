# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A controller: computed torque at 1 kHz, in Python, and in C where libliedyn is built.

The argument, if there is one, is the path of libliedyn.so.
"""

import ctypes
from pathlib import Path
import sys

import numpy as np

import liedyn_ros as ld
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import runge_kutta_munthe_kaas
from liedyn_ros.export import write_model
from liedyn_ros.pictures import beside_machine, legend_above, RIGHT_COLOR, save, WRONG_COLOR

STEP, STEPS = 1e-3, 1500  # s
STIFFNESS, DAMPING = 100.0, 20.0  # 1/s^2, 1/s

arm = ld.load(config_file('arm.urdf'))  # or the path of your URDF
joints = np.ones(arm.model.nv)


def wanted(time):
    """Return positions, velocities and accelerations at a time, s."""
    return (joints * (0.3 + 0.2 * np.sin(3.0 * time)), joints * 0.6 * np.cos(3.0 * time),
            joints * -1.8 * np.sin(3.0 * time))


def library(path):
    """Return inverse dynamics of libliedyn: a function of q, v and a."""
    write_model(Path('robot.liedyn'), arm.model)
    c, name = ctypes.CDLL(path), b'robot.liedyn'
    c.liedyn_work.restype = ctypes.c_size_t
    size, model = ctypes.c_size_t(), ctypes.c_void_p()
    c.liedyn_file_size(name, ctypes.byref(size))
    kept = [room(size.value)]
    code = c.liedyn_load(name, pointer(kept[0]), size, ctypes.byref(model))
    size = ctypes.c_size_t(c.liedyn_work(model, 0))
    kept.append(room(size.value))
    if code or c.liedyn_init(model, 0, pointer(kept[1]), size):
        raise SystemExit('libliedyn and this package are of different versions')

    def inverse(*state):
        """Return the efforts (nv,)."""
        inputs, tau = np.ascontiguousarray(state), np.empty_like(joints)
        code = c.liedyn_inverse(model, pointer(kept[1]), *map(pointer, inputs), None, pointer(tau))
        return np.full_like(tau, np.nan) if code else tau
    return inverse


def room(count):
    """Return bytes that start at a multiple of 64."""
    whole = np.zeros(count + 64, dtype=np.uint8)
    return whole[-whole.ctypes.data % 64:]


def pointer(array):
    """Return where an array begins."""
    return ctypes.c_void_p(array.ctypes.data)


def follow(command):
    """Return the largest error of the joints, mrad, at each step; they start 50 mrad off."""
    q, v = wanted(0.0)[:2]
    q, errors = q - 0.05, []
    for k in range(STEPS):
        wanted_q, wanted_v, wanted_a = wanted(k * STEP)
        errors.append(1e3 * np.abs(wanted_q - q).max())
        feedback = STIFFNESS * (wanted_q - q) + DAMPING * (wanted_v - v)
        q, v = runge_kutta_munthe_kaas.step(arm, q, v, STEP, command(q, v, wanted_a, feedback))
    return np.array(errors)


def hold(q, v, a, feedback):
    """Return what holds the arm, and feedback that knows masses at rest alone."""
    return arm.gravity_vector(q) + arm.mass_matrix(0.3 * joints).diagonal() * feedback


runs = {'gravity and feedback': (WRONG_COLOR, hold),
        'computed torque': (RIGHT_COLOR,
                            lambda q, v, a, feedback: arm.inverse(q, v, a + feedback))}
if len(sys.argv) > 1:
    in_c = library(sys.argv[1])
    runs['computed torque in C'] = '#e69f00', lambda q, v, a, feedback: in_c(q, v, a + feedback)
figure, _, axes = beside_machine(arm.model, wanted(0.0)[0])
for name, (color, command) in runs.items():
    errors = follow(command)
    axes.semilogy(STEP * np.arange(STEPS), errors, '--' if 'C' in name else '-', color=color,
                  label=name)
    print(f'{name}: {errors[STEPS // 2:].max():.3g} mrad off after {STEP * STEPS / 2:g} s')
axes.set(xlabel='time, s', ylabel='largest joint error, mrad')
legend_above(axes, 2)
save(figure, Path('05_a_controller.png'))
