#!/bin/sh
if sh -c "$1" > "$2" && [ -s "$2" ]; then
    gzip -n < "$2" > "$2.d" && mv "$2.d" "$2"
    exit 0
fi
rm -f "$2"
exit 1
