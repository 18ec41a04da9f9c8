#!/bin/sh
root=
[ -f root.txt ] && IFS= read -r root < root.txt
case $root in
    '' | [!/]*) exit 1 ;;
esac
case $root/ in
    */../* | */./*) exit 1 ;;
esac
[ -z "$(printf %s "$root" | tr -d /)" ] && exit 1
cd "$PREFIX$root" 2>/dev/null || exit 1
find . ! -name . -prune -exec rm -rf {} +
