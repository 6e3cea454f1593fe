#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The Debian packages install into a root that holds nothing but what they declare to need, run there, and leave
# nothing behind. The root is made of the packages of this machine, so no network is used;
# tests/package/fresh.sh does the same, and more, in a fresh system.
source "$GPULINK_SOURCE/tests/package/support.sh"
need dpkg-deb dpkg-shlibdeps cpack unshare chroot
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cpack --config "$GPULINK_BUILD/CPackConfig.cmake" -B "$work" >log 2>&1 || { cat log; exit 1; }
plan=$(echo "$work"/gpulink_*.deb) calibrate=$(echo "$work"/gpulink-calibrate_*.deb)
if dpkg-deb -f "$plan" Depends | grep -Ei 'mpi|cuda|nccl|hwloc'; then
    die 'gpulink depends on what measures'
fi

# The packages of this machine that a list of dependencies leads to, each once.
declare -A wanted=()
follow() {
    local item name
    while read -r item; do
        for name in $(tr '|' '\n' <<<"$item" | sed 's/[ (:].*//;s/^ *//'); do
            [ -z "${wanted[$name]-}" ] || break
            [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$name" 2>/dev/null)" = 'ii ' ] || continue
            wanted[$name]=yes
            follow "$(dpkg-query -W -f '${Pre-Depends}, ${Depends}' "$name")"
            break
        done
    done < <(tr ',' '\n' <<<"$1" | sed 's/^ *//;/^$/d')
}
follow "$(dpkg-deb -f "$plan" Depends), $(dpkg-deb -f "$calibrate" Depends)"
[ "${#wanted[@]}" -ge 8 ] || die "the dependencies lead to ${!wanted[*]} alone"

root=$work/root
mkdir -p "$root"/{usr/{bin,sbin,lib,lib32,lib64,libx32},etc,tmp,var/lib/dpkg/{info,updates,triggers}}
for folder in bin sbin lib lib32 lib64 libx32; do
    ln -s "usr/$folder" "$root/$folder"
done
dpkg -L "${!wanted[@]}" | sort -u | while read -r file; do
    [ -d "$file" ] && [ ! -L "$file" ] || [ ! -e "$file" ] || printf '%s\0' "${file#/}"
done >files
tar -C / --null -T files -cf - | tar -C "$root" -xf -
dpkg-query -s "${!wanted[@]}" >"$root/var/lib/dpkg/status"

inside() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        unshare --map-root-user "$@"
    fi
}
list() {
    (cd "$root" && find . -path ./var/lib/dpkg -prune -o -print | sort)
}
list >before
inside dpkg --root="$root" --install "$plan" "$calibrate" >log 2>&1 || { cat log; exit 1; }
check_example inside chroot "$root" gpulink-plan "/usr/share/gpulink/$example_model" --cluster "$example_cluster"
# CUDA by NVIDIA's own installer is of no package, so it cannot be declared, and is not in the root.
if grep -qE '=> /(usr/local|opt)/' <<<"$(ldd "$GPULINK_BIN/gpulink-calibrate")"; then
    echo 'gpulink-calibrate is linked with libraries of no package: installed, but not run'
else
    expected=$(inside chroot "$root" gpulink-calibrate doctor --db /usr/share/gpulink/calibrations/h200-nvlink.db --table expected)
    grep -q nvlink4 <<<"$expected" || die 'gpulink-calibrate does not run'
fi
inside dpkg --root="$root" --purge gpulink-calibrate gpulink >log 2>&1 || { cat log; exit 1; }
list >after
diff -u before after || die 'these are left behind'
# What measures needs the planner's data, and says so.
if inside dpkg --root="$root" --install "$calibrate" >log 2>&1; then
    die 'gpulink-calibrate installs without gpulink'
fi
echo "installed beside ${#wanted[@]} packages, ran, removed"
