# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Relations of joints in an MJCF file that are polynomials, as constraint functions."""

from __future__ import annotations

import os
from typing import Any

from liedyn_ros.dynamics.constrained.constraints.function import ConstraintFunction
from liedyn_ros.dynamics.constrained.constraints.taylor_numbers import taylor_series
from liedyn_ros.model.io.mjcf.reader import Polynomial, polynomials_of
from liedyn_ros.model.model import Model


def mjcf_functions(source: str | os.PathLike[str], model: Model) -> tuple[ConstraintFunction, ...]:
    """
    Return constraints of a file or text that load_mjcf names as not linear in the joints.

    model is what load_mjcf returned, or one that has its joints. Knees and wrists with bones
    follow polynomials of fourth degree. A joint held still is one too.
    Give them to `ConstrainedDynamics(model, functions=...)`; all orders are known. Raises
    DescriptionError, and ModelError for a model without one of the joints.
    """
    return tuple(_function(each, model) for each in polynomials_of(source))


def _function(each: Polynomial, model: Model) -> ConstraintFunction:
    """Return y - y0 - a - b (x - x0) - ... as a constraint."""
    of, by = ([(model.joint(name).qi, model.joint(name).vi, factor)
               for name, factor in factors.items()] for factors, _ in (each.of, each.by))
    y0, x0, (constant, *terms) = each.of[1], each.by[1], each.terms

    def change(q: Any) -> Any:
        return sum((factor * q[qi] for qi, _, factor in by), -x0)

    def residual(q: Any) -> list[Any]:
        value = sum((factor * q[qi] for qi, _, factor in of), -y0 - constant)
        x = change(q)
        return [value - sum(term * x**k for k, term in enumerate(terms, 1))]

    def jacobian(q: Any) -> list[list[Any]]:
        row: list[Any] = model.nv * [0.0]
        for _, vi, factor in of:
            row[vi] += factor
        x = change(q)
        slope = terms[0] + x * (2.0 * terms[1] + x * (3.0 * terms[2] + x * (4.0 * terms[3])))
        for _, vi, factor in by:
            row[vi] = row[vi] - factor * slope
        return [row]

    return ConstraintFunction(each.name, 1, residual, jacobian,
                              jacobian_series=taylor_series(jacobian))
