# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A table of joints in place of a bag: its rows are the messages of a single topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from liedyn_ros.common.errors import NameSetError
from liedyn_ros.recordings.bags.joint_state_layout import JointStateMessage
from liedyn_ros.recordings.tables import Columns, table_samples

ROWS_TOPIC = 'rows'
_NOTHING = np.empty(0)


class TableBag:
    r"""
    Rows of named joints in a CSV or Parquet file, with the members of a Bag that a reader asks.

    All rows are in memory. losses says which were left out, factors what made the positions SI.
    Raises the errors of table_samples.

    >>> table = folder / 'arm.csv'
    >>> _ = table.write_text('time,elbow_position\n0.0,0.1\n0.1,0.2\n')
    >>> TableBag(table, ['elbow']).losses
    ()
    """

    def __init__(self, path: str | Path, names: Sequence[str], columns: Columns = Columns()
                 ) -> None:
        """
        Read the columns of the joints.

        Args:
            path: a CSV or Parquet file.
            names: of joints.
            columns: how columns are named.
        """
        self.path = Path(path)
        self._samples = table_samples([self.path], names, columns)
        self.counts, self.losses, self.factors = (
            Counter({ROWS_TOPIC: len(self._samples.time)}), self._samples.remarks,
            self._samples.factors)

    def topic(self, name: str | None, type_name: str) -> str:
        r"""
        Return the name that stands for the topic of a table.

        Args:
            name: that name, or None.
            type_name: asked for.

        Returns:
            the name.

        Raises:
            NameSetError: for any other name.

        >>> table = folder / 'arm.csv'
        >>> _ = table.write_text('time,elbow_position\n0.0,0.1\n0.1,0.2\n')
        >>> TableBag(table, ['elbow']).topic(None, 'sensor_msgs/msg/JointState')
        'rows'
        """
        if name not in (None, ROWS_TOPIC):
            raise NameSetError(f'{self.path}: expected no topic of {type_name} for a table, got '
                               f'{name!r}')
        return ROWS_TOPIC

    def joint_states(self, topic: str) -> Iterator[JointStateMessage]:
        r"""
        Yield the rows.

        Args:
            topic: the name that stands for it.

        Yields:
            stamp (ns), names, positions, velocities and efforts; SI.

        >>> table = folder / 'arm.csv'
        >>> _ = table.write_text('time,elbow_position\n0.0,0.1\n0.1,0.2\n')
        >>> len(list(TableBag(table, ['elbow']).joint_states('rows')))
        2
        """
        samples = self._samples
        names = list(samples.names)
        stamps = samples.start_ns + np.round(1e9 * samples.time).astype(np.int64)
        for k in range(len(stamps)):
            stamp = int(stamps[k])
            yield JointStateMessage(stamp, stamp, names, samples.position[k], *(
                _NOTHING if each is None else each[k]
                for each in (samples.velocity, samples.effort)))
