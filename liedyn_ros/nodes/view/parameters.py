# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parameters of the view, in the order of its page's table."""

from dataclasses import replace

from liedyn_ros.nodes.dynamics.parameters import MODEL_PARAMETERS
from liedyn_ros.nodes.stewart.parameters import PLATFORM_PARAMETERS
from liedyn_ros.ros.parameters.parameter_set import Parameter

AUTO, PLATFORM_VIEW, TREE_MACHINE = 'auto', 'platform', 'tree'

VIEW = (
    Parameter('machine', AUTO, 'the machine in the view. `platform`: from geometry_file. `tree`: '
              'from model_file, robot_description or the topic of this name. `auto`: a tree '
              'where one of both parameters is set, else a platform',
              choices=(AUTO, PLATFORM_VIEW, TREE_MACHINE)),
    Parameter('address', '127.0.0.1', 'address that the page is served on. The default is this '
                                      'computer alone; 0.0.0.0 is every network. Anyone with the '
                                      'full address of the page, which is in the log, gets in'),
    Parameter('port', 8080, 'port of the page; the next free one where it is taken', least=1,
              most=65535),
    Parameter('rate', 30.0, 'rate of pictures', 'Hz', least=1.0, most=60.0),
    Parameter('history', 60.0, 'time that the plots show', 's', least=1.0, most=3600.0),
    Parameter('path_time', 10.0, 'time that the path of the platform or of the base shows', 's',
              least=0.0, most=600.0),
    Parameter('dark', False, 'show the page on a dark background, and so the recording; a button '
              'of the page changes it for one browser'),
    Parameter('recording', '', 'HTML file that a recording of all that is shown is written to '
              'when the node ends, of 300 s at most; empty for none'),
) + PLATFORM_PARAMETERS + tuple(replace(parameter, run_time=False)
                                for parameter in MODEL_PARAMETERS)
