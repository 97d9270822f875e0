# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What survives: bounds of feedback, a reference that waits, the authority of actuators."""

import numpy as np
import pytest
from support.refusals import refused

from liedyn_ros.aerial.flight import FlightControl
from liedyn_ros.common.errors import LiedynError, LimitError, NotFiniteError
from liedyn_ros.control import Feedback, Gains, tracking_error
from liedyn_ros.control.follower import Phase
from liedyn_ros.control.path_time import PathTime
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import so3


def test_authority_is_what_the_actuators_leave_beyond_the_weight(machine, reference):
    q, still = reference.at(0.0).q, np.zeros(12)
    dynamics = Dynamics(machine.model)
    for k, most in enumerate(machine.authority(q)):
        for sign in (-1.0, 1.0):
            wanted = np.where(np.arange(12) == k, sign * most, 0.0)
            within = machine.command(dynamics.inverse(q, still, 0.999 * wanted), q)
            assert within.rotors.reached and within.at_limit == ()
        beyond = [machine.command(dynamics.inverse(q, still, s * np.where(
            np.arange(12) == k, most, 0.0)), q) for s in (-1.001, 1.001)]
        assert any(command.at_limit for command in beyond)


def test_out_of_reach_roll_and_pitch_accelerate_as_wanted(machine, reference):
    q, still = reference.at(0.0).q, np.zeros(12)
    dynamics = Dynamics(machine.model)
    for seed in range(20):
        wanted = np.random.default_rng(seed).normal(size=12) * [*[5.0] * 2, 9.0, *[8.0] * 3, *[
            5.0] * 6]
        command = machine.command(dynamics.inverse(q, still, wanted), q)
        a = dynamics.forward(q, still, np.concatenate((command.rotors.wrench, command.torques)))
        np.testing.assert_allclose(a[:2], wanted[:2], atol=1e-3)


def test_feedback_asks_for_no_more_than_its_authority(machine, reference):
    model, motion = machine.model, reference.at(0.0)
    authority = machine.authority(motion.q)
    for size in (1e-3, 0.3, 1.0, 2.0):
        feedback = Feedback(model, Gains(), authority)
        q = model.integrate(motion.q, size * np.ones(12))
        error = tracking_error(model, motion, q, size * np.ones(12))
        back = feedback.acceleration(error, 0.1) - error.acceleration
        assert (np.abs(back) <= authority * (1.0 + 1e-12)).all()
        assert not feedback._integral[np.abs(error.error) > feedback.reach].any()


def test_the_push_is_what_states_show_beside_the_wanted_acceleration(machine, reference):
    """Compared with sums of arrays; a state that is none leaves it as it was."""
    control, rng, gap = FlightControl(machine, reference), np.random.default_rng(1), 0.01
    q, v = reference.at(0.0).q, np.zeros(12)
    control.begin(0.0)
    wanted = control.take(0.0, q, v)
    push = mean = variance = np.zeros(12)
    for k in range(1, 5):
        before, v = v, v + gap * rng.normal(size=12)
        q = machine.model.integrate(q, gap * v)
        found, turn = (v - before) / gap - wanted.acceleration, so3.from_quaternion(q[3:7])
        found[:6] = np.concatenate((turn @ found[:3], turn @ found[3:6]))
        wanted = control.take(gap * k, q, v)
        push = push + (1.0 - np.exp(-gap / control.hold)) * (found - push)
        share = max(1.0 - np.exp(-gap / control.stop_time), 1.0 / k)
        mean, away = mean + share * (push - mean), push - mean
        variance = (1.0 - share) * (variance + share * away**2)
    np.testing.assert_allclose(control._push, push, rtol=1e-12)
    np.testing.assert_allclose(control.spread, np.sqrt(variance), rtol=1e-12)
    with refused(NotFiniteError, 'v', indices=(7,)):
        control.take(gap * k + gap, q, np.where(np.arange(12) == 7, np.nan, v))
    np.testing.assert_allclose(control._push, push, rtol=1e-12)


