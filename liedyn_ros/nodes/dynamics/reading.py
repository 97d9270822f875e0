# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Queries of the dynamics server, read and checked."""

import math

from liedyn_interfaces.msg import DynamicsQuery
import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.errors import LimitError, NameSetError
from liedyn_ros.dynamics import FloatingBase, JointOrder
from liedyn_ros.dynamics.constrained import LEAST_FORCE, LEAST_TORQUE
from liedyn_ros.nodes.dynamics.inputs import RequestInputs
from liedyn_ros.ros.messages.tree_messages import count_entries, TreeMessages

REDUNDANCIES = {
    DynamicsQuery.LEAST_TORQUE: LEAST_TORQUE, DynamicsQuery.LEAST_FORCE: LEAST_FORCE}


class QueryReader:
    """
    Reads the queries about one model.

    A query gives accelerations, efforts, or both for hybrid dynamics. Every method raises
    LiedynError that names the wrong field.
    """

    def __init__(self, messages: TreeMessages, *, with_loops: bool) -> None:
        """Take the messages of the model, and whether its loops are closed."""
        self._messages, self._with_loops = messages, with_loops
        self._zero = np.zeros(messages.model.nv)

    def read(self, query: DynamicsQuery, *, accelerations: bool,
             efforts: bool) -> tuple[RequestInputs, JointOrder]:
        """Return the inputs, and the order of joints in the query."""
        messages = self._messages
        q, v, order = messages.read_state(query.state)
        entries = count_entries(query, accelerations=accelerations, efforts=efforts)
        zero = self._zero if entries == 1 else np.zeros((entries, len(self._zero)))
        return RequestInputs(
            q, v,
            messages.read_accelerations(query.accelerations, order, entries) if accelerations
            else zero,
            messages.read_efforts(query.efforts, order, entries) if efforts else zero,
            self.prescribed(query, accelerations, efforts),
            messages.read_external(query.external, entries), _redundancy(query),
            self.with_errors(query, efforts, entries)), order

    def prescribed(self, query: DynamicsQuery, accelerations: bool,
                   efforts: bool) -> NDArray[np.bool_]:
        """Return for each coordinate whether its acceleration is known."""
        if accelerations and efforts:
            return self._messages.names.prescribed(query.prescribed)
        if query.prescribed:
            raise NameSetError('prescribed: expected no names, as only hybrid dynamics takes '
                               f'them, got {len(query.prescribed)}')
        return np.full(self._zero.shape, accelerations)

    def with_errors(self, query: DynamicsQuery, efforts: bool, entries: int) -> bool:
        """Return whether errors of orders are requested; only dynamics of trees has them."""
        if not 0.0 <= query.max_error < math.inf:
            raise LimitError(f'max_error: expected a number from 0 on, got {query.max_error}')
        estimated = efforts and not self._with_loops
        if query.max_error and not estimated:
            raise LimitError('max_error: expected 0, as errors are found for forward and hybrid '
                             f'dynamics of trees alone, got {query.max_error}')
        return estimated and (entries > 1 or query.max_error > 0.0)

    def spatial_base(self, query: DynamicsQuery) -> FloatingBase | None:
        """Return the base if its accelerations are derivatives of the spatial twist."""
        convention = query.base_twist_frame
        if convention not in (DynamicsQuery.BODY, DynamicsQuery.SPATIAL):
            raise LimitError(f'base_twist_frame: expected BODY = {DynamicsQuery.BODY} or SPATIAL '
                             f'= {DynamicsQuery.SPATIAL}, got {convention}')
        return None if convention == DynamicsQuery.BODY else self._messages.base

    def whole_spatial_base(self, query: DynamicsQuery,
                           inputs: RequestInputs) -> FloatingBase | None:
        """Return spatial_base, whose coordinates must be prescribed all or none."""
        base = self.spatial_base(query)
        if base is None:
            return None
        count = int(np.count_nonzero(inputs.prescribed[:6]))
        if 0 < count < 6:
            raise NameSetError('prescribed: expected all coordinates of the base or none, as '
                               f'base_twist_frame is SPATIAL, got {count}')
        return base


def _redundancy(query: DynamicsQuery) -> str:
    redundancy = REDUNDANCIES.get(query.redundancy)
    if redundancy is None:
        raise LimitError(f'redundancy: expected LEAST_TORQUE = {DynamicsQuery.LEAST_TORQUE} or '
                         f'LEAST_FORCE = {DynamicsQuery.LEAST_FORCE}, got {query.redundancy}')
    return redundancy
