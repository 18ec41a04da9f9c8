#!/bin/sh
give_up() {
    rm -f "$1"
    exit 1
}
raw=$(mktemp)
sh -c "$1" >"$raw"
[ $? -eq 0 ] || give_up "$raw"
[ "$(wc -c <"$raw")" -gt 0 ] || give_up "$raw"
gzip <"$raw" >"$raw.z" && mv "$raw.z" "$2" && rm -f "$raw"
