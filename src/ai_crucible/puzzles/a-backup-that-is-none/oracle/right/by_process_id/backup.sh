#!/bin/sh
set -u
dump=$1 file=$2
new="${file}.$$"
if ! sh -c "$dump" >"$new"; then
    rm -f -- "$new"
    exit 1
fi
if [ ! -s "$new" ]; then
    rm -f -- "$new"
    exit 1
fi
gzip -n "$new" && mv -f -- "$new.gz" "$file" && exit 0
rm -f -- "$new" "$new.gz"
exit 1
