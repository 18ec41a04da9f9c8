#!/bin/sh
ROOT=$1
if [ -z "$ROOT" ]; then
    echo "usage: uninstall.sh ROOT" >&2
    exit 2
fi
rm -rf -- "$ROOT/usr/lib/nvidia current/xorg"
