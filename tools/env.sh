# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

# Source this (bash or zsh) to work by hand as the Makefile does. It is for colcon build, colcon
# test, python -m liedyn_ros..., and scripts such as those of examples/, which then import the
# package of this tree. A colcon workspace that is sourced later puts its own package first.
#   . tools/env.sh                  the ROS 2 that is sourced in this shell, else what make takes without DISTRO
#   DISTRO=jazzy . tools/env.sh     kilted, jazzy (wheels), sourced, or none (the core alone)
# REQUIREMENTS=oldest or newest takes the environment that make builds with these versions.
# DISTRO is a variable and no argument: a script that sources this without an argument would pass
# its own.

# The files that colcon writes read variables that are not set.
case $- in *u*) _nounset=-u ;; *) _nounset=+u ;; esac
set +u
_root=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")/.." && pwd)
_ros=${DISTRO:-${ROS_DISTRO:+sourced}}
[ -n "$_ros" ] || _ros=$("$_root/tools/setup.sh" release 2> /dev/null) || _ros=kilted
case $_ros in
  kilted) _venv=$_root/.venv ;;
  *) _venv=$_root/.venv-$_ros ;;
esac
case ${REQUIREMENTS:-runtime} in
  runtime) ;;
  *) _venv=$_venv-$REQUIREMENTS ;;
esac

if [ ! -x "$_venv/bin/python" ]; then
  echo "env: $_venv does not exist; run make build first" >&2
else
  export VIRTUAL_ENV=$_venv PATH=$_venv/bin:$PATH
  if [ "$_ros" != sourced ]; then
    # The root of the environment is the ament prefix of the wheels. The variables of
    # another ROS 2 are removed; the wheels set LD_LIBRARY_PATH by themselves when Python starts.
    unset COLCON_PREFIX_PATH LD_LIBRARY_PATH PYTHONPATH ROS_DISTRO _ROS_WHEELS_BOOTSTRAP_COMPLETE
    export AMENT_PREFIX_PATH=$_venv CMAKE_PREFIX_PATH=$_venv ROS_VERSION=2 ROS_PYTHON_VERSION=3
  fi
  if [ -f "$_venv/overlay/install/local_setup.sh" ]; then
    COLCON_CURRENT_PREFIX=$_venv/overlay/install . "$_venv/overlay/install/local_setup.sh"
  fi
  export PYTHONPATH=$_root${PYTHONPATH:+:$PYTHONPATH} PATH=$PATH:$_root/tools/bin  # liedyn
  # Python keeps what it compiles in the environment. A node that compiles its modules at each
  # start takes twice as long; and the sources stay free of __pycache__.
  export PYTHONPYCACHEPREFIX=$_venv/bytecode
  unset PYTHONDONTWRITEBYTECODE
fi
set $_nounset
unset _root _ros _venv _nounset
