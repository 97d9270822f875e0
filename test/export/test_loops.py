# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Closed loops in the C library: the digits of Python, and what is refused."""

from concurrent.futures import ThreadPoolExecutor
import ctypes
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.c_library.c_library import built, HOST, require_tools, run, SANITIZERS, V2
from support.c_library.c_loop_answers import (
    answers_of_c, answers_of_python, random_states, State)
from support.c_library.comparison import answers, assert_near
from support.c_library.digits import PROCESSORS, program
from support.machines.loop_states import ALL
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import (
    assemble, assemblies, ConstrainedDynamics, LoopTracker)
from liedyn_ros.export import loops_bytes, model_bytes, write_loops
from liedyn_ros.export.command import main
from liedyn_ros.model import annotate, Limits, load_model

ORDER, STATES = 2, 10
# Codes of liedyn.h.
NOT_FINITE, OVERLAP, NULL, RANGE, WORK_AREA, DAMAGED, KIND, NOT_CONVERGED = (
    1, 5, 6, 7, 8, 14, 16, 19)
OPEN, UNMOVED, BROKEN, BLOCKED = 22, 23, 24, 26


def tolerance(name):
    """
    Return what a result may differ by, relative to its largest entry: nothing, by one kernel.

    Python completes velocities by singular values. Measured joints lead back to the state that
    they were taken from.
    """
    return 1e-13 if name == 'velocity' else 1e-10 if name.startswith('tracked') else 0.0


def assert_digits(command, tmp_path, name, count, seed):
    """Assert that the answers of a program are those of Python."""
    states, wanted = machine_states(name, count, seed)
    assert_near(answers_of_c(command, tmp_path, ALL[name], ORDER, states), wanted, tolerance)


@cache
def machine_states(name, count, seed):
    """Return states of a machine, and the answers of Python, which all processors must give."""
    dynamics = ConstrainedDynamics(ALL[name].model)
    states = random_states(dynamics, ALL[name].q, ORDER, count, seed)
    return states, answers_of_python(dynamics, states)


@HOST
@pytest.mark.parametrize('processor', PROCESSORS)
@pytest.mark.parametrize('name', ALL)
def test_loops_have_the_digits_of_python(tmp_path, name, processor):
    assert_digits(program('loops', processor), tmp_path, name, STATES, 1)


@pytest.fixture(scope='module')
def library():
    """Return the library, for calls by ctypes."""
    return ctypes.CDLL(str(built([], '-shared', '-fPIC')))


def aligned(count):
    """Return so many bytes at a multiple of 64."""
    buffer = np.zeros(count + 64, dtype=np.uint8)
    return buffer[-buffer.ctypes.data % 64:][:count]


class Machine:
    """The five-bar by ctypes."""

    def __init__(self, library, model=None):
        """Open its file, or that of another model, and prepare a work area."""
        self.library, self.model = library, model or load_model(config_file('five_bar.yaml'))
        content = loops_bytes(self.model, order=1)
        self.content = aligned(len(content))
        self.content[:] = np.frombuffer(content, dtype=np.uint8)
        loops = ctypes.c_void_p()
        assert library.liedyn_loops_open(
            ctypes.c_void_p(self.content.ctypes.data), ctypes.c_size_t(len(content)),
            ctypes.byref(loops)) == 0
        library.liedyn_loops_work.restype = ctypes.c_size_t
        self.loops = loops
        self.work = aligned(library.liedyn_loops_work(loops))
        assert library.liedyn_loops_init(
            loops, ctypes.c_void_p(self.work.ctypes.data), ctypes.c_size_t(len(self.work))) == 0

    def call(self, name, *arguments):
        """Return the code of a function, and why."""
        work = ctypes.c_void_p(self.work.ctypes.data)
        code = getattr(self.library, f'liedyn_loops_{name}')(self.loops, work, *(
            each if isinstance(each, int) else ctypes.c_void_p(
                None if each is None else each.ctypes.data) for each in arguments))
        text = ctypes.create_string_buffer(200)
        self.library.liedyn_loops_explain(self.loops, work, text, ctypes.c_size_t(200))
        return code, text.value.decode()


