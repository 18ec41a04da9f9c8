#!/bin/sh
[ -f root.txt ] || exit 1
APPROOT="$(head -n 1 root.txt)"
case "$APPROOT/" in
    */../* | */./*) exit 1 ;;
esac
case "$APPROOT" in
    /*[!/]*) ;;
    *) exit 1 ;;
esac
folder="$PREFIX$APPROOT"
[ -d "$folder" ] || exit 1
rm -rf "$folder" && mkdir "$folder"
