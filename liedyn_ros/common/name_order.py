# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Names that come with numbers, in any order: matched once while the same names come."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import order_of


class NameOrder:
    """Finds where wanted names stand among given ones, and remembers it for the next message."""

    def __init__(
            self, what: str, wanted: Sequence[str], *, ignore_others: bool = False) -> None:
        """Take a word for the names, for errors, and wanted names; refuse or ignore others."""
        self._what, self._wanted, self._ignore_others = what, tuple(wanted), ignore_others
        # one value, as threads share it: the names of the last call, and their places
        self._last: tuple[list[str], NDArray[np.intp]] | None = None

    def of(self, given: Sequence[str]) -> NDArray[np.intp]:
        """
        Return for each wanted name its place in the given names.

        Raises NameSetError naming the unknown, missing and repeated names.
        """
        last = self._last
        if last is None or given != last[0]:
            self._last = last = list(given), self._match(given)  # a message may be reused
        return last[1]

    def _match(self, given: Sequence[str]) -> NDArray[np.intp]:
        kept = list(range(len(given)))
        if self._ignore_others:
            wanted = set(self._wanted)
            kept = [place for place in kept if given[place] in wanted]
        order = order_of(self._what, self._wanted, [given[place] for place in kept])
        return np.array([kept[place] for place in order], np.intp)