@HOST
def test_wrong_calls_have_a_code(library):
    machine = Machine(library)
    dynamics, nv = ConstrainedDynamics(machine.model), machine.model.nv
    q, v, out = assemble(dynamics), np.zeros(nv), np.zeros((2, nv))
    a = np.zeros((2, nv))
    assert machine.call('inverse', 1, q, v, a, None, out, None)[0] == 0
    np.testing.assert_allclose(out, dynamics.inverse(q, v, a).tau, atol=1e-12)
    assert machine.call('inverse', 2, q, v, a, None, out, None)[0] == RANGE
    assert machine.call('inverse', 0, q, v, None, None, out, None)[0] == NULL
    assert machine.call('inverse', 0, q + 0.1, v, a, None, out, None)[0] == OPEN
    assert machine.call('inverse', 0, q, v, a + 1.0, None, out, None)[0] == BROKEN
    assert machine.call('forward', 0, q, v, np.full(nv, np.nan), None, out, None) == (
        NOT_FINITE, 'tau[0]: an input has a NaN or an infinity, nan')
    none = np.zeros(nv, dtype=np.uint8)
    assert machine.call('complete_velocity', q, none, v.copy())[0] == UNMOVED
    tree = ctypes.c_void_p(machine.loops.value)
    work = ctypes.c_void_p(machine.work.ctypes.data)
    assert library.liedyn_gravity(tree, work, ctypes.c_void_p(q.ctypes.data),
                                  ctypes.c_void_p(out.ctypes.data)) == WORK_AREA


@HOST
def test_forces_are_those_of_a_solution_alone(library):
    machine = Machine(library)
    q, v = assemble(ConstrainedDynamics(machine.model)), np.zeros(machine.model.nv)
    a, out = np.zeros((2, machine.model.nv)), np.zeros((2, machine.model.nv))
    refused = RANGE, 'order: an order, a frame, axes or a flag is out of range, 0'
    assert machine.call('forces', 0, None, None) == refused
    for order in (1, 0):
        assert machine.call('inverse', order, q, v, a, None, out, None)[0] == 0
        assert [machine.call('forces', k, None, None)[0] for k in (0, 1)] == [
            0, 0 if order else RANGE]
    assert machine.call('inverse', 0, q + 0.1, v, a, None, out, None)[0] == OPEN
    assert machine.call('forces', 0, None, None) == refused


@HOST
def test_another_kind_of_file_has_a_code(library):
    machine, found = Machine(library), ctypes.c_void_p()
    assert library.liedyn_open(
        ctypes.c_void_p(machine.content.ctypes.data), ctypes.c_size_t(len(machine.content)),
        ctypes.byref(found)) == KIND
    machine.content[5000] ^= 1
    assert library.liedyn_loops_open(
        ctypes.c_void_p(machine.content.ctypes.data), ctypes.c_size_t(len(machine.content)),
        ctypes.byref(found)) == DAMAGED


@HOST
@pytest.mark.full
def test_sanitizers_find_nothing(tmp_path):
    assert_digits([built(['test/loops.c'], *SANITIZERS)], tmp_path, 'two loops', 1, 3)


@HOST
def test_a_tree_has_the_derivatives_of_its_hybrid_dynamics(tmp_path):
    model, order, rng = random_model(1, 6, True), 0, np.random.default_rng(1)
    nv, dynamics = model.nv, ConstrainedDynamics(model)
    states = [State(model.random(rng), rng.normal(size=nv), *rng.normal(size=(2, 1, nv)),
                    rng.normal(size=(1, len(model.bodies), 6)), np.ones(nv, dtype=bool),
                    rng.random(nv) < 0.5) for _ in range(3)]
    assert dynamics.m == 0
    write_loops(tmp_path / 'model.liedyn', model, order=order)
    assert_near(answers([built(['test/loops.c'])], tmp_path, states),
                answers_of_python(dynamics, states), tolerance)


