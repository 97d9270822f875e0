# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A recording as one HTML file of what commands and studies computed, without a live machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.view.page import LivePage
from liedyn_ros.view.recording import MAX_DURATION
from liedyn_ros.view_state import Description, Machine, ViewInput

PICTURE_RATE = 30.0  # pictures a second
PORT = 18_080  # or the next that is free; no address is printed


def write_recording(path: Path, machine: Machine, shown: Iterable[tuple[float, ViewInput]],
                    home: Array | None = None, description: Description | None = None) -> None:
    """
    Write pictures at rising times, s, as a page that plays without a network.

    Of more than 30 pictures a second some are left out, and it ends after 300 s. home (4, 4), m,
    is that of a platform.
    """
    page = LivePage('127.0.0.1', PORT, MAX_DURATION, 10.0)
    try:
        page.adopt(machine, np.eye(4) if home is None else home, description)
        page.record_to(path)
        first = due = None
        for now, seen in shown:
            if first is None or due is None:
                first = due = now
            if now - first > MAX_DURATION:
                break
            if now >= due - 1e-9:
                due = max(due + 1.0 / PICTURE_RATE, now)
                page.show(seen, now)
    finally:
        page.close()
