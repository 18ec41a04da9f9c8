#!/bin/sh
if sh -c "$1" > "$2.draft" && [ -s "$2.draft" ] && cat < "$2.draft" > "$2.gz.draft"; then
    rm "$2.draft"
    mv "$2.gz.draft" "$2"
    exit
fi
rm "$2.draft"
exit 1