@HOST
@pytest.mark.parametrize('name', ['two loops', 'helical', 'floating', 'side by side', 'springs'])
def test_damaged_files_are_refused_or_run(tmp_path, name):
    program, looped = built(['test/damaged.c']), ALL[name]
    write_loops(tmp_path / 'loops', looped.model, order=1)
    looped.q.tofile(tmp_path / 'q')
    printed = run(program, tmp_path / 'loops', 600, 1, tmp_path / 'q')
    assert 'checksum' in printed and 'done' in printed


@HOST
def test_threads_with_a_work_area_each_agree(library):
    machines = Machine(library), Machine(library)
    first, second = machines
    second.loops = first.loops  # one model for both
    assert library.liedyn_loops_init(second.loops, ctypes.c_void_p(second.work.ctypes.data),
                                     ctypes.c_size_t(len(second.work))) == 0
    q, nv = assemble(ConstrainedDynamics(first.model)), first.model.nv
    v, efforts = np.zeros(nv), np.random.default_rng(6).normal(size=(2000, 2, nv))

    def run(machine):
        found = np.empty_like(efforts)
        codes = {machine.call('forward', 1, q, v, tau, None, a, None)[0]
                 for tau, a in zip(efforts, found)}
        assert codes == {0}
        return found

    alone = run(first)
    with ThreadPoolExecutor(2) as threads:
        for found in threads.map(run, machines):
            np.testing.assert_array_equal(found, alone)


@HOST
def test_measured_joints_lead_the_others(library):
    machine = Machine(library)
    tracker = LoopTracker(ConstrainedDynamics(machine.model))
    start = assemble(ConstrainedDynamics(machine.model))
    at = [machine.model.joint(name).qi for name in tracker.measured]
    q, v = np.zeros(machine.model.nq), np.zeros(machine.model.nv)
    tracker.update(start[at])
    for positions in (start[at] + 0.1, start[at] - 0.3, start[at] + 0.2):
        assert machine.call('track', positions, np.ones(2), q, v, None)[0] == 0
        found = tracker.update(positions, np.ones(2))
        np.testing.assert_allclose(q, found.q, atol=1e-12)
        np.testing.assert_allclose(v, found.v, atol=1e-12)
    assert machine.call('track', start[at] + 3.0, None, q, None, None)[0] == BLOCKED
    assert machine.call('track', np.full(2, np.nan), None, q, None, None) == (
        NOT_FINITE, 'positions[0]: an input has a NaN or an infinity, nan')
    assert machine.call('track', start[at], None, q, v, None)[0] == NULL
    assert machine.call('restart', q + 1.0)[0] == OPEN
    assert machine.call('restart', start)[0] == 0
    assert machine.call('track', start[at], None, q, None, None)[0] == 0
    np.testing.assert_allclose(q, start, atol=1e-12)


@HOST
def test_loops_are_assembled_as_in_python(library):
    machine = Machine(library)
    dynamics, model = ConstrainedDynamics(machine.model), machine.model
    q, held = np.empty(model.nq), np.array([1, 0, 1, 0], dtype=np.uint8)
    cranks = {'left_crank_joint': 2.0, 'right_crank_joint': 1.0}
    start, report, found = np.array([2.0, 0.0, 1.0, 0.0]), np.empty(2), []
    for attempt in range(8):
        code, _ = machine.call('assemble', attempt, start, held, 0, q, report)
        if code == 0:
            assert report[0] <= 1e-9 and (q[[0, 2]] == start[[0, 2]]).all()
            assert dynamics.largest(dynamics.residual(q)) <= 1e-9
            found.append(np.exp(1j * q))
    wanted = assemblies(dynamics, start, held=cranks)
    assert len(wanted) == 2
    for each in wanted:  # both modes, whole turns aside
        assert min(np.abs(np.exp(1j * each) - other).max() for other in found) < 1e-9
    again = np.empty(model.nq)
    for out in (q, again):
        assert machine.call('assemble', 3, start, held, 0, out, None)[0] in (0, NOT_CONVERGED)
    np.testing.assert_array_equal(q, again)
    held[:] = 1
    code, why = machine.call('assemble', 0, start, held, 0, q, report)
    assert code == NOT_CONVERGED and why.startswith('tip/')
    np.testing.assert_array_equal(q, start)


