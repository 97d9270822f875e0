# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A payload is found as samples come, within its stated covariance, on trees and on loops."""

import json

import numpy as np
import pytest
from support.machines.looped_machines import five_bar
from support.machines.random_models import random_model
from support.recordings.bag_files import as_messages, START_NS, write_bag
from support.recordings.recorded_motion import arm_motion, coloured, JOINTS, loop_motion, true_arm
from support.refusals import refused

from liedyn_ros.commands.identification import payload as command
from liedyn_ros.common.errors import (
    LimitError, ModelError, NameSetError, NotFiniteError, ShapeError, StampError)
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.identification import (
    Payload, PayloadEstimator, PayloadStream, Regressor, with_payload)
from liedyn_ros.identification.payload.stream import MotionWindow
from liedyn_ros.model import ModelBuilder, SpatialInertia, to_urdf

TRUE = SpatialInertia(1.5, [0.02, -0.03, 0.1], np.diag([0.01, 0.012, 0.005])).parameters()
PLACE = np.eye(4)
PLACE[:3, 3] = 0.0, 0.05, 0.3


def with_tool():
    """Return the arm with a flange where the payload is."""
    builder = ModelBuilder.of(true_arm())
    builder.add_body('tool', None)
    builder.add_joint('tool_joint', 'fixed', 'fore', 'tool', placement=PLACE)
    return builder.build()


def fed(estimator, motion, noise=0.0):
    """Return an estimator that took a motion, its forces with noise."""
    time, *states, tau = motion
    for each in zip(time.tolist(), *states, tau + noise):
        estimator.take(*each)
    return estimator


@pytest.fixture(scope='module')
def loaded():
    """Return a motion of an arm that carries the payload."""
    arm = with_payload(true_arm(), 'fore', TRUE, placement=PLACE)
    return arm_motion(arm, 3, 30.0, 50.0)


def test_clean_samples_tell_the_payload(loaded):
    found = fed(PayloadEstimator(true_arm(), 'fore', placement=PLACE), loaded).estimate
    assert np.allclose(found.parameters, TRUE, atol=1e-9)
    assert found.mass == pytest.approx(1.5) and np.allclose(found.center_of_mass, TRUE[1:4] / 1.5)
    assert found.errors.max() < 1e-6


def test_samples_that_the_model_explains_exactly_tell_no_payload():
    arm = with_tool()
    dynamics, estimator = Dynamics(arm), PayloadEstimator(arm, 'tool')
    rng = np.random.default_rng(1)
    for k in range(300):
        q, (v, a) = arm.random(rng), rng.normal(size=(2, arm.nv))
        estimator.take(0.1 * k, q, v, a, dynamics.inverse(q, v, a))
    found = estimator.estimate
    assert not found.parameters.any() and not found.deviations[:4].any()


def test_a_model_with_a_payload_is_the_model_and_its_columns(loaded):
    """A second way to the same forces: the regressor of the model that carries it."""
    arm = with_payload(true_arm(), 'fore', TRUE, placement=PLACE)
    regressor = Regressor(arm)
    at = 10 * arm.bodies.index('payload')
    _, q, v, a, tau = (each[7] for each in loaded)
    rest = tau - Dynamics(true_arm()).inverse(q, v, a)
    assert np.allclose(regressor.torque(q, v, a)[:, at:at + 10] @ TRUE, rest, atol=1e-12)


@pytest.mark.full
def test_the_covariance_holds_with_coloured_noise(loaded):
    """In 40 trials, over all ten numbers; noise remembers 0.9 of its last sample."""
    errors = []
    for seed in range(40):
        noise = 0.1 * coloured(np.random.default_rng(seed), loaded[-1].shape, 0.9)
        found = fed(PayloadEstimator(true_arm(), 'fore', placement=PLACE), loaded, noise).estimate
        errors.append((found.parameters - TRUE) / found.deviations)
    nees = np.mean(np.square(errors), axis=0)
    assert 0.7 < nees.mean() < 1.5
    assert (np.abs(errors) < 2.0).mean() > 0.9


def test_offsets_are_told_from_the_payload(loaded):
    estimator = PayloadEstimator(true_arm(), 'fore', placement=PLACE, offsets=True)
    found = fed(estimator, loaded, np.array([0.3, -0.2, 0.5])).estimate
    assert np.allclose(found.parameters, TRUE, atol=1e-7)
    assert np.allclose(found.offsets, [0.3, -0.2, 0.5], atol=1e-7)
    estimator.reset()
    with refused(ShapeError, 'payload', expected=4):
        _ = estimator.estimate


