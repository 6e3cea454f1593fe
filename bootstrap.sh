#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# From a fresh clone to an answer, or to tested programs, on Debian or Ubuntu:
#   ./bootstrap.sh [plan] install what is missing, build, plan an example
#   ./bootstrap.sh test   install what the tests need, build (also with sanitizers), run all tests
#   ./bootstrap.sh check [SECONDS]  what tests have no time for: release, clang, both analyzers, valgrind, memory that
#                         ends at a thousand places, each fuzzer for SECONDS (600)
#   ./bootstrap.sh coverage   which lines the tests run: build/coverage/report/index.html
# Packages are installed only when something is missing; otherwise no network is used.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly model=models/llama-1.1b-ddp.yaml cluster=h200-nvlink

# package|how to see that it is there
readonly build_needs='
gcc|command -v cc
make|command -v make
cmake|command -v cmake
pkg-config|command -v pkg-config
libc6-dev|test -e /usr/include/stdio.h
libyaml-dev|pkg-config --exists yaml-0.1
libsqlite3-dev|pkg-config --exists sqlite3
libgsl-dev|pkg-config --exists gsl
libjansson-dev|pkg-config --exists jansson
libxlsxwriter-dev|pkg-config --exists xlsxwriter
zlib1g-dev|test -e /usr/include/zlib.h
libjs-chart.js|test -e /usr/share/javascript/chart.js/chart.min.js
'
readonly test_needs='
libcmocka-dev|pkg-config --exists cmocka
clang-format-14|command -v clang-format-14
clang-tidy-14|command -v clang-tidy-14
cppcheck|command -v cppcheck
shellcheck|command -v shellcheck
locales|test -e /usr/share/i18n/locales/tr_TR
codespell|command -v codespell
mandoc|command -v mandoc
binutils|command -v nm
g++|command -v c++
git|command -v git
perl|command -v perl
libopenmpi-dev|command -v mpicc
openmpi-bin|command -v mpirun
clang|command -v clang
dpkg-dev|command -v dpkg-shlibdeps
zsh|command -v zsh
fish|command -v fish
libmpich-dev|command -v mpicc.mpich
mpich|command -v mpiexec.mpich
sqlite3|command -v sqlite3
procps|command -v ps
bsdutils|command -v script
util-linux|command -v unshare
libreoffice-calc-nogui|command -v soffice
zip|command -v zip
unzip|command -v unzip
chromium|command -v chromium
'

# shellcheck disable=SC2016 # the line is evaluated later
readonly check_needs='
clang|command -v clang
libclang-rt-14-dev|test -n "$(find /usr/lib -name libclang_rt.fuzzer-x86_64.a -print -quit)"
valgrind|command -v valgrind
gcovr|command -v gcovr
'

step() {
    printf '==> %s\n' "$*"
}

die() {
    printf 'bootstrap.sh: %s\n' "$*" >&2
    exit 1
}

usage() {
    sed -n '3,9s/^# \{0,1\}//p' "$0"
}

# Packages of a list whose check fails.
missing_of() {
    local package check
    while IFS='|' read -r package check; do
        [ -n "$package" ] || continue
        eval "$check" >/dev/null 2>&1 || printf '%s\n' "$package"
    done <<<"$1"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "not root and no sudo: install these packages and run again: ${missing[*]}"
    fi
}

install_missing() {
    local missing still
    mapfile -t missing < <(missing_of "$1")
    if [ "${#missing[@]}" -eq 0 ]; then
        step 'all packages are there'
        return
    fi
    command -v apt-get >/dev/null || die "no apt-get here: install what these Debian packages hold: ${missing[*]}"
    step "installing ${missing[*]}"
    as_root apt-get update -q
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
    mapfile -t still < <(missing_of "$1")
    [ "${#still[@]}" -eq 0 ] || die "still missing after installation: ${still[*]}"
}

