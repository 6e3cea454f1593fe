# SPDX-License-Identifier: GPL-3.0-or-later
# Run by CPack on the folders that become packages: what Debian wants otherwise than any other prefix.
file(GLOB trees "${CPACK_TEMPORARY_DIRECTORY}/gpulink*/usr")
list(LENGTH trees count)
list(LENGTH CPACK_COMPONENTS_ALL expected)
if(NOT count EQUAL expected)
  message(FATAL_ERROR "${count} of ${expected} packages in ${CPACK_TEMPORARY_DIRECTORY}")
endif()

# -n: the same file, whenever it is made.
function(compress)
  execute_process(COMMAND gzip -9nf ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # or SOURCE_DATE_EPOCH

foreach(tree IN LISTS trees)
  cmake_path(GET tree PARENT_PATH root)
  cmake_path(GET root FILENAME package)
  file(GLOB_RECURSE pages "${tree}/share/man/*.[15]")
  compress(${pages})
  file(MAKE_DIRECTORY "${tree}/share/doc/${package}")
  configure_file("${CPACK_GPULINK_SOURCE}/packaging/copyright" "${tree}/share/doc/${package}/copyright" COPYONLY)
  configure_file("${CPACK_GPULINK_SOURCE}/CHANGELOG.md" "${tree}/share/doc/${package}/changelog" COPYONLY)
  set(version "${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
  file(WRITE "${tree}/share/doc/${package}/changelog.Debian" "gpulink (${version}) unstable; urgency=medium

  * Built from the sources of ${CPACK_PACKAGE_VERSION}; its changes are in changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  compress("${tree}/share/doc/${package}/changelog" "${tree}/share/doc/${package}/changelog.Debian")
  if(EXISTS "${tree}/share/zsh/site-functions")
    file(RENAME "${tree}/share/zsh/site-functions" "${tree}/share/zsh/vendor-completions")
  endif()
endforeach()
