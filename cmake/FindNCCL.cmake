# SPDX-License-Identifier: GPL-3.0-or-later
# NCCL and the CUDA runtime, by their headers and libraries: no CUDA compiler is needed.
# Looks at NCCL_HOME, NCCL_ROOT, CUDA_HOME, CUDA_PATH, /usr/local/cuda and the system's folders.
# Gives NCCL_FOUND, NCCL_VERSION, CUDA_RUNTIME_VERSION, CUBLASLT_FOUND, the target NCCL::nccl.
set(_cuda_hints ENV CUDA_HOME ENV CUDA_PATH)
set(_cuda_paths /usr/local/cuda /opt/cuda)
set(_nccl_hints ENV NCCL_HOME ENV NCCL_ROOT ${_cuda_hints})
set(_include_suffixes include targets/x86_64-linux/include targets/sbsa-linux/include)
set(_lib_suffixes lib64 lib lib/x86_64-linux-gnu lib/aarch64-linux-gnu targets/x86_64-linux/lib
  targets/sbsa-linux/lib)

find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${_nccl_hints} PATHS ${_cuda_paths} PATH_SUFFIXES ${_include_suffixes})
find_library(NCCL_LIBRARY nccl HINTS ${_nccl_hints} PATHS ${_cuda_paths} PATH_SUFFIXES ${_lib_suffixes})
find_path(CUDART_INCLUDE_DIR cuda_runtime.h HINTS ${_cuda_hints} PATHS ${_cuda_paths} PATH_SUFFIXES ${_include_suffixes})
find_library(CUDART_LIBRARY cudart HINTS ${_cuda_hints} PATHS ${_cuda_paths} PATH_SUFFIXES ${_lib_suffixes})
find_path(CUBLASLT_INCLUDE_DIR cublasLt.h HINTS ${_cuda_hints} PATHS ${_cuda_paths} PATH_SUFFIXES ${_include_suffixes})
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY CUDART_INCLUDE_DIR CUDART_LIBRARY CUBLASLT_INCLUDE_DIR)

# The value of a number that a header defines.
function(_read_define header name out)
  file(STRINGS "${header}" _line REGEX "^#define ${name} +[0-9]+" LIMIT_COUNT 1)
  string(REGEX REPLACE ".* ([0-9]+).*" "\\1" _value "${_line}")
  set(${out} "${_value}" PARENT_SCOPE)
endfunction()

if(NCCL_INCLUDE_DIR)
  foreach(_part MAJOR MINOR PATCH)
    _read_define("${NCCL_INCLUDE_DIR}/nccl.h" NCCL_${_part} _${_part})
  endforeach()
  set(NCCL_VERSION "${_MAJOR}.${_MINOR}.${_PATCH}")
endif()
if(CUDART_INCLUDE_DIR)
  _read_define("${CUDART_INCLUDE_DIR}/cuda_runtime_api.h" CUDART_VERSION _cudart)
  math(EXPR _major "${_cudart} / 1000")
  math(EXPR _minor "${_cudart} % 1000 / 10")
  set(CUDA_RUNTIME_VERSION "${_major}.${_minor}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL
  REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR CUDART_LIBRARY CUDART_INCLUDE_DIR
  VERSION_VAR NCCL_VERSION)

# cuBLASLt is loaded at run time and only when rates are measured: its header suffices.
set(CUBLASLT_FOUND FALSE)
if(NCCL_FOUND AND CUBLASLT_INCLUDE_DIR)
  set(CUBLASLT_FOUND TRUE)
endif()
if(NCCL_FOUND AND NOT TARGET NCCL::nccl)
  add_library(NCCL::nccl INTERFACE IMPORTED)
  set_target_properties(NCCL::nccl PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${NCCL_INCLUDE_DIR};${CUDART_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${NCCL_LIBRARY};${CUDART_LIBRARY}")
endif()
