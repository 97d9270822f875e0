# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Results of Dynamics for many states at once, beside those for one state."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.algorithms.kernels import states as kernels
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE, REFUSED
from liedyn_ros.dynamics.algorithms.kernels.coriolis import BLOCK_WIDTH
from liedyn_ros.dynamics.batch.pool import BatchPool
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.inputs import kernel_array, refuse, states_of
from liedyn_ros.model import Model


class StateTables:
    """The tables of one thread, which goes from state to state."""

    def __init__(self, constants: Constants) -> None:
        """Make tables of results in between."""
        self.common = constants.table, Data(constants).table
        self.blocks = np.empty((constants.links, BLOCK_WIDTH))


class StateBatches:
    """
    Calls of K states, a state a row: q (K, nq), v (K, nv); all cores share them.

    Each does as the call of one state that has its name, and raises the same errors.

    >>> robot.mass_matrix_batch([q, q]).shape
    (2, 6, 6)
    """

    constants: Constants

    @property
    def model(self) -> Model:
        """Return the model, with its closures where they are now."""
        return self.constants.model

    def mass_matrix_batch(self, q: ArrayLike) -> Array:
        """
        Return mass_matrix of K states, on all cores.

        Args:
            q: configurations (K, nq); rad and m.

        Returns:
            M (K, nv, nv).

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite.

        >>> robot.mass_matrix_batch([q]).shape
        (1, 6, 6)
        """
        return self._of_states(kernels.crba_of_states, 2 * (self.model.nv,), q)

    def gravity_vector_batch(self, q: ArrayLike) -> Array:
        """
        Return gravity_vector of K states, on all cores.

        Args:
            q: configurations (K, nq); rad and m.

        Returns:
            g (K, nv); N m and N.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite.

        >>> robot.gravity_vector_batch([q]).shape
        (1, 6)
        """
        return self._of_states(kernels.gravity_of_states, (self.model.nv,), q)

    def spring_forces_batch(self, q: ArrayLike) -> Array:
        """
        Return spring_forces of K states, on all cores.

        Args:
            q: configurations (K, nq); rad and m.

        Returns:
            (K, nv); N m and N.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite.

        >>> robot.spring_forces_batch([q]).shape
        (1, 6)
        """
        return self._of_states(kernels.springs_of_states, (self.model.nv,), q)

    def center_of_mass_batch(self, q: ArrayLike) -> Array:
        """
        Return center_of_mass of K states, on all cores.

        Args:
            q: configurations (K, nq); rad and m.

        Returns:
            (K, 3) in the ground; m.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite.

        >>> robot.center_of_mass_batch([q]).shape
        (1, 3)
        """
        self._require_mass()
        return self._of_states(kernels.center_of_mass_of_states, (3,), q)

    def momentum_batch(self, q: ArrayLike, v: ArrayLike) -> Array:
        """
        Return momentum of K states, on all cores.

        Args:
            q: configurations (K, nq); rad and m.
            v: velocities (K, nv); rad/s and m/s.

        Returns:
            (K, 6), angular part first; N m s and N s.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite.

        >>> robot.momentum_batch([q], [v]).shape
        (1, 6)
        """
        return self._of_states(kernels.momentum_of_states, (6,), q, v)

    def coriolis_matrix_batch(self, q: ArrayLike, v: ArrayLike) -> Array:
        """
        Return coriolis_matrix of K states, on all cores.

        Args:
            q: configurations (K, nq); rad and m.
            v: velocities (K, nv); rad/s and m/s.

        Returns:
            C (K, nv, nv).

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite.

        >>> robot.coriolis_matrix_batch([q], [v]).shape
        (1, 6, 6)
        """
        return self._of_states(
            kernels.coriolis_matrix_of_states, 2 * (self.model.nv,), q, v, blocks=True)

    def _require_mass(self) -> None:
        """Raise SingularError where nothing that moves has mass."""
        raise NotImplementedError

    @cached_property
    def _state_pool(self) -> BatchPool:
        return BatchPool(partial(StateTables, self.constants))

    def _of_states(self, kernel: Callable[..., int], shape: tuple[int, ...], q: ArrayLike,
                   v: ArrayLike | None = None, *, blocks: bool = False) -> Array:
        q = states_of(self.model, q)
        inputs = {} if v is None else {'v': kernel_array('v', v, (len(q), self.model.nv))}
        result = np.empty((len(q), *shape))

        def task(tables: Any, *arrays: Array) -> tuple[int, int]:
            scratch = (tables.blocks,) if blocks else ()
            state = kernel(*tables.common, *scratch, *arrays)
            return state, DONE if state == len(arrays[0]) else REFUSED

        s, code = self._state_pool.run(task, (q, *inputs.values(), result))
        if code != DONE:
            refuse(self.model, f'[{s}]', q[s], **{name: x[s] for name, x in inputs.items()})
        return result
