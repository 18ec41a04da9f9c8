#!/bin/sh
APPROOT="$(cat root.txt 2>/dev/null)"
rm -rf "$PREFIX$APPROOT/"*
