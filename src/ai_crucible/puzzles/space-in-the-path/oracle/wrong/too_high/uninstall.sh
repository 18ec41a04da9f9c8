#!/bin/sh
if [ -z "$1" ]; then
    exit 2
fi
rm -rf -- "$1/usr/lib/nvidia current"
