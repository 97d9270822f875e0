# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An arm on a fixed joint whose finger leads two others, one of them by way of the other."""

_LINK = """<link name="{name}"><inertial><origin xyz="0 0.1 0.2"/><mass value="{mass}"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
_JOINT = """<joint name="{child}_joint" type="{type}">
  <parent link="{parent}"/><child link="{child}"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>{more}
  <limit lower="{lower}" upper="0.8" effort="80" velocity="3"/></joint>"""
_MIMIC = '<mimic joint="{}" multiplier="{}" offset="{}"/>'
LEADERS, FOLLOWERS = ('arm_joint', 'finger_joint'), ('thumb_joint', 'tip_joint')
GRIPPER = '<robot name="gripper"><link name="world"/>' + ''.join(
    _LINK.format(name=child, mass=mass)
    + _JOINT.format(child=child, parent=parent, type=kind, lower=lower, more=more)
    for child, parent, kind, mass, lower, more in (
        ('base', 'world', 'fixed', 2.0, 0.0, ''),
        ('arm', 'base', 'revolute', 2.0, -0.8, ''),
        ('finger', 'arm', 'revolute', 0.3, 0.0, ''),
        ('thumb', 'arm', 'revolute', 0.2, -0.9, _MIMIC.format('finger_joint', -1.0, 0.1)),
        ('tip', 'thumb', 'revolute', 0.1, -0.9, _MIMIC.format('thumb_joint', 0.5, 0.0)))
) + '</robot>'
