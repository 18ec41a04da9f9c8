#!/bin/sh
tmp="$2.tmp"
if sh -c "$1" > "$tmp" && [ -s "$tmp" ]; then
    gzip -n < "$tmp" > "$tmp.gz" && mv -f "$tmp.gz" "$2" && rm -f "$tmp" && exit 0
fi
rm -f "$tmp" "$tmp.gz"
exit 1
