# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""
Put questions to the search of the built site: python -m tools.site_search out/site [QUESTION ...].

Without a question: those that people asked of other packages, each of which must lead to its page
first. The search itself answers, in Node; without Node it is not asked.
"""

import argparse
import json
from pathlib import Path
import shutil
import subprocess
import sys

# Words, the page that answers them, and who asked, of GitHub.
QUESTIONS = (
    ('inverse kinematics', 'guides/reach', ''),
    ('gravity compensation', 'guides/arm', ''),
    ('payload', 'guides/arm', ''),
    ('gravity compensation torque UR5', 'guides/arm', 'NxRLab/ModernRobotics#48'),
    ('inverse kinematics with joint limits', 'guides/reach', 'stack-of-tasks/pinocchio#1251'),
    ('frame Jacobian LOCAL_WORLD_ALIGNED', 'dynamics', 'stack-of-tasks/pinocchio#1525'),
    ('time derivative of the Jacobian', 'dynamics', 'stack-of-tasks/pinocchio#901'),
    ('identify payload of the end effector', 'guides/identify', 'thanhndv212/figaroh-examples#5'),
    ('inertial parameters joint torque regressor', 'identification',
     'stack-of-tasks/pinocchio#1608'),
    ('identification of Coulomb friction', 'guides/identify', 'stack-of-tasks/pinocchio#1416'),
    ('jerk limits', 'guides/retiming', 'hungpham2511/toppra#133'),
    ('time parameterization with torque limits', 'guides/retiming', 'moveit/moveit#3412'),
    ('inverse dynamics of a four-bar loop', 'closed_loops', 'stack-of-tasks/pinocchio#2356'),
    ('gravity compensation closed loop', 'closed_loops', 'ORB-HD/rbdl-orb#31'),
    ('passive joints joint_states closed chain', 'closed_loops',
     'ros-controls/gazebo_ros2_control#235'),
    ('rotary Stewart platform with servos', 'guides/rotary_hexapod',
     'RotaryStewartPlatform#1'),
    ('Stewart platform forward kinematics from leg lengths', 'guides/stewart_platform', ''),
    ('external torque estimation without force sensor', 'guides/contacts',
     'Kinovarobotics/ros_kortex#87'),
    ('feed-forward effort joint_trajectory_controller', 'guides/ros2_control',
     'ros-controls/ros2_controllers#1200'),
    ('inverse dynamics C++ real time 1 kHz', 'guides/c', 'stack-of-tasks/pinocchio#753'),
    ('operational space control inertia', 'guides/reach', ''),
    ('calibrate robot geometry', 'guides/calibrate_arm', 'nnadeau/pybotics#888'),
    ('load MJCF model', 'model_format', ''),
    ('gravity torque of a legged robot that stands on the ground', 'guides/contacts',
     'stack-of-tasks/pinocchio#2737'),
    ('inverse dynamics of a floating base with contact forces', 'guides/contacts',
     'stack-of-tasks/pinocchio#61'),
    ('centroidal momentum time derivative', 'dynamics', 'stack-of-tasks/pinocchio#1252'),
    ('center of mass Jacobian', 'dynamics', 'stack-of-tasks/pinocchio#446'),
    ('mimic joints URDF', 'model_format', 'stack-of-tasks/pinocchio#2131'),
    ('closed kinematic chain in URDF and SDF', 'model_format', 'stack-of-tasks/pinocchio#1274'),
    ('effort controller with gravity compensation ros2_control', 'guides/ros2_control',
     'ros-controls/ros_control#469'),
    ('computed torque controller', 'guides/ros2_control', 'ros-controls/ros_controllers#433'),
    ('torque rate derivative of inverse dynamics motor current', 'guides/time_derivatives',
     'gbionics/idyntree#503'),
    ('servo angle from horn and rod hexapod', 'guides/rotary_hexapod',
     'NicHub/stewart-platform-esp32#5'),
    ('theory of forward kinematics of a Stewart platform', 'theory', 'LinuxCNC/linuxcnc#1353'),
    ('Stewart platform pose control feedback', 'nodes/stewart_controller',
     'correll/advancedrobotics#61'),
    ('fix joints at a value reduced model', 'guides/arm', 'stack-of-tasks/pinocchio#1232'),
    ('linearized dynamics', 'partial_derivatives', 'stack-of-tasks/pinocchio#1259'),
    ('second-order derivatives of forward dynamics', 'partial_derivatives',
     'stack-of-tasks/pinocchio#2691'),
    ('automatic differentiation JAX PyTorch', 'partial_derivatives', 'gbionics/idyntree#673'),
    ('detect singularity', 'stewart', 'Kinovarobotics/kinova-ros#94'),
    ('rnea gives different torques than another library', 'guides/pinocchio',
     'stack-of-tasks/pinocchio#1721'),
    ('torque control service from ROS', 'nodes/dynamics_server', 'unitreerobotics/z1_ros#15'),
    ('derivatives of contact dynamics', 'partial_derivatives', 'loco-3d/crocoddyl#21'),
    ('gradients and Hessians of the dynamics', 'partial_derivatives',
     'stack-of-tasks/pinocchio#437'),
    ('multiple inverse kinematics solutions', 'guides/reach', 'Phylliade/ikpy#144'),
    ('inverse kinematics position and orientation', 'guides/reach', 'Phylliade/ikpy#26'),
    ('mass matrix Coriolis matrix gravity vector', 'dynamics', 'google-deepmind/mujoco#1088'),
    ('armature rotor inertia of a joint', 'dynamics', 'RobotLocomotion/drake#13657'),
    ('impedance control', 'guides/reach', 'stack-of-tasks/pinocchio#1779'),
    ('external force inverse dynamics contact point', 'guides/contacts',
     'stack-of-tasks/pinocchio#1544'),
    ('walking robot ground contact', 'guides/contacts', 'stack-of-tasks/pinocchio#1015'),
    ('friction cone contact forces', 'guides/contacts', 'stack-of-tasks/pinocchio#132'),
    ('external wrench at the end effector', 'guides/contacts', 'epfl-lasa/iiwa_ros#19'),
    ('map link force to joint torque Jacobian transpose', 'dynamics',
     'mujocolab/mjlab#776'),
    ('static torques of a closed loop', 'closed_loops', 'google-deepmind/mujoco#1818'),
    ('simulate closed chain robot', 'closed_loops', 'guzhaoyuan/drake-tutorial#3'),
    ('excavator closed loop', 'guides/gallery', 'oKermorgant/gz_attach_links#1'),
    ('trajectory controller friction compensation', 'guides/arm',
     'ros-controls/ros_controllers#229'),
    ('excitation trajectory for identification', 'guides/identify', 'jrl-umi3218/RBDyn#29'),
)
TIMEOUT = 300.0  # s
ASK = """
const fs = require('fs'), vm = require('vm'), [site, ...questions] = process.argv.slice(1);
const nothing = () => null;
const here = vm.createContext({
  document: {getElementById: nothing, querySelectorAll: () => [], addEventListener: nothing},
  localStorage: {setItem: nothing}, DOCUMENTATION_OPTIONS: {}, SPHINX_HIGHLIGHT_ENABLED: false,
  _ready: nothing, _: text => text});
