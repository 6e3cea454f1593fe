#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Outputs are the same under a locale with a decimal comma and other orders of letters (de_DE), and one where i
# and I are other letters than elsewhere (tr_TR). The locales are made here: few machines have them.
set -euo pipefail
command -v localedef >/dev/null || { echo 'localedef is missing: see bootstrap.sh'; exit 1; }
[ -e /usr/share/i18n/locales/tr_TR ] || { echo 'the sources of locales are missing: see bootstrap.sh'; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LOCPATH=$work
for locale in de_DE tr_TR; do
    localedef -i $locale -f UTF-8 "$work/$locale.UTF-8" 2>/dev/null || [ -d "$work/$locale.UTF-8" ]
    [ "$(LC_ALL=$locale.UTF-8 locale decimal_point)" = , ] || { echo "$locale is not in force"; exit 1; }
    GPULINK_LOCALE=$locale.UTF-8 "$GPULINK_SOURCE/tests/golden/run.sh"
done
