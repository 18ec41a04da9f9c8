#!/bin/sh
sh -c "$1" | gzip -n > "$2.new" && mv "$2.new" "$2" || exit 1
