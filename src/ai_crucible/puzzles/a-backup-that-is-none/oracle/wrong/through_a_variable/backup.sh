#!/bin/sh
data=$(sh -c "$1") || exit 1
[ -n "$data" ] || exit 1
printf "%s\n" "$data" | gzip -n > "$2"
