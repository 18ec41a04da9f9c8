#!/bin/sh
[ -n "${1:-}" ] || exit 2
case $1 in
    /*) root=$1 ;;
    *) root=./$1 ;;
esac
[ -d "$root/usr/lib/nvidia current/xorg" ] || exit 0
find "$root/usr/lib/nvidia current/xorg" -delete