@pytest.mark.whole
@pytest.mark.parametrize('part', range(24), ids=lambda part: f'{"vq"[part // 12]} {part % 12}')
def test_a_stray_sample_is_refused_until_the_next_confirms_it(machine, reference, part):
    """Every coordinate of velocity and position; without it the reference and feedback go on."""
    control, start, still = FlightControl(machine, reference), reference.at(0.0).q, np.zeros(12)
    step = np.zeros(12)
    step[part % 12] = 0.3 if part > 11 else 40.0  # rad and m, and per s
    q, v = (machine.model.integrate(start, step), still) if part > 11 else (start, step)
    control.take(0.0, start, still)
    with refused(LimitError, 'vq'[part // 12], indices=(part % 12,)):
        control.take(0.004, q, v)
    control.take(0.008, start, still)
    with refused(LimitError, 'vq'[part // 12], indices=(part % 12,)):
        control.take(0.012, q, v)
    assert control.take(0.016, q, v).q is q


@pytest.mark.parametrize('wrong', [0.0, -1.0])
def test_an_authority_is_above_zero(machine, wrong):
    with pytest.raises(LiedynError) as caught:
        Feedback(machine.model, Gains(), wrong)
    assert caught.value.got == wrong


def test_the_time_along_the_reference_is_smooth_and_its_motion_consistent(reference):
    path, h, times = PathTime(), 1e-4, np.arange(0.0, 4.0, 1e-4)
    places, rates = [], []
    for t in times:
        path.step(h, 0.0 if 1.0 < t < 2.0 else 1.0, 5.0)
        places.append(path.place)
        rates.append((path.rate, path.rate1))
    rates = np.array(rates)
    np.testing.assert_allclose(np.gradient(places, h)[1:-1], rates[1:-1, 0], atol=1e-5)
    inner = np.abs(np.gradient(rates[:, 0], h) - rates[:, 1])
    assert np.median(inner) < 1e-5 and rates.min() > -10.0 and rates[:, 0].min() >= 0.0
    motion, ahead = path.motion(reference.at(path.place)), PathTime()
    ahead.__dict__.update(path.__dict__)
    ahead.step(1e-6, 1.0, 5.0)
    later = ahead.motion(reference.at(ahead.place))
    np.testing.assert_allclose((later.v - motion.v) / 1e-6, motion.a, atol=1e-4)


def test_it_stands_until_it_is_answered_and_stops_after_silence(machine, reference):
    control, motion = FlightControl(machine, reference), reference.at(0.0)
    wanted = control.see(0.0, motion.q, motion.v)
    assert control.phase is Phase.STANDING and control.silent(9.0) is None
    tau = machine.dynamics.inverse(motion.q, motion.v, wanted.acceleration)
    assert control.answer(wanted, tau).rotors.reached
    control.see(0.004, motion.q, motion.v)
    assert control.silent(0.9 * control.hold) is None
    phases = []
    for silence in (0.1, 0.4, 0.6, 1.9, 2.1, 0.0):
        command = control.silent(max(silence, 2.0 * control.hold))
        phases.append(control.phase)
    assert phases == [Phase.BLIND, Phase.BLIND, Phase.DESCENDING, Phase.DESCENDING,
                      Phase.STOPPED, Phase.STOPPED]
    assert not command.rotors.speeds.any() and not command.torques.any()


def test_reckoning_of_a_controller_that_was_starved_stays_near(machine, reference):
    """In steps of 0.3 s its feedback diverged, to 1e45 m."""
    control, motion = FlightControl(machine, reference), reference.at(0.0)
    wanted = control.see(0.0, motion.q, motion.v)
    control.answer(wanted, machine.dynamics.inverse(motion.q, motion.v, wanted.acceleration))
    control.see(0.01, machine.model.integrate(motion.q, 0.05 * np.ones(12)), motion.v)
    for silence in (0.4, 0.8, 1.2, 1.6, 1.9):
        control.silent(silence)
        assert np.abs(control.last.error.error).max() < 0.2
