#!/bin/sh
root="$(cat root.txt 2>/dev/null)"
[ -n "$root" ] || exit 1
rm -rf "$PREFIX$root/"*