def test_an_arm_at_rest_does_not_tell_the_inertia():
    arm, time = with_payload(true_arm(), 'fore', TRUE, placement=PLACE), np.arange(0.0, 6.0, 0.01)
    q, still = np.tile([0.1, 0.4, 0.5], (len(time), 1)), np.zeros((len(time), 3))
    tau = Dynamics(arm).inverse.batch(q, still, still)
    found = fed(PayloadEstimator(true_arm(), 'fore', placement=PLACE),
                (time, q, still, still, tau)).estimate
    assert np.isinf(found.deviations[4:]).all()
    upright = np.zeros_like(q)
    with refused(LimitError, 'payload'):
        _ = fed(PayloadEstimator(true_arm(), 'base'), (
            time, upright, still, still, Dynamics(true_arm()).inverse.batch(
                upright, still, still))).estimate


def test_a_machine_with_loops_tells_what_it_feels():
    model = five_bar()
    start = assemble(ConstrainedDynamics(model), held={'left_0_joint': 2.2, 'right_0_joint': 0.9})
    body = model.bodies[-1]
    motion = loop_motion(with_payload(model, body, TRUE), 3, 8.0, 50.0, start)
    estimator = fed(PayloadEstimator(model, body), motion)
    found = estimator.estimate
    told = np.isfinite(found.deviations)
    assert told.any() and np.allclose(found.parameters[told], TRUE[told], atol=1e-6)
    assert found.errors.max() < 1e-5


def test_a_window_differentiates_as_samples_come(loaded):
    time, q, v, _, tau = loaded
    window, found = MotionWindow(9), []
    uneven = time + 1e-3 * np.sin(np.arange(len(time)))
    for each in zip(uneven[:200].tolist(), *(
            np.array([np.interp(uneven[:200], time, row) for row in block.T]).T
            for block in (q, tau))):
        sample = window.take(*each)
        if sample is not None:
            found.append(sample)
    assert len(found) == 192 and found[0].time == uneven[4]
    for name, wanted, tolerance in (('q', q, 2e-3), ('v', v, 0.05), ('tau', tau, 0.05)):
        got = np.array([getattr(each, name) for each in found])
        assert np.abs(got - wanted[4:196]).max() < tolerance * np.abs(wanted).max()
    with refused(StampError, 'time'):
        window.take(uneven[199], q[0], tau[0])


def streamed(stream, motion, start_ns=START_NS, names=JOINTS):
    """Feed a stream a motion as joint states in another order."""
    time, q, _, _, tau = motion
    for k, row, forces in zip(np.round(1e9 * time).astype(int).tolist(), q, tau):
        stream.take(start_ns + k, names[::-1], row[::-1], forces[::-1])


def test_joint_states_tell_the_payload(loaded):
    """In any order of names, beside other joints, with angles that start over, and faster ones."""
    stream = PayloadStream(with_tool(), 'tool')
    time, q, *_, tau = loaded
    turned = np.where(time[:, None] > 11.0, q + 2.0 * np.pi, q)
    streamed(stream, (time, turned, None, None, tau))
    found = stream.estimate
    assert np.abs((found.parameters - TRUE) / np.maximum(np.abs(TRUE), 0.01)).max() < 0.05
    assert abs(found.mass - TRUE[0]) < 0.01 and stream.refused == 0
    assert stream.stamp_ns == START_NS + round(1e9 * time[-1])


def test_a_stream_uses_a_hundred_samples_a_second():
    arm = with_payload(true_arm(), 'fore', TRUE, placement=PLACE)
    fast = arm_motion(arm, 3, 6.0, 1000.0)
    stream = PayloadStream(with_tool(), 'tool')
    streamed(stream, fast)
    assert stream.estimator.samples == 600 - 20
    assert abs(stream.estimate.mass - TRUE[0]) < 0.01


def test_gaps_and_clocks_that_are_set_back_begin_again(loaded):
    stream = PayloadStream(with_tool(), 'tool')
    time, q, v, a, tau = (each[:400] for each in loaded)
    kept = (time < 3.0) | (time > 5.0)
    streamed(stream, (time[kept], q[kept], v, a, tau[kept]))
    assert stream.estimator.samples == kept.sum() - 2 * 20
    streamed(stream, (time, q, v, a, tau), START_NS - 60 * 10**9)
    assert stream.estimator.samples == 380 and stream.estimate.seconds < 8.0


@pytest.mark.parametrize(('change', 'error', 'named'), (
    ({'names': ['base_joint', 'elbow']}, NameSetError, 'shoulder'),
    ({'positions': [0.0, np.nan, 0.0]}, NotFiniteError, 'position'),
    ({'forces': []}, ShapeError, 'effort'), ({'stamp_ns': START_NS}, StampError, 'stamp')))