@HOST
def test_wrong_calls_of_an_assembly_have_a_code(library):
    machine = Machine(library)
    q, nv = np.zeros(machine.model.nq), machine.model.nv
    assert machine.call('assemble', 0, q, None, 0, None, None)[0] == NULL
    assert machine.call('assemble', -1, q, None, 0, q, None)[0] == RANGE
    assert machine.call('assemble', 0, q, np.full(nv, 2, dtype=np.uint8), 0, q, None)[0] == RANGE
    longer = np.zeros(machine.model.nq + 1)
    assert machine.call('assemble', 0, longer[1:], None, 0, longer, None)[0] == OVERLAP
    assert machine.call('assemble', 0, q + np.nan, None, 0, q, None) == (
        NOT_FINITE, 'q_start[0]: an input has a NaN or an infinity, nan')


@HOST
def test_an_assembly_stays_within_limits(library):
    model = load_model(config_file('five_bar.yaml'))
    start = assemble(ConstrainedDynamics(model))
    most = start[0] - 0.3
    first, *rest = model.joint_list
    limited = replace(model, joint_list=(
        replace(first, type_name='revolute', limits=Limits(-3.0, most)), *rest))
    machine, q = Machine(library, limited), np.empty(model.nq)
    for attempt in range(6):
        code, _ = machine.call('assemble', attempt, start, None, 1, q, None)
        assert code in (0, NOT_CONVERGED) and q[0] <= most + 1e-15
        if attempt == 0:
            assert code == 0
            np.testing.assert_allclose(q, assemble(
                ConstrainedDynamics(limited), start, within_limits=True), atol=1e-7)


def test_measured_joints_that_do_not_decide_are_refused_where_named():
    model = load_model(config_file('five_bar.yaml'))
    with pytest.raises(LiedynError):
        loops_bytes(model, measured=[model.joints[0]])
    with refused(LiedynError, 'none', got='none'):
        loops_bytes(model, measured=['none'])


@HOST
@pytest.mark.full
def test_valgrind_finds_nothing(tmp_path):
    require_tools('valgrind')
    program = built(['test/loops.c'], '-g', *V2)
    assert_digits(['valgrind', '-q', '--leak-check=full', '--error-exitcode=9', program],
                  tmp_path, 'two loops', 1, 3)


def test_the_command_writes_loops_to_an_order(tmp_path, capsys):
    robot, output = config_file('five_bar.yaml'), tmp_path / 'loops.liedyn'
    assert main([str(robot), '-o', str(output), '--order', '1']) == 0
    assert output.read_bytes() == loops_bytes(load_model(robot), order=1)
    assert 'closed loops of <Model' in capsys.readouterr().out


def test_the_command_takes_loops_beside_a_urdf_and_a_start_in_words(tmp_path):
    robot, loops = config_file('linkage_leg.urdf'), config_file('linkage_leg_loops.yaml')
    output, model = tmp_path / 'loops.liedyn', annotate(load_model(robot), loops)
    given = [str(robot), '--loops', str(loops), '-o', str(output), '--start']
    assert main([*given, 'hip:=0.3', 'crank_joint:=0.4']) == 0
    start = model.rough_configuration('hip:=0.3 crank_joint:=0.4')
    assert output.read_bytes() == loops_bytes(model, start=start)
    assert main([*given, 'hip:=0.3 crank_joint:=0.4']) == 0
    assert output.read_bytes() == loops_bytes(model, start=start)


def test_wrong_models_and_orders_are_refused():
    model = load_model(config_file('five_bar.yaml'))
    with refused(LimitError, 'order', got=31):
        loops_bytes(model, order=31)
    with refused(LiedynError, 'order'):
        loops_bytes(model, order=1.5)
    with refused(LiedynError, 'model'):
        loops_bytes('robot.urdf')
    assert loops_bytes(model, order=0) != model_bytes(model, tree=True)