# Presets of this project need CMake 3.25 (Debian 12, Ubuntu 23.04).
check_cmake() {
    local version
    version=$(cmake --version | sed -n '1s/[^0-9]*//p')
    [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" = 3.25 ] ||
        die "CMake $version is too old: 3.25 or newer is needed"
}

# build PRESET [TARGET...]; no warnings where `strict` is set.
build() {
    local preset=$1
    shift
    step "configuring preset $preset"
    cmake --preset "$preset" -Wno-dev ${strict:+-DGPULINK_WERROR=ON} >/dev/null
    step "building preset $preset"
    cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"} -- --no-print-directory
}

run_plan() {
    install_missing "$build_needs"
    check_cmake
    build release gpulink-plan gpulink-calibrate gpulink_calibrations
    step "build/release/bin/gpulink-plan $model --cluster $cluster"
    build/release/bin/gpulink-plan "$model" --cluster "$cluster"
    step "next: export PATH=\"$PWD/build/release/bin:\$PATH\"; gpulink-plan --help"
}

# Test cases that cmocka counted in the last run of a build, and programs that CTest ran.
count_tests() {
    local log=build/$1/Testing/Temporary/LastTest.log
    cases=$((cases + $(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')))
    programs=$((programs + $(grep -c '^Test Passed\.' "$log" || true)))
}

run_ctest() {
    local preset=$1
    shift
    step "testing preset $preset"
    ctest --preset "$preset" --parallel "$(nproc)" --no-tests=error "$@"
    count_tests "$preset"
}

closing_line() {
    local status=$?
    if [ "$status" -eq 0 ]; then
        printf 'bootstrap.sh: all passed: %d test programs, %d unit test cases in them\n' "$programs" "$cases"
    else
        printf 'bootstrap.sh: FAILED (status %d) after %d test programs that passed\n' "$status" "$programs"
    fi
    exit "$status"
}

run_test() {
    programs=0 cases=0 strict=yes
    trap closing_line EXIT
    install_missing "$build_needs$test_needs"
    check_cmake
    build dev
    build asan
    build tsan test_library_threads
    run_ctest dev
    # Sources and documents do not depend on the build; measuring, browsers, spreadsheets and laws over
    # thousands of cases take minutes with sanitizers, and the code that they run is in other tests, too.
    run_ctest asan --label-exclude '^(check|package|report|mpi|property)$' --exclude-regex 'test_(spreadsheet|readme)$'
    run_ctest tsan --tests-regex test_library_threads
}

# Each unit test under valgrind, which finds what is used before it is written. Tests that fork or count memory
# themselves are left out with the label faults.
run_valgrind() {
    step 'unit tests under valgrind'
    # shellcheck disable=SC2016 # $1 is the program
    find build/dev/tests -maxdepth 1 -name 'test_*' -type f -executable -print0 | sort -z |
        xargs -0 -P "$(nproc)" -I{} bash -c '
            [ -e "tests/unit/$(basename "$1").c" ] || exit 0
            export GPULINK_DATA= LOCPATH=$PWD/build/dev/tests/locale LC_ALL=de_DE.UTF-8
            valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
                "$1" >"$1.valgrind" 2>&1 ||
                { tail -n 40 "$1.valgrind"; exit 1; }' _ {}
}

# Each fuzzer for $1 seconds, from its corpus on, as many at once as there are cores; findings are left in build/fuzz.
run_fuzzers() {
    step "fuzzers, $1 s each"
    # shellcheck disable=SC2016 # $1 and $2 are the program and the seconds
    find build/fuzz/fuzz -maxdepth 1 -name 'fuzz_*' -type f -executable -print0 | sort -z |
        xargs -0 -P "$(nproc)" -I{} bash -c '
            name=${1##*/fuzz_}
            mkdir -p "build/fuzz/found/$name"
            "$1" -max_total_time="$2" -rss_limit_mb=2048 -verbosity=0 -artifact_prefix="build/fuzz/$name-" \
                "build/fuzz/found/$name" "tests/fuzz/corpus/$name" >"build/fuzz/$name.log" 2>&1 ||
                { tail -n 40 "build/fuzz/$name.log"; exit 1; }
            printf "    %s\n" "$name: nothing found"' _ {} "$1"
}

run_check() {
    strict=yes
    install_missing "$build_needs$test_needs$check_needs"
    check_cmake
    for preset in dev release clang clang-release clang-asan fuzz; do
        build "$preset"
    done
    ctest --preset release --parallel "$(nproc)" --no-tests=error --label-regex '^(unit|golden)$'
    ctest --preset clang --parallel "$(nproc)" --no-tests=error --label-regex '^(unit|golden|fuzz)$'
    ctest --preset clang-release --parallel "$(nproc)" --no-tests=error --label-regex '^(unit|golden)$'
    ctest --preset clang-asan --parallel "$(nproc)" --no-tests=error --label-regex '^(unit|golden|fuzz)$'
    step 'gcc -fanalyzer'
    GPULINK_SOURCE=$PWD GPULINK_BUILD=$PWD/build/dev tests/check/analyzer.sh
    step 'clang-analyzer'
    # Annex K, which that check wants, is in no library here; va_start is not understood (clang-tidy 14); loops over
    # doublings are exact; the order of members is that of the reader.
    local checks='-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling'
    checks+=',-clang-analyzer-valist.*,-clang-analyzer-security.FloatLoopCounter,-clang-analyzer-optin.performance.Padding'
    GPULINK_SOURCE=$PWD GPULINK_BUILD=$PWD/build/dev GPULINK_TIDY=$checks bash tests/check/test_tidy.sh
    run_valgrind
    step 'memory that ends at each of the first thousand allocations of a command'
    GPULINK_FAULTS=1000 GPULINK_DATA=$PWD/build/dev/data build/dev/tests/faults/test_allocations
    run_fuzzers "${1:-600}"
}

run_coverage() {
    install_missing "$build_needs$test_needs$check_needs"
    check_cmake
    build coverage
    # Threads that count the same lines wait for each other.
    OMP_NUM_THREADS=1 ctest --preset coverage --parallel "$(nproc)" --no-tests=error --label-regex '^(unit|property|golden|cli)$'
    mkdir -p build/coverage/report
    local folder
    for folder in common planner/core; do
        step "coverage of $folder (85 % of lines at least)"
        gcovr --root . --object-directory build/coverage --filter "$folder/" --print-summary --fail-under-line 85 \
            --output "build/coverage/report/${folder//\//-}.txt"
    done
    gcovr --root . --object-directory build/coverage --filter 'common/' --filter 'planner/' --filter 'calibrate/' \
        --html-details build/coverage/report/index.html
}

case ${1-plan} in
plan) run_plan ;;
test) run_test ;;
check) run_check "${2-}" ;;
coverage) run_coverage ;;
-h | --help) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac
