# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Findings of the doctor: one line each, with its severity and the remedy."""

from enum import IntEnum
from typing import NamedTuple


class Severity(IntEnum):
    """How bad a finding is; WARN and ERROR are exit codes of the doctor."""

    OK = 0
    WARN = 1
    ERROR = 2


class Finding(NamedTuple):
    """One line of the doctor's page; cure: what to do, empty where nothing need be done."""

    part: str
    level: Severity
    text: str
    cure: str = ''
