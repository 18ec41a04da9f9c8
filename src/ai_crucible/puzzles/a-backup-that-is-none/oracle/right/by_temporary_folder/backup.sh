#!/bin/sh
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
sh -c "$1" > "$room/dump" || exit 1
test -s "$room/dump" || exit 1
gzip -c "$room/dump" > "$room/dump.gz" || exit 1
cat "$room/dump.gz" > "$2" || exit 1
exit 0
