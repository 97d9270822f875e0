# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parameters of the node that runs paths, in the order of its page's table."""

from dataclasses import replace

from liedyn_ros.nodes.dynamics.parameters import DYNAMICS_PARAMETERS
from liedyn_ros.ros.parameters.parameter_set import Parameter

PATH_RUNNER = tuple(replace(parameter, run_time=False) for parameter in DYNAMICS_PARAMETERS) + (
    Parameter('rate', 100.0, 'commands a second', 'Hz', least=1.0, most=1000.0),
    Parameter('tolerated_lag', 0.05, 'distance of a joint from its command up to which the run '
              'keeps its speed, rad or m', least=0.0, most=100.0, run_time=True),
    Parameter('largest_lag', 0.2, 'lag of the joints at which the run stops and waits, and '
                                  'largest distance of the start of a path from the joints, rad '
                                  'or m', least=1e-6, most=1000.0,
              run_time=True),
    Parameter('input_timeout', 0.5, 'time without joint states, once there were some, after which '
              'the run stops until they are heard again; 0 for never', 's', least=0.0,
              most=3600.0, run_time=True),
)
