# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""JointStates from their bytes, as stewart_pose and loop_state_publisher read them."""

from collections.abc import Iterator
from typing import Any

from fuzz.ros.stand_ins import message
from fuzz.target import guarded, PropertyError, require_finite, Run, Target
import numpy as np
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from liedyn_ros.common.resources import config_file
from liedyn_ros.model import annotate, load_model
from liedyn_ros.nodes.loops.machine import LoopedMachine
from liedyn_ros.ros.messages.conversions import nanoseconds
from liedyn_ros.ros.messages.packed import JointReadings, JointStateReader

MEASURED = ['hip', 'crank_joint']


def make() -> Run:
    """Return what reads a message twice, and completes the joints of the linkage leg by it."""
    leg = annotate(load_model(config_file('linkage_leg.urdf')),
                   config_file('linkage_leg_loops.yaml'))
    machine, good = LoopedMachine(leg, MEASURED, '', False, 0.05), next(seeds())

    def run(data: bytes) -> bool:
        reader = JointStateReader('/joints', MEASURED)
        reader.read(good)
        taken = message(data, JointState)
        if taken is None:
            if guarded(lambda: reader.read(data)):
                raise PropertyError('expected a refusal of bytes that are no message')
            return False
        for _ in range(2):  # by the middleware, then by the kind that was learnt
            _require_same(reader.read(data), taken)
        machine.tracker.reset()
        return guarded(lambda: _complete(machine, reader.read(data)))

    return run


def _complete(machine: LoopedMachine, readings: JointReadings) -> None:
    sample = machine.read(readings)
    state = machine.tracker.update(sample.positions, sample.velocities, None, ahead=False)
    require_finite('positions', state.q)
    if state.v is not None:
        require_finite('velocities', state.v)


def _require_same(readings: JointReadings, taken: Any) -> None:
    same = readings.stamp_ns == nanoseconds(taken.header.stamp) and (
        list(readings.names) == list(taken.name)) and all(
            np.array_equal(got, expected, equal_nan=True) for got, expected in zip(
                readings[2:], (taken.position, taken.velocity, taken.effort)))
    if not same:
        raise PropertyError(f'expected what the middleware reads, {taken}, got {readings}')


def seeds() -> Iterator[bytes]:
    """Return messages with and without velocities and efforts, and with a frame."""
    for frame, more in (('', ()), ('base', ('velocity',)), ('b', ('velocity', 'effort'))):
        sample = JointState(name=MEASURED, position=[0.1, 0.2])
        sample.header.frame_id = frame
        for field in more:
            setattr(sample, field, [0.3, 0.4])
        yield serialize_message(sample)


TARGET = Target(make, seeds)