here.window = here;
for (const name of ['_static/searchtools.js', '_static/language_data.js', '_static/search.js',
                    'searchindex.js'])
  vm.runInContext(fs.readFileSync(`${site}/${name}`, 'utf8'), here, name);
here.questions = questions;
console.log(vm.runInContext(`Search.performTermsSearch = rankedPages; JSON.stringify(
  questions.map(each => Search._performSearch(...Search._parseQuery(each)).reverse()
                .map(found => found[0])))`, here));
"""


def pages_for(site: Path, questions: list[str]) -> list[list[str]]:
    """Return the pages that the search of a site finds for each question, best first."""
    done = subprocess.run(['node', '-e', ASK, str(site), *questions], check=True,
                          stdout=subprocess.PIPE, text=True, timeout=TIMEOUT)
    return [list(dict.fromkeys(pages)) for pages in json.loads(done.stdout)]


def main() -> int:
    """Print what is found; return 1 if a question of the list leads elsewhere first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('site', type=Path)
    parser.add_argument('question', nargs='*')
    arguments = parser.parse_args()
    if not shutil.which('node'):
        print('Node is not here: the search of the site is not asked', file=sys.stderr)
        return 0
    if arguments.question:
        for question, pages in zip(arguments.question,
                                   pages_for(arguments.site, arguments.question)):
            print(f'{question}: {" ".join(pages[:5])}')
        return 0
    found = pages_for(arguments.site, [question for question, _, _ in QUESTIONS])
    wrong = [f'{question}: {" ".join(pages[:4])}, not {wanted}' for (question, wanted, _), pages
             in zip(QUESTIONS, found) if pages[:1] != [wanted]]
    right = len(QUESTIONS) - len(wrong)
    print(*wrong, f'{right} of {len(QUESTIONS)} questions lead to their page', sep='\n')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
