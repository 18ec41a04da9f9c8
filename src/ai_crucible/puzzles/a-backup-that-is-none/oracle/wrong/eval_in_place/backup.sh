#!/bin/sh
raw=$(mktemp) || exit 1
trap 'rm -f "$raw"' EXIT
eval "$1" > "$raw" || exit 1
[ -s "$raw" ] || exit 1
gzip -n < "$raw" > "$raw.gz" || { rm -f "$raw.gz"; exit 1; }
cat "$raw.gz" > "$2" || { rm -f "$raw.gz"; exit 1; }
rm -f "$raw.gz"
exit 0
