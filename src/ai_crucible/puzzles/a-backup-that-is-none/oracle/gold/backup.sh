#!/bin/sh
draft="$2.draft"
if sh -c "$1" > "$draft" && [ -s "$draft" ] && gzip -n < "$draft" > "$draft.gz"; then
    mv "$draft.gz" "$2"
    rm -f "$draft"
    exit 0
fi
rm -f "$draft" "$draft.gz"
exit 1
