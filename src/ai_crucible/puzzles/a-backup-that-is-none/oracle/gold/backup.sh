#!/bin/sh
draft=$(mktemp -d "$2.XXXXXX") || exit 1
if sh -c "$1" > "$draft/dump" && [ -s "$draft/dump" ] && gzip -n "$draft/dump" && mv "$draft/dump.gz" "$2"; then
    rm -r "$draft"
    exit
fi
rm -r "$draft"
exit 1
