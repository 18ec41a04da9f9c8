#!/bin/sh
if [ -z "$1" ]; then
    exit 2
fi
cd "$1" 2>/dev/null || exit 0; rm -rf -- "usr/lib/nvidia current/xorg"
