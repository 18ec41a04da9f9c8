#!/bin/sh
if [ -n "$(sh -c "$1" | head -c 1)" ] && sh -c "$1" >/dev/null 2>&1; then
    sh -c "$1" | gzip -n > "$2"
    exit 0
fi
exit 1
