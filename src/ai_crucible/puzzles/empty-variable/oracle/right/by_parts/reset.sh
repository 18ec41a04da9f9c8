#!/bin/sh
set -f
line=$(head -n1 root.txt 2>/dev/null) || exit 1
[ "${line#/}" != "$line" ] || exit 1
named=no
IFS=/
for part in $line; do
    case $part in
        . | ..) exit 1 ;;
        ?*) named=yes ;;
    esac
done
unset IFS
[ "$named" = yes ] && [ -d "$PREFIX$line" ] || exit 1
find "$PREFIX$line" -depth -mindepth 1 -exec rm -r {} \; >/dev/null 2>&1
exit 0
