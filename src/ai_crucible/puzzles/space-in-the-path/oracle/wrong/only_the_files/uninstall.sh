#!/bin/sh
if [ -z "$1" ]; then
    exit 2
fi
find "$1/usr/lib/nvidia current/xorg" -type f -delete 2> /dev/null
exit 0
