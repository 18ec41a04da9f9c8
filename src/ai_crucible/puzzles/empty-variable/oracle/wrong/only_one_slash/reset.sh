#!/bin/sh
root=$(head -n 1 root.txt 2> /dev/null)
case "$root" in
    "" | / | */..* | */./* | */.) exit 1 ;;
    /*) ;;
    *) exit 1 ;;
esac
[ -d "$PREFIX$root" ] || exit 1
find "$PREFIX$root" -mindepth 1 -delete