def test_refused_samples_are_counted_and_change_nothing(change, error, named):
    stream = PayloadStream(with_tool(), 'tool')
    good = {'names': list(JOINTS), 'positions': [0.0] * 3, 'forces': [1.0] * 3}
    stream.take(START_NS, **good)
    with refused(error, named):
        stream.take(**{'stamp_ns': START_NS + 10**7, **good, **change})
    assert (stream.refused, stream.stamp_ns) == (1, START_NS)


def test_a_floating_base_is_refused():
    with refused(ModelError, 'base_joint', 'spherical_0', 'planar_1'):
        PayloadStream(random_model(3, 3, True), random_model(3, 3, True).bodies[-1])


def test_the_command_writes_a_model_that_carries_the_payload(tmp_path, loaded, capsys):
    (tmp_path / 'arm.urdf').write_text(to_urdf(true_arm()))
    time, q, v, _, tau = loaded
    stamps = 10**18 + np.round(1e9 * time).astype(np.int64)
    kept = (time < 10.0) | (time > 12.0)  # a gap, as of a damaged bag
    bag = write_bag(tmp_path / 'bag', as_messages(
        JOINTS, *(each[kept] for each in (stamps, q, v, tau))))
    given = [str(tmp_path / 'arm.urdf'), str(bag), '--placement', '0,0.05,0.3', '--folder',
             str(tmp_path / 'out')]
    assert command.main([*given, '--body', 'fore']) == 0
    shown, page = capsys.readouterr().out, (tmp_path / 'out' / 'report.html').read_text()
    assert 'centre of mass' in shown
    for text in (shown, page):
        assert '1 gaps without samples, the longest 2.04 s at 9.98 s' in text
    assert page.count('<polyline') == 2 * len(JOINTS) and 'with the payload' in page
    numbers = json.loads((tmp_path / 'out' / 'payload.json').read_text())
    assert np.allclose(numbers['parameters'], TRUE, atol=0.01)
    loaded_arm = tmp_path / 'out' / 'with_payload.urdf'
    assert 'payload' in loaded_arm.read_text()
    turned = [part for name in JOINTS for part in ('--scale', f'{name}=-1')]
    assert command.main([*given, '--body', 'fore', *turned]) == 1
    shown = capsys.readouterr().out
    assert 'check the unit and the sign' in shown and f'suffix .old: {loaded_arm}' in shown
    assert not loaded_arm.exists()
    loaded_arm.write_text((tmp_path / 'arm.urdf').read_text())
    assert command.main([str(loaded_arm), *given[1:], '--body', 'fore', *turned]) == 1
    assert loaded_arm.exists()  # as it was given
    capsys.readouterr()
    assert command.main([*given, '--body', 'forearm']) == 2
    assert "'fore'" in capsys.readouterr().err


def carrying(mass, seed, factors, noise=0.02):
    """Return a motion with a load whose efforts drives report too large by factors (3,)."""
    load = TRUE * mass / TRUE[0]
    time, q, v, a, tau = arm_motion(with_payload(true_arm(), 'fore', load, placement=PLACE), seed,
                                    30.0, 50.0)
    bare = Dynamics(true_arm()).inverse.batch(q, v, a)  # the model is of the same drives
    white = np.random.default_rng(seed).normal(size=tau.shape)
    return time, q, v, a, bare + factors * (tau - bare) + noise * white


def test_efforts_that_are_wrong_by_a_share_are_in_the_deviations():
    """A tenth too large, as the constants of motors may be; joints that disagree are seen to."""
    for factors in (np.full(3, 1.09), np.array([1.09, 0.98, 1.05])):
        found = fed(PayloadEstimator(true_arm(), 'fore', placement=PLACE),
                    carrying(1.5, 4, factors)).estimate
        honest = found.with_scales()
        assert abs(found.mass - 1.5) > 5.0 * found.deviations[0]
        assert abs(honest.mass - 1.5) < 2.0 * honest.deviations[0]
        assert (found.scatter > 0.005) == (np.ptp(factors) > 0.0)


