#!/bin/sh
ROOT=${1-}
case $ROOT in
    "")
        echo "usage: uninstall.sh ROOT" >&2
        exit 2
        ;;
esac
left="$ROOT/usr/lib/nvidia current/xorg"
[ ! -e "$left" ] || rm -r -- "$left"
exit 0
