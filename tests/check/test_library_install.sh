#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The library as a stranger uses it: installed anywhere, found by pkg-config, linked by a program of C or C++.
set -euo pipefail
for tool in localedef nm pkg-config c++; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: see bootstrap.sh"; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$GPULINK_BUILD" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix" # a prefix may be moved
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name gpulink.pc)")
export PKG_CONFIG_PATH
libraries=$(pkg-config --variable=libdir gpulink)
read -ra flags < <(pkg-config --cflags --libs gpulink)
read -ra parts < <(pkg-config --static --libs gpulink | sed 's/-lgpulink//')
# What the build was instrumented with, its users need, too.
read -ra sanitizers < <(sed -n 's/^CMAKE_C_FLAGS:STRING=//p' "$GPULINK_BUILD/CMakeCache.txt")
grep -q 'GPULINK_SANITIZE:BOOL=ON' "$GPULINK_BUILD/CMakeCache.txt" && sanitizers+=('-fsanitize=address,undefined')
grep -q 'GPULINK_TSAN:BOOL=ON' "$GPULINK_BUILD/CMakeCache.txt" && sanitizers+=(-fsanitize=thread)
grep -q 'GPULINK_COVERAGE:BOOL=ON' "$GPULINK_BUILD/CMakeCache.txt" && sanitizers+=(--coverage)
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$GPULINK_BUILD/CMakeCache.txt")

# The header alone, as C and as C++.
echo '#include <gpulink.h>' | tee "$work/header.c" >"$work/header.cc"
"$compiler" -std=c11 -Wall -Wextra -pedantic -Werror -fsyntax-only "${flags[@]}" "$work/header.c"
c++ -std=c++11 -Wall -Wextra -pedantic -Werror -fsyntax-only "${flags[@]}" "$work/header.cc"

# Functions of the header, and nothing else, can be linked against.
"$compiler" -E -P "${flags[@]}" "$work/header.c" | grep -oE '\bgpulink_[a-z_]+\(' | tr -d '(' | sort -u >"$work/declared"
[ "$(wc -l <"$work/declared")" -ge 20 ] || { echo 'the header declares hardly anything'; exit 1; }
nm -D --defined-only "$libraries/libgpulink.so" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort >"$work/shared"
diff "$work/declared" "$work/shared" || { echo 'libgpulink.so does not define what gpulink.h declares'; exit 1; }
nm -g --defined-only "$libraries/libgpulink.a" | awk 'NF == 3 { print $3 }' | sort >"$work/static"
if [ ${#sanitizers[@]} -eq 0 ]; then
    diff "$work/declared" "$work/static" || { echo 'libgpulink.a does not define what gpulink.h declares'; exit 1; }
fi
# What changes while it runs: the lock on files, and what only a program turns on.
state=$(objdump --syms "$libraries/libgpulink.a" | awk '/ O (\.bss|\.data|\*COM\*)[[:space:]]/ { print $NF }' | sort | tr '\n' ' ')
if [ ${#sanitizers[@]} -eq 0 ] && [ "$state" != 'files inputs keeps_streams remembers say_wait streams ' ]; then
    echo "the library has other writable globals than is known: $state"
    exit 1
fi
# It prints and decides nothing for its host.
denied='printf|v?fprintf|puts|putchar|perror|exit|abort|setlocale|localeconv|strtok|signal|sigaction|localtime|gmtime|rand'
found=$(nm -D --undefined-only "$libraries/libgpulink.so" | awk '{ print $2 }' | sed 's/@.*//' | grep -Ex "($denied)" || true)
[ -n "$found" ] && [ ${#sanitizers[@]} -eq 0 ] && { echo "the library uses what it must not: $found"; exit 1; }

# The example, linked both ways.
example=$GPULINK_SOURCE/docs/examples/layouts.c
cc=("$compiler" -std=c11 -O2 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror "${sanitizers[@]}")
"${cc[@]}" "$example" "${flags[@]}" -Wl,-rpath,"$libraries" -o "$work/layouts"
"${cc[@]}" "$example" "$libraries/libgpulink.a" -I"$work/prefix/include" "${parts[@]}" -o "$work/layouts-static"
cd "$work"
share=$work/prefix/share/gpulink
export LOCPATH=$GPULINK_BUILD/tests/locale
LC_ALL=C ./layouts "$share/models/llama3-70b.yaml" hgx-h100-16-ndr >plain
LC_ALL=C GPULINK_DATA=$share ./layouts-static "$share/models/llama3-70b.yaml" hgx-h100-16-ndr >static.out
LC_ALL=de_DE.UTF-8 ./layouts "$share/models/llama3-70b.yaml" hgx-h100-16-ndr >comma
cat plain
diff <(sed '$d' plain) <(sed '$d' static.out)
grep -q '[0-9],[0-9]* s a step' comma || { echo 'the host has no decimal comma: is the package locales there?'; exit 1; }
diff <(sed '$d' plain) <(sed '$d; s/\([0-9]\),\([0-9]\)/\1.\2/g' comma)
grep -qE '^100000 layouts: [1-9][0-9]* are legal, [1-9][0-9]* fit$' plain
grep -qE '^[1-9][0-9]* layouts a second$' plain
# The first program of docs/library.md works as it stands.
sed -n '/^```c$/,/^```$/p' "$GPULINK_SOURCE/docs/library.md" | sed '1d;$d' >first.c
"${cc[@]}" first.c "${flags[@]}" -Wl,-rpath,"$libraries" -o first
(cd "$share" && "$work/first") | grep -E '^[0-9.]+ s a step \([0-9.]+ to [0-9.]+\), known: [a-z-]+$'
