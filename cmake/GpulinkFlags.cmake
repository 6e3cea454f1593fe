# SPDX-License-Identifier: GPL-3.0-or-later
# Warnings, hardening and instrumentation, as one interface target that every target links.
add_library(gpulink_flags INTERFACE)
target_include_directories(gpulink_flags INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
target_compile_definitions(gpulink_flags INTERFACE _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700)
target_compile_options(gpulink_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla -Wcast-align -Wwrite-strings
  -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wformat=2
  $<$<C_COMPILER_ID:GNU>:-Wdouble-promotion> # clang takes every NAN and INFINITY for a float
  $<$<BOOL:${GPULINK_WERROR}>:-Werror>
  $<$<CONFIG:Release>:-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
target_link_options(gpulink_flags INTERFACE $<$<CONFIG:Release>:-Wl,-z,relro,-z,now>)
if(GPULINK_SANITIZE)
  target_compile_options(gpulink_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(gpulink_flags INTERFACE -fsanitize=address,undefined)
endif()
if(GPULINK_TSAN)
  target_compile_options(gpulink_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(gpulink_flags INTERFACE -fsanitize=thread)
endif()
if(GPULINK_FUZZ)
  target_compile_options(gpulink_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(GPULINK_COVERAGE)
  target_compile_options(gpulink_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(gpulink_flags INTERFACE --coverage)
endif()
