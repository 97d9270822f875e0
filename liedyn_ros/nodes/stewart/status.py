# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parts of a StewartStatus: outcome of a solve, certificate, refusal."""

from collections.abc import Mapping
from typing import Any

from liedyn_interfaces.msg import StewartStatus


def fill(status: StewartStatus, fields: Mapping[str, Any]) -> None:
    """Write fields, as functions of stewart.reports.health return them, into a status."""
    for name, value in fields.items():
        setattr(status, name, value)
