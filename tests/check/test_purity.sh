#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The core is pure: structs in, structs out. No files, streams, clock, environment, locale, globals
# of the C library's random numbers, databases or YAML: shown by the symbols that its archive needs.
set -euo pipefail
archive=$GPULINK_BUILD/planner/core/libgpulink_core.a
denied='fopen|fdopen|freopen|fclose|fread|fwrite|fgets|fgetc|getc|getchar|ungetc|fseek|ftell|rewind'
denied+='|f?printf|vf?printf|dprintf|f?puts|f?putc|putchar|perror|fflush|f?scanf|stdin|stdout|stderr'
denied+='|__f?printf_chk|__vf?printf_chk|open|openat|read|write|close|unlink|rename|stat|opendir|mmap'
denied+='|getenv|secure_getenv|setenv|time|clock|clock_gettime|gettimeofday|nanosleep|sleep|usleep'
denied+='|setlocale|rand|srand|random|srandom|drand48|system|popen|fork|exec.*|exit|_exit'
denied+='|pthread_.*|signal|sigaction|sqlite3_.*|yaml_.*|isatty|ioctl|syslog'
found=$(nm --undefined-only --format=posix "$archive" | awk 'NF == 2 && $2 == "U" { print $1 }' |
    sort -u | grep -Ex "($denied)(64|@.*)?" || true)
if [ -n "$found" ]; then
    echo "the core uses what it must not: ${found//$'\n'/ }"
    exit 1
fi
# A deny list that matches nothing proves nothing: the archive must need something.
[ "$(nm --undefined-only --format=posix "$archive" | wc -l)" -gt 20 ]
# Writable globals are state, too. Constants with addresses in them (.data.rel.ro) are none. The
# sanitizers add globals of their own.
if ! grep -q 'GPULINK_SANITIZE:BOOL=ON' "$GPULINK_BUILD/CMakeCache.txt"; then
    state=$(objdump --syms "$archive" | grep -E ' O (\.bss|\.data|\*COM\*)[[:space:]]' | awk '{ print $NF }' || true)
    if [ -n "$state" ]; then
        echo "the core has writable globals: ${state//$'\n'/ }"
        exit 1
    fi
fi
echo 'the core is pure'
