# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Frames of a browser: what is passed on to the page's server has finite, bounded values."""

from collections.abc import Iterator

from fuzz.target import guarded, PropertyError, Run, Target
import msgspec

from liedyn_ros.view.access import ACCEPTED_FIELDS, is_taken, MAX_MESSAGE_VALUES, MAX_TEXT


def make() -> Run:
    """Return what judges a frame."""
    def run(data: bytes) -> bool:
        taken: list[bool] = []
        if not guarded(lambda: taken.append(is_taken(data))) or not taken[0]:
            return False
        message = msgspec.msgpack.decode(data)
        if message['type'] not in ACCEPTED_FIELDS or not set(message.get('updates',
                                                                         {})) <= {'value'}:
            raise PropertyError(f'expected no such message to be taken, got {message}')
        if len(repr(message)) > 400 * (MAX_TEXT + 30 * MAX_MESSAGE_VALUES):
            raise PropertyError('expected a bounded message')
        return True
    return run


def seeds() -> Iterator[bytes]:
    """Return a camera, a slider, and what is passed over."""
    for message in (
            {'type': 'ViewerCameraMessage', 'wxyz': [1.0, 0.0, 0.0, 0.0], 'fov': 1.0},
            {'type': 'GuiUpdateMessage', 'uuid': 'a', 'updates': {'value': 0.5}}):
        yield msgspec.msgpack.encode(message)


TARGET = Target(make, seeds)
