# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bodies that are fixed to each other, of which motions see one: their sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.identification.consistency import parameters_of, pseudo_inertia
from liedyn_ros.identification.consistent_fit import lifted_prior
from liedyn_ros.identification.regressors.regressor import fixed_groups, poses_of_bodies
from liedyn_ros.lie import se3
from liedyn_ros.model import Model
from liedyn_ros.model.parts.body import stacked_parameters


@dataclass(frozen=True, eq=False)
class Lump:
    """
    Bodies that one link carries, as one body in the frame of the first (16.27).

    bodies are their places in the model, poses (n, 4, 4) their frames in that of the first,
    priors (n, 4, 4) the Pi0 of each in its own frame.
    """

    bodies: tuple[int, ...]
    poses: Array
    priors: Array

    @property
    def prior(self) -> Array:
        """Return Pi0 (4, 4) of the sum, sum T Pi0 T^T."""
        return np.asarray((self.poses @ self.priors @ np.swapaxes(self.poses, 1, 2)).sum(axis=0))

    def shared(self, parameters: Array) -> Array:
        """
        Return the parameters (n, 10) of bodies whose sum has these (10,).

        Pi = A Pi0 A^T with A = (Pi Pi0^-1)^(1/2), and each body is changed by the same A. So their
        sum is exact, all are possible, and the choice depends on no frame.
        """
        lower = np.linalg.cholesky(self.prior)
        inverse = np.linalg.inv(lower)
        values, vectors = np.linalg.eigh(inverse @ pseudo_inertia(parameters) @ inverse.T)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        change = se3.inverse(self.poses) @ (lower @ root @ inverse) @ self.poses
        return parameters_of(change @ self.priors @ np.swapaxes(change, 1, 2))


def lumps_of(model: Model) -> list[Lump]:
    """Return the bodies with mass that move, those fixed to each other as one."""
    poses, inertias = poses_of_bodies(model), {
        b: body.inertia for b, body in enumerate(model.body_list)
        if body.inertia is not None and body.inertia.mass > 0.0}
    priors = dict(zip(inertias, lifted_prior(stacked_parameters(
        list(inertias.values()), np.tile(np.eye(4), (len(inertias), 1, 1))))))
    groups = [[b for b in group if b in inertias] for group in fixed_groups(model)]
    return [Lump(tuple(group), se3.inverse(poses[group[0]]) @ poses[group],
                 np.array([priors[b] for b in group])) for group in groups if group]
