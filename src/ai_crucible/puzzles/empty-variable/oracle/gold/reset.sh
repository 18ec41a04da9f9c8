#!/bin/sh
APPROOT="$(head -n 1 root.txt 2>/dev/null)"
case "$APPROOT" in
    /*[!/]*) ;;
    *) exit 1 ;;
esac
[ -d "$PREFIX$APPROOT" ] || exit 1
find "$PREFIX$APPROOT" -mindepth 1 -delete
