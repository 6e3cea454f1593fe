# SPDX-License-Identifier: GPL-3.0-or-later
# Run by CMake at build time: cmake -D PROGRAM=… -D TEMPLATE=… -D PAGE=… -P ManualPage.cmake
# Fills a page of section 1: @synopsis@, @shared@ and @VERB@ are what the program's option tables say.
file(READ "${TEMPLATE}" text)
string(REGEX MATCHALL "\n@[a-z]+@\n" parts "${text}")
foreach(part IN LISTS parts)
  string(REGEX REPLACE "[\n@]" "" part "${part}")
  execute_process(COMMAND "${PROGRAM}" help --man ${part} OUTPUT_VARIABLE ${part}
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endforeach()
configure_file("${TEMPLATE}" "${PAGE}" @ONLY)
