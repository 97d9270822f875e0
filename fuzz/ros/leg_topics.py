# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Leg lengths in each form of input, tracked as stewart_pose does."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from fuzz.ros.stand_ins import FakeNode, FakeStream, message, record, records
from fuzz.ros.stewart_services import DEFAULTS
from fuzz.target import guarded, require_finite, Run, Target
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

from liedyn_ros.nodes.stewart.parameters import (
    FLOAT64_ARRAY, FLOAT64_TOPICS, INPUTS, JOINT_STATE_INPUT, UNSTAMPED)
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.pose.leg_input import LegInput
from liedyn_ros.stewart import leg_lengths, MonitoredTracker
from liedyn_ros.stewart.tracking.monitor_config import config_of, method_of

PERIOD_NS = 10_000_000
MAX_RECORDS = 30


@cache
def _platform() -> Platform:
    return Platform.from_parameters(DEFAULTS, False)  # type: ignore


def make() -> Run:
    """Return what gives records to the input that the first byte names."""
    platform = _platform()

    def run(data: bytes) -> bool:
        if not data:
            return False
        form, node, stream = INPUTS[data[0] % len(INPUTS)], FakeNode(), FakeStream()
        tracker = MonitoredTracker(platform.geometry, platform.home, method_of(DEFAULTS),
                                   config_of(DEFAULTS, None))
        tracked: list[int] = []

        def track(stamp_ns: int, lengths: Any, rates: Any) -> None:
            def once() -> None:
                found = tracker.track(stamp_ns, lengths, rates)
                tracked.append(stamp_ns)
                if found.converged:
                    require_finite('pose', found.pose)
            guarded(once)

        LegInput(node, stream, form, platform.actuators, use_rates=True,  # type: ignore
                 tolerance=0.01, depth=10, on_set=track, on_fault=lambda *_: None)
        _give(form, list(stream.callbacks.values()), data[1:])
        return bool(tracked)

    return run


def _give(form: str, callbacks: list[tuple[Any, Callable[..., None]]], data: bytes) -> None:
    """Call the callbacks with records: the first byte of each names the topic."""
    for k, (which, raw) in enumerate(records(data)):
        if k == MAX_RECORDS:
            return
        kind, callback = callbacks[which % len(callbacks)]
        if form == JOINT_STATE_INPUT:
            callback(raw)
        elif (taken := message(raw, kind)) is not None:
            callback(*((taken, 1 + k // 6 * PERIOD_NS) if form in UNSTAMPED else (taken,)))


def seeds() -> Iterator[bytes]:
    """Return two samples at home in each form."""
    platform, names = _platform(), list(_platform().actuators.names)
    lengths = leg_lengths(platform.geometry, platform.home).tolist()
    for k, form in enumerate(INPUTS):
        data = bytes((k,))
        for sample in (1, 2):
            for leg, (name, length) in enumerate(zip(names, lengths)):
                single = JointState(name=[name], position=[length], velocity=[0.0])
                if form == JOINT_STATE_INPUT:
                    single = JointState(name=names, position=lengths, velocity=[0.0] * 6)
                single.header.stamp.nanosec = sample * PERIOD_NS
                floats = {FLOAT64_TOPICS: Float64(data=length),
                          FLOAT64_ARRAY: Float64MultiArray(data=lengths)}
                data += record(leg, serialize_message(floats.get(form, single)))
        yield data


TARGET = Target(make, seeds)
