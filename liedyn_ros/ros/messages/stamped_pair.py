# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Two kinds of messages that form one state where their stamps are equal."""

from collections import deque
from typing import Any

MAX_UNPAIRED = 2  # of each type: the partner of one may be taken after the next one


class StampedPair:
    """Keeps the newest messages of each of two types until two have one stamp."""

    def __init__(self, first: type, second: type) -> None:
        """Take the types of the messages."""
        self._types = first, second
        self._waiting: dict[type, deque[Any]] = {
            each: deque(maxlen=MAX_UNPAIRED) for each in self._types}

    def clear(self) -> None:
        """Forget messages that wait for the other of their stamp."""
        for each in self._types:
            self._waiting[each].clear()

    def add(self, message: Any) -> tuple[Any, Any] | None:
        """Return both messages, in the order of the types, once they have one stamp."""
        first, second = self._types
        own = self._waiting[type(message)]
        others = self._waiting[second if type(message) is first else first]
        stamp = message.header.stamp
        partner = next((each for each in others if each.header.stamp == stamp), None)
        if partner is None:
            own.append(message)
            return None
        own.clear()
        while others.popleft() is not partner:  # what came before it has lost its like
            pass
        return (message, partner) if type(message) is first else (partner, message)
