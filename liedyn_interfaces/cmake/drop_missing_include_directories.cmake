# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

# drop_missing_include_directories(<interface package>...)
#
# PyPI's wheels of ROS 2 export, for every interface package, a target
# <package>::<package>__rosidl_generator_py whose include folders are those of the machine that
# built the wheel (/opt/python/...). CMake refuses to generate with a folder that does not
# exist, so those folders are taken off the targets here. The code generated for this package
# finds Python's and numpy's headers by itself.
#
# On a sourced ROS 2 all folders exist, nothing is taken off and the targets stay untouched.
function(drop_missing_include_directories)
  foreach(package IN LISTS ARGN)
    set(target ${package}::${package}__rosidl_generator_py)
    find_package(${package} QUIET)
    if(NOT TARGET ${target})
      continue()
    endif()
    get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT directories)
      continue()
    endif()
    set(existing "")
    foreach(directory IN LISTS directories)
      if(directory MATCHES "^\\$<" OR IS_DIRECTORY "${directory}")
        list(APPEND existing "${directory}")
      endif()
    endforeach()
    if(NOT "${existing}" STREQUAL "${directories}")
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${existing}")
    endif()
  endforeach()
endfunction()