def test_a_known_load_and_an_empty_recording_make_it_better(tmp_path, capsys):
    (tmp_path / 'arm.urdf').write_text(to_urdf(true_arm()))
    for name, mass in (('some', 1.5), ('known', 2.5), ('empty', 1e-6)):
        time, q, v, _, tau = carrying(mass, len(name), 1.09)
        columns = [f'{joint}.{kind}' for kind in ('position', 'velocity', 'effort')
                   for joint in JOINTS]
        np.savetxt(tmp_path / f'{name}.csv', np.column_stack([time, q, v, tau]), delimiter=',',
                   comments='', header=','.join(['t', *columns]))
    given = [str(tmp_path / 'arm.urdf'), str(tmp_path / 'some.csv'), '--body', 'fore',
             '--placement', '0,0.05,0.3', '--folder', str(tmp_path / 'out')]
    masses = []
    for more in ([], ['--known-load', f'2.5={tmp_path / "known.csv"}', '--empty',
                      str(tmp_path / 'empty.csv')]):
        assert command.main([*given, *more]) == 0
        numbers = json.loads((tmp_path / 'out' / 'payload.json').read_text())
        assert 'deviations count noise' in numbers['caution']
        masses.append((abs(numbers['parameters'][0] - 1.5), numbers['deviations'][0]))
    shown = capsys.readouterr().out
    assert 'the known load of 2.5 kg is found as' in shown and 'without load it finds' in shown
    assert 'mass by each joint alone' in shown
    assert masses[1][0] < 0.2 * masses[0][0] and masses[1][1] < 0.5 * masses[0][1]
    assert all(error < 3.0 * deviation for error, deviation in masses)


def test_a_known_load_that_says_little_is_not_used_and_no_mass_is_offered(tmp_path, capsys):
    """A Med7's load of 1.5 kg, found as 3.5 with a deviation of 5, made all payloads wrong."""
    (tmp_path / 'arm.urdf').write_text(to_urdf(true_arm()))
    for name, mass, noise in (('some', 1.5, 0.02), ('known', 0.02, 0.5), ('none', 1e-6, 0.5)):
        time, q, v, _, tau = carrying(mass, len(name), 1.0, noise)
        np.savetxt(tmp_path / f'{name}.csv', np.column_stack([time, q, v, tau]))
    given = ['--body', 'fore', '--placement', '0,0.05,0.3', '--folder', str(tmp_path / 'out'),
             '--time', '1', '--position', '2,3,4', '--velocity', '5,6,7', '--effort', '8,9,10']
    known = ['--known-load', f'0.02={tmp_path / "known.csv"}']
    assert command.main([str(tmp_path / 'arm.urdf'), str(tmp_path / 'some.csv'), *given, *known]
                        ) == 0
    numbers = json.loads((tmp_path / 'out' / 'payload.json').read_text())
    assert abs(numbers['parameters'][0] - 1.5) < 2.0 * numbers['deviations'][0] < 0.4
    assert 'is not used' in capsys.readouterr().out and '--known-load' in numbers['caution']
    assert command.main([str(tmp_path / 'arm.urdf'), str(tmp_path / 'none.csv'), *given]) == 1
    assert not (tmp_path / 'out' / 'with_payload.urdf').exists()


def test_a_rod_gets_the_thickness_that_a_model_needs():
    rod = np.array([2.0, 0, 0, 0.2, 0.03, 0, 0, 0.03, 0, 0])
    found = Payload(rod, np.eye(10), np.ones(10), np.zeros(3), np.zeros(3), 10.0, np.ones(3),
                    np.ones(3), np.zeros((10, 3))).possible()
    thickness = 2.0 * 2.0 * (1e-3 * 0.1) ** 2  # kg m^2, of a thousandth of the usual size
    assert np.allclose(found - rod, thickness * np.eye(10)[[4, 7, 9]].sum(axis=0), atol=1e-15)
    with_payload(true_arm(), 'fore', found)


def test_a_body_that_is_not_there_is_named():
    with pytest.raises(ModelError) as caught:
        PayloadEstimator(true_arm(), 'hand')
    assert set(caught.value.expected) == {*true_arm().bodies}  # and not the payload


def test_stated_deviations_of_scales_are_in_those_of_the_payload(tmp_path):
    """In place of the usual share, joint by joint; they are more where more is stated."""
    (tmp_path / 'arm.urdf').write_text(to_urdf(true_arm()))
    time, q, v, _, tau = carrying(1.5, 3, 1.0)
    np.savetxt(tmp_path / 'run.csv', np.column_stack([time, q, v, tau]))
    given = [str(tmp_path / 'arm.urdf'), str(tmp_path / 'run.csv'), '--body', 'fore',
             '--placement', '0,0.05,0.3', '--folder', str(tmp_path / 'out'), '--time', '1',
             '--position', '2,3,4', '--velocity', '5,6,7', '--effort', '8,9,10']
    deviations = []
    for stated in ('1', '1+-0.01', '1+-0.2'):
        assert command.main([*given, *(text for name in JOINTS
                                       for text in ('--scale', f'{name}={stated}'))]) == (
            stated == '1+-0.2')  # the mass is not known to its half then
        numbers = json.loads((tmp_path / 'out' / 'payload.json').read_text())
        assert ('--scale' in numbers['caution']) == (stated != '1')
        deviations.append(numbers['deviations'][0])
    assert deviations[1] < 0.6 * deviations[0] and deviations[2] > 2.0 * deviations[1]
