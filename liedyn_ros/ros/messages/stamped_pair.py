# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Two kinds of messages that form one state where their stamps are equal."""

from typing import Any


class StampedPair:
    """Keeps the newest message of each of two types until both have one stamp."""

    def __init__(self, first: type, second: type) -> None:
        """Take the types of the messages."""
        self._types, self._newest = (first, second), dict[type, Any]()

    def clear(self) -> None:
        """Forget what waits for its like."""
        self._newest.clear()

    def add(self, message: Any) -> tuple[Any, Any] | None:
        """Return both messages, in the order of the types, once they have one stamp."""
        self._newest[type(message)] = message
        first, second = map(self._newest.get, self._types)
        if first is None or second is None or first.header.stamp != second.header.stamp:
            return None
        self._newest.clear()
        return first, second
