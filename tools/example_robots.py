# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write the table of example robots in docs/model_format.md: python -m tools.example_robots.

It counts warnings by kind. It needs example-robot-data.
"""

from collections import Counter
from importlib import metadata
from pathlib import Path
import warnings

from tools.command_line import no_arguments

from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.common.markup import as_text
from liedyn_ros.model import load_urdf

DOCUMENT = Path(__file__).parents[1] / 'docs/model_format.md'
BEGIN, END = '<!-- example robots: begin -->', '<!-- example robots: end -->'
FOLDER = 'cmeel.prefix/share/example-robot-data/robots'
FAULTS = {  # of a warning, and how the table puts them
    'mass: expected': 'inertia without mass',
    'positive definite': 'a principal moment of zero or less',
    'no principal moment above': 'a principal moment above the sum of the other two',
    'it mimics': 'mimics a missing joint',
    'of dynamics not read': 'attributes of dynamics that URDF lacks',
    'velocity and effort of 0': 'limits of 0, taken for not given',
    'or an effort of 0': 'limits of 0',
    'lower and upper of a continuous': 'bounds of a continuous joint',
    ': gravity not read': 'gravity of a link', 'origin not read': 'an origin of a link',
    'plugins ': 'plugins of Gazebo that may put forces on links',
    'gazebo:': 'joints of Gazebo', 'wider than the machine': 'inertia of a body wider than all',
    'a range of one position': 'a range of one position',
    'denser than any metal': 'masses beyond what their inertias allow',
    'farthest point': 'a centre of mass outside the shapes',
    'gravity acts on all': 'gravity turned off in Gazebo',
    'springStiffness': 'a spring of Gazebo',
    'gazebo plugin': 'a joint that a plugin of Gazebo couples'}


def main() -> None:
    """Write the table."""
    no_arguments(__doc__)
    text = DOCUMENT.read_text(encoding='utf-8')
    before, _, rest = text.partition(BEGIN)
    DOCUMENT.write_text(f'{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}',
                        encoding='utf-8')


def table() -> str:
    """Return how many URDF files of the wheel load, why not all, and the warnings by kind."""
    folder = Path(str(metadata.distribution('example-robot-data').locate_file(FOLDER)))
    files, refused, kinds = sorted(folder.rglob('*.urdf')), [], Counter[str]()
    for file in files:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', DescriptionWarning)
            try:
                model = load_urdf(file)
            except DescriptionError as error:
                why = str(error).partition(f'{file}: ')[2]
                refused.append(f'{as_text(file.name)} ({as_text(why)})')
                continue
        kinds.update({short for each in model.warnings
                      for key, short in FAULTS.items() if key in each})
    rows = [f'{len(files) - len(refused)} of {len(files)} load, all but {", ".join(refused)}.', '',
            '| warning | files |', '| --- | --- |']
    return '\n'.join((*rows, *(f'| {kind} | {count} |' for kind, count in sorted(
        kinds.items(), key=lambda each: (-each[1], each[0])))))


if __name__ == '__main__':
    main()
