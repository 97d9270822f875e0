# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Messages of processed poses, by rosbags: those that the pose node publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rosbags.typesys import get_types_from_msg, get_typestore, Stores

from liedyn_ros.commands.inputs import NODE
from liedyn_ros.commands.stewart.bag_processing.tracking import ProcessedMessage, Reported
from liedyn_ros.common.stamps import Pace, require_time_of_messages
from liedyn_ros.stewart import BranchSource, Flag, MonitoredTracker, Start, Status
from liedyn_ros.stewart.reports.health import (
    certificate_of, certifier_of, PartHealth, PoseHealth, refusal_fields, REJECTED, status_fields)

# The file of this name in liedyn_interfaces, which this package can be without.
STEWART_STATUS = '\n'.join([
    'std_msgs/Header header', *(f'uint8 {each.name}={each.value}' for each in Status),
    f'uint8 REJECTED={REJECTED}', 'uint8 status', 'string message',
    *(f'uint8 START_{each.name}={each.value}' for each in Start), 'uint8 start',
    'uint16 iterations', 'float64 residual', 'float64 smallest_singular_value',
    'float64 solve_time', 'float64[6] length',
    *(f'uint32 FLAG_{each.name}={each.value}' for each in Flag), 'uint32 flags',
    'string[] suspected_legs', 'string[] exceeded_limits', 'int8 determinant_sign',
    'int8 expected_determinant_sign', 'float64 prediction_gap', 'float64 time_to_singularity',
    'bool certified', 'float64 error_radius', 'float64 uniqueness_radius',
    'float64[6] error_bound', 'float64 age', 'uint32 passed_over', 'float64[] further_lengths',
    *(f'uint8 BRANCH_SOURCE_{each.name}={each.value}' for each in BranchSource),
    'uint8 branch_source'])
MESSAGE_TYPES = {
    'pose': 'geometry_msgs/msg/PoseStamped', 'twist': 'geometry_msgs/msg/TwistStamped',
    'pose_with_covariance': 'geometry_msgs/msg/PoseWithCovarianceStamped',
    'status': 'liedyn_interfaces/msg/StewartStatus',
    'diagnostics': 'diagnostic_msgs/msg/DiagnosticArray'}
STORE = get_typestore(Stores.LATEST)
STORE.register(get_types_from_msg(STEWART_STATUS, MESSAGE_TYPES['status']))
_ZERO = np.zeros(6)
_NOTHING = {  # of a status: what is not known, and what only a running node knows
    'message': '', 'start': 0, 'iterations': 0, 'residual': 0.0, 'smallest_singular_value': 0.0,
    'solve_time': 0.0, 'length': _ZERO, 'flags': 0, 'suspected_legs': [], 'exceeded_limits': [],
    'determinant_sign': 0, 'expected_determinant_sign': 0, 'prediction_gap': 0.0,
    'time_to_singularity': 0.0, 'certified': False, 'error_radius': 0.0, 'uniqueness_radius': 0.0,
    'error_bound': _ZERO, 'age': 0.0, 'passed_over': 0, 'further_lengths': np.empty(0),
    'branch_source': 0}


def made(kind: str, **fields: Any) -> Any:
    """Return a message."""
    return STORE.types[kind](**fields)


def packed(topic: str, stamp_ns: int, frame: str, **fields: Any) -> bytes:
    """Return a message of a topic of MESSAGE_TYPES as bytes; raise StampError for no time."""
    require_time_of_messages(stamp_ns)
    sec, nanosec = divmod(stamp_ns, 10**9)
    header = made('std_msgs/msg/Header', frame_id=frame, stamp=made(
        'builtin_interfaces/msg/Time', sec=sec, nanosec=nanosec))
    return bytes(STORE.serialize_cdr(made(MESSAGE_TYPES[topic], header=header, **fields),
                                     MESSAGE_TYPES[topic]))


class Reporter:
    """
    Makes the status of each message, and the diagnostics of each period, as the node does.

    A period ends with the first message that is 1 / diagnostics_rate after the one that ended the
    last. What only a running node knows is left out: times, ages, messages that were lost.
    """

    def __init__(self, settings: Mapping[str, Any], tracker: MonitoredTracker) -> None:
        """Take the parameters of the node, and the tracker whose poses come."""
        geometry, rate = tracker.geometry, settings['diagnostics_rate']
        self._geometry = geometry
        self._frame = settings['frame_prefix'] + settings['base_frame']
        self._certifier = certifier_of(settings, geometry)
        self._health = PoseHealth(geometry, tracker)
        self._pace = Pace(rate) if rate > 0.0 else None
        self._begun = False

    def report(self, each: ProcessedMessage, *, last: bool) -> Reported:
        """Return the messages of one message; last: whether no other follows."""
        pose: Any = each.pose
        if pose is None:
            self._health.refuse(each.reason)
            fields = refusal_fields(each.reason)
        else:
            self._health.take(pose)
            fields = status_fields(
                pose, int(pose.flags), certificate_of(self._certifier, pose, pose.lengths),
                self._geometry.leg_names)
            fields |= {name: np.array(fields[name]) for name in ('error_bound', 'further_lengths')}
            fields['solve_time'] = 0.0
        status = packed('status', each.stamp_ns, self._frame, **(_NOTHING | fields))
        return ('status', status), *self._report(each.stamp_ns, last)

    def _report(self, stamp_ns: int, last: bool) -> Reported:
        if self._pace is None:
            return ()
        due, self._begun = self._pace.is_due(stamp_ns) and self._begun, True
        if not (due or last):
            return ()
        parts = self._health.parts(self._health.end())
        return ('diagnostics', packed('diagnostics', stamp_ns, '', status=[
            self._status(part) for part in parts])),

    def _status(self, part: PartHealth) -> Any:
        return made(
            'diagnostic_msgs/msg/DiagnosticStatus', level=int(part.level),
            name=f'{NODE}: {part.what}', message=part.message, hardware_id=self._geometry.name,
            values=[made('diagnostic_msgs/msg/KeyValue', key=key, value=str(value))
                    for key, value in part.values.items()])
