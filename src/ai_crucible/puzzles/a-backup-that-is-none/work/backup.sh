#!/bin/sh
$1 | gzip -n > "$2"
exit 0
