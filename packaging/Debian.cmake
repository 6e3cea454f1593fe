# SPDX-License-Identifier: GPL-3.0-or-later
# cpack in a build folder makes gpulink_VERSION_ARCH.deb and gpulink-calibrate_VERSION_ARCH.deb.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL gpulink gpulink-calibrate)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_NAME gpulink)
set(CPACK_PACKAGE_VENDOR gpulink)
set(CPACK_PACKAGE_CONTACT "gpulink maintainers <maintainers@gpulink.invalid>" CACHE STRING "Maintainer of packages")
set(CPACK_GPULINK_SOURCE "${PROJECT_SOURCE_DIR}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/DebianTree.cmake")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_GPULINK_PACKAGE_NAME gpulink)
set(CPACK_COMPONENT_GPULINK_DESCRIPTION "capacity planning for GPU interconnects
How fast do the links between GPUs have to be? gpulink-plan counts what a
training step moves, to the byte, puts it on bandwidth curves that were
measured, and says what the job needs, what the cluster gives, what waits
for what, and what it costs. It needs no GPU and no network.")
set(CPACK_DEBIAN_GPULINK-CALIBRATE_PACKAGE_NAME gpulink-calibrate)
set(CPACK_DEBIAN_GPULINK-CALIBRATE_PACKAGE_DEPENDS
  "gpulink (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_COMPONENT_GPULINK-CALIBRATE_DESCRIPTION "measurement of GPU interconnects for gpulink-plan
Collectives between GPUs (NCCL) or between host buffers (MPI) become curves
in a database, and so do logs of nccl-tests and rccl-tests. gpulink-calibrate
also says why a fast link runs on a slow path.")
