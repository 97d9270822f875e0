# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

# link_over_wheels(<executable>): mends what PyPI's wheels of ROS 2 export, after find_package.
#
# Their targets name include folders and libraries of the machine that built them. Their librcl needs
# libpython, and their libraries are in several folders. Without these folders, on a sourced ROS 2,
# nothing is changed.

function(link_over_wheels executable)
  set(prefix "${rcl_DIR}/../../..")
  file(GLOB folders "${prefix}/lib/python*/site-packages/ros_*.libs")
  if(NOT folders)
    return()
  endif()
  get_directory_property(targets IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    foreach(property INTERFACE_INCLUDE_DIRECTORIES INTERFACE_LINK_LIBRARIES)
      get_target_property(values ${target} ${property})
      if(NOT values)
        continue()
      endif()
      set(kept "")
      foreach(value IN LISTS values)
        if(NOT IS_ABSOLUTE "${value}" OR EXISTS "${value}")
          list(APPEND kept "${value}")
        endif()
      endforeach()
      set_target_properties(${target} PROPERTIES ${property} "${kept}")
    endforeach()
  endforeach()
  find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Embed)
  target_link_options(${executable} PRIVATE
    LINKER:--allow-shlib-undefined LINKER:--disable-new-dtags)
  target_link_libraries(${executable} PRIVATE "-Wl,--no-as-needed" Python3::Python)
  set_target_properties(${executable} PROPERTIES
    BUILD_RPATH "${folders};${prefix}/lib" INSTALL_RPATH "${folders};${prefix}/lib")
endfunction()
