# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose node's health on /diagnostics (REP 107): input, singularity, legs, limits, sensor."""

import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.pose.leg_input import LegInput
from liedyn_ros.nodes.stewart.pose.redundant_sensor import RedundantInput
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.age_statistics import AgeStatistics
from liedyn_ros.stewart.reports.health import Level, LiveCounts, PartHealth, PoseHealth


class StewartDiagnostics:
    """
    Publishes the health of a period, and adds what only the node knows.

    Samples are counted under the lock of the node; the report is made without it.
    """

    def __init__(
            self, node: ManagedNode, platform: Platform, health: PoseHealth, legs: LegInput,
            sensor: RedundantInput | None = None) -> None:
        """Open the publisher. legs: their input, which counts lost samples. sensor: redundant."""
        self._node, self._platform, self.health = node, platform, health
        self._legs, self._sensor = legs, sensor
        self._publisher = node.open_publisher(DiagnosticArray, '/diagnostics')
        self._lost_before = 0
        self._repetition_told = False
        self.clear()

    def clear(self) -> None:
        """Begin the next report."""
        self.health.clear()
        self._began, self._passed_over, self._ages = time.monotonic(), 0, AgeStatistics()

    def published(self, age: float, passed_over: int) -> None:
        """Note that a sample was published at an age, s, and how many were passed over for it."""
        self._passed_over += passed_over
        self._ages.note(age)

    def publish(self) -> None:
        """Publish the report and begin the next."""
        with self._node.lock:
            period, sensor = self.health.end(), None if self._sensor is None else (
                self._sensor.report())
            began, passed_over, ages = self._began, self._passed_over, self._ages
            self.clear()
        lost = self._legs.lost - self._lost_before
        self._lost_before += lost
        parts = self.health.parts(period, LiveCounts(
            passed_over, lost, time.monotonic() - began, ages.report(), ages.greatest))
        if sensor is not None:
            fault, counts = sensor
            parts += [PartHealth('redundant sensor', Level.WARN if fault else Level.OK,
                                 fault or 'in use', counts)]
        self._warn_of_repetition(self.health.repetition(period))
        report = DiagnosticArray(status=[self._status(part) for part in parts])
        report.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(report)

    def _warn_of_repetition(self, repetition: str) -> None:
        """Warn once of readings that repeat."""
        if repetition and not self._repetition_told:
            self._repetition_told = True
            self._node.get_logger().warning(repetition)

    def _status(self, part: PartHealth) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=bytes([part.level]), name=self._node.status_name(part.what),
            message=part.message, hardware_id=self._platform.geometry.name,
            values=[KeyValue(key=key, value=str(value)) for key, value in part.values.items()])
