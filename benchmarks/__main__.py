# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every benchmark, one after the other: python -m benchmarks."""

from benchmarks.algorithms import (
    constrained, dense_calls, dynamics, higher_order, independent_loops, kinematics,
    partial_derivatives)
from benchmarks.c_library import __main__ as c_library
from benchmarks.nodes import freshness, services
from benchmarks.retiming import __main__ as retiming
from benchmarks.stewart import assembly_modes, certificates, safety


def main() -> None:
    """Run them all; each prints its table and keeps it under out/bench."""
    for benchmark in (dynamics, c_library, kinematics, higher_order, partial_derivatives,
                      dense_calls, constrained, independent_loops, retiming, services,
                      assembly_modes, certificates, safety, freshness):
        print(f'\n{benchmark.__name__}')
        benchmark.main()


if __name__ == '__main__':
    main()
