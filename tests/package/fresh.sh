#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# From nothing to the first plan: makes a fresh Debian or Ubuntu by debootstrap, puts a clone of this repository in, and
# runs `./bootstrap.sh` there as root; then makes the packages and installs them into a second fresh system by apt.
# Says how long each took. Needs root, debootstrap and the network; it is no part of the tests that run by themselves.
#   tests/package/fresh.sh [SUITE [MIRROR [FOLDER]]]     default: this machine's, /tmp
set -euo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suite=${1:-$(. /etc/os-release && echo "$VERSION_CODENAME")} mirror=${2-} folder=${3:-/tmp}
[ "$(id -u)" -eq 0 ] || { echo 'fresh.sh: only root can make a system'; exit 1; }
command -v debootstrap >/dev/null || { echo 'fresh.sh: debootstrap is missing'; exit 1; }
work=$(mktemp -d "$folder/gpulink-fresh.XXXXXX")
root=$work/root

# Nothing is removed while a folder of this machine is mounted below.
unmounted() {
    umount "$root/dev" "$root/proc" 2>/dev/null || true
    ! mountpoint -q "$root/proc" && ! mountpoint -q "$root/dev"
}
leave() {
    unmounted && rm -rf --one-file-system "$work"
}
trap leave EXIT

# A fresh system, with what this machine's apt needs to reach its mirrors.
fresh() {
    unmounted || { echo 'fresh.sh: something still runs in the system that was made'; exit 1; }
    rm -rf --one-file-system "$root"
    cp -a "$work/base" "$root"
    mount --bind /proc "$root/proc"
    mount --bind /dev "$root/dev"
}
inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb ${http_proxy:+http_proxy="$http_proxy"} \
        ${https_proxy:+https_proxy="$https_proxy"} chroot "$root" "$@"
}
timed() {
    local start=$SECONDS what=$1
    shift
    "$@" >"$work/log" 2>&1 || { tail -n 30 "$work/log"; echo "FAILED: $what"; exit 1; }
    echo "$what: $((SECONDS - start)) s"
}

timed "debootstrap $suite" debootstrap --variant=minbase --include=ca-certificates "$suite" "$work/base" ${mirror:+"$mirror"}
cp /etc/resolv.conf /etc/hosts "$work/base/etc/"
mkdir -p "$work/cache"
# The packages are fetched once, so that the time below is that with packages cached.
fetch() {
    inside apt-get update
    # shellcheck disable=SC2046 # a word is a package
    inside apt-get install -y --no-install-recommends --download-only \
        $(sed -n "/^readonly build_needs='/,/^'/s/^\([a-z][^|]*\)|.*/\1/p" "$source_folder/bootstrap.sh")
    cp "$root"/var/cache/apt/archives/*.deb "$work/cache/"
}
fresh
timed 'packages fetched' fetch
fresh
cp "$work"/cache/*.deb "$root/var/cache/apt/archives/"
git clone -q "$source_folder" "$root/root/gpulink"
timed 'bootstrap.sh, from a fresh system to the first plan' inside /root/gpulink/bootstrap.sh
grep -q '^Llama 1.1B' "$work/log" || { tail "$work/log"; echo 'FAILED: no plan'; exit 1; }

# BUILD_TESTING: the packages need no tests.
package() {
    inside apt-get install -y --no-install-recommends dpkg-dev file
    inside cmake -S /root/gpulink -B /root/gpulink/build/release -DBUILD_TESTING=OFF
    inside cmake --build /root/gpulink/build/release --parallel
    inside sh -c 'cd /root/gpulink/build/release && cpack'
    cp "$root"/root/gpulink/build/release/*.deb "$work/cache/"
}
timed 'packages made' package
fresh
mkdir "$root/packages"
cp "$work"/cache/gpulink*.deb "$root/packages/"
into() {
    inside apt-get update
    inside sh -c 'apt-get install -y --no-install-recommends /packages/*.deb'
    inside gpulink-plan /usr/share/gpulink/models/llama-1.1b-ddp.yaml --cluster h200-nvlink | grep '^Llama 1.1B'
    inside gpulink-calibrate --version
    inside apt-get purge -y gpulink gpulink-calibrate
    left=$(inside find / -xdev -path '*gpulink*' -not -path '/packages*' -not -path '/var/lib/apt/*')
    [ -z "$left" ] || { echo "left behind: $left"; return 1; }
}
timed 'packages installed by apt, run, removed' into
