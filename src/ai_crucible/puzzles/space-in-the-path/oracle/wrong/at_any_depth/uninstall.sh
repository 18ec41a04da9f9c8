#!/bin/sh
[ -n "$1" ] || exit 2
case $1 in
    /*) root=$1 ;;
    *) root=./$1 ;;
esac
find "$root" -depth -type d -path '*/usr/lib/nvidia current/xorg' -exec rm -rf -- {} \; 2>/dev/null
exit 0
