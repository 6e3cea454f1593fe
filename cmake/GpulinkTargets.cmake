# SPDX-License-Identifier: GPL-3.0-or-later

# gpulink_library(NAME [LIBRARIES...]): a layer, made of all .c files of the current folder.
function(gpulink_library name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.c")
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${ARGN} PRIVATE gpulink_flags)
endfunction()
