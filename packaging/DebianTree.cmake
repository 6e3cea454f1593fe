# SPDX-License-Identifier: GPL-3.0-or-later
# Run by CPack on the folder of each package: what Debian wants otherwise than a prefix. Compressed pages and
# changes, a copyright file for each package, completion for zsh where Debian's zsh looks.
