# SPDX-License-Identifier: GPL-3.0-or-later
# Files that become part of a program, as arrays of bytes.

# base64 of hexadecimal digits.
function(gpulink_base64 hex result)
  set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(LENGTH "${hex}" length)
  set(text "")
  foreach(at RANGE 0 ${length} 6)
    string(SUBSTRING "${hex}" ${at} 6 group)
    string(LENGTH "${group}" digits)
    if(digits EQUAL 0)
      break()
    endif()
    string(SUBSTRING "${group}00000" 0 6 group)
    math(EXPR bits "0x${group}")
    foreach(shift 18 12 6 0)
      math(EXPR index "(${bits} >> ${shift}) & 63")
      string(SUBSTRING "${letters}" ${index} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
    if(digits LESS 6)
      math(EXPR kept "${digits} / 2 + 1")
      string(LENGTH "${text}" all)
      math(EXPR kept "${all} - 4 + ${kept}")
      string(SUBSTRING "${text}" 0 ${kept} text)
      string(SUBSTRING "==" 0 1 padding)
      if(digits EQUAL 2)
        set(padding "==")
      endif()
      string(APPEND text "${padding}")
    endif()
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Adds `const char SYMBOL[]` (terminated) and SYMBOL_hash, which a content security policy names, to the C text
# in `variable`. Lines that point at other files are left out. FILE "" gives an empty text.
function(gpulink_embed variable symbol file)
  set(copy "${PROJECT_BINARY_DIR}/generated/${symbol}.embedded")
  set(content "")
  if(file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" content)
    string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" content "${content}")
    string(TOLOWER "${content}" lower)
    if(lower MATCHES "</script|</style|<!--")
      message(FATAL_ERROR "${file} cannot stand inside of HTML")
    endif()
  endif()
  file(WRITE "${copy}" "${content}")
  file(SHA256 "${copy}" hash)
  gpulink_base64("${hash}" hash)
  file(READ "${copy}" bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(REGEX REPLACE "(..................................................................................................)" "\\1\n"
         bytes "${bytes}")
  set(${variable} "${${variable}}
const char ${symbol}[] = {
${bytes}'\\0'};
const char ${symbol}_hash[] = \"sha256-${hash}\";
" PARENT_SCOPE)
endfunction()
