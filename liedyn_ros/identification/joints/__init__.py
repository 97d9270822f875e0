# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Terms of joints besides inertia: columns of friction, offsets and scales (16.10)."""

from liedyn_ros.identification.joints.terms import (
    COUPLED, FRICTION_TERMS, LOAD, MORE_TERMS, OFFSET_TERM, SCALE_TERM, SPRING, STRIBECK, Term,
    terms_of, TILT)

__all__ = ['COUPLED', 'FRICTION_TERMS', 'LOAD', 'MORE_TERMS', 'OFFSET_TERM', 'SCALE_TERM',
           'SPRING', 'STRIBECK', 'TILT', 'Term', 'terms_of']
