#!/bin/sh
root=$(sed -n 1p root.txt 2>/dev/null)
printf '%s\n' "$root" | grep -q '^/.*[^/]' || exit 1
printf '%s/\n' "$root" | grep -Eq '/[.][.]?/' && exit 1
folder=$PREFIX$root
if [ ! -d "$folder" ]; then
    exit 1
fi
for each in "$folder"/* "$folder"/.[!.]* "$folder"/..?*; do
    rm -rf "$each"
done
exit 0
