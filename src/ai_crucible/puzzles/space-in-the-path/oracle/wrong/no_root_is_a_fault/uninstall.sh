#!/bin/sh
if [ -z "$1" ] || [ ! -d "$1" ]; then
    exit 2
fi
rm -rf -- "$1/usr/lib/nvidia current/xorg"
exit 0
