#!/usr/bin/env bash
# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

# Run a command in a clone of this repository on another suite of Debian, in a chroot: the way to
# the Pythons and libraries that this machine does not have. Needs root and debootstrap.
#   tools/debian.sh SUITE FOLDER COMMAND...
#   tools/debian.sh testing out/debian/testing make test       Python 3.14
#   tools/debian.sh trixie out/debian/trixie make test         Debian 13, Python 3.13
# FOLDER keeps the system, so that a second run starts at once; `rm -rf` removes it once no run uses it.

set -euo pipefail
[[ $# -ge 3 ]] || { sed -n 's/^#   /usage: /p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")/.." && pwd)
suite=$1 root=$(realpath -m "$2")
shift 2
[[ $(id -u) == 0 ]] || { echo "debian: a chroot needs root" >&2; exit 1; }
command -v debootstrap > /dev/null \
  || { echo "debian: no debootstrap; apt install debootstrap" >&2; exit 1; }

packages=ca-certificates,cmake,g++,git,make,procps,python3,python3-dev,python3-venv
if [[ ! -e $root/.made ]]; then
  echo "debian: making $suite in $root, some 900 MB in 2 to 5 minutes"
  debootstrap --variant=minbase --include=$packages "$suite" "$root" > "$root.log" 2>&1 \
    || { tail -n 20 "$root.log" >&2; exit 1; }
  touch "$root/.made"
fi

# What this machine needs to reach its package registries.
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf "${HOME:-/root}/.config/pip/pip.conf" \
    /etc/ssl/certs/ca-certificates.crt; do
  [[ ! -e $file ]] || { mkdir -p "$root$(dirname "$file")"; cp -L "$file" "$root$file"; }
done

clone=$root/liedyn_ros
if [[ -e $clone ]]; then
  git -C "$clone" fetch -q "$here" HEAD && git -C "$clone" checkout -q --detach FETCH_HEAD
else
  git clone -q "$here" "$clone"
fi
# Mounts are seen by this run alone and end with it, however it ends: `rm -rf` finds none of this machine's devices.
# Folders of wheels and certificates that pip is pointed to are this machine's.
env -u PIP_FIND_LINKS -u PIP_CERT -u ROS_DISTRO -u AMENT_PREFIX_PATH HOME=/root \
  unshare --mount bash -ec 'mount -t proc proc "$1/proc"; mount --bind /dev "$1/dev"; mount -t tmpfs tmpfs "$1/dev/shm"
    exec chroot "$1" bash -c "cd /liedyn_ros && git config --global --replace-all safe.directory /liedyn_ros && exec \"\$@\"" "$@"' \
  bash "$root" "$@"
