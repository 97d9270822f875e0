# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The Lagrangian view: dense matrices in closed form, to look at and to prove with."""

from liedyn_ros.dynamics.lagrangian.christoffel import (
    adjoint_product, adjoint_product_derivative, adjoint_product_second_derivative,
    christoffel_symbols, levi_civita_coriolis)
from liedyn_ros.dynamics.lagrangian.closed_form import (
    body_factors, gravity_terms, GravityTerms, home_factors, MassFactors)
from liedyn_ros.dynamics.lagrangian.curvature import Curvature, curvature, Geodesic, geodesic
from liedyn_ros.dynamics.lagrangian.product_of_exponentials import (
    Factor, product_of_exponentials, ProductOfExponentials)

__all__ = [
    'adjoint_product', 'adjoint_product_derivative', 'adjoint_product_second_derivative',
    'body_factors', 'christoffel_symbols', 'Curvature', 'curvature', 'Factor', 'Geodesic',
    'geodesic', 'gravity_terms', 'GravityTerms', 'home_factors', 'levi_civita_coriolis',
    'MassFactors', 'product_of_exponentials', 'ProductOfExponentials']
