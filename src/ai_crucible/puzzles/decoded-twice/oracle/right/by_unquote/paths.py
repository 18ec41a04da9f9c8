import re
from urllib.parse import unquote


def resolve(path):
    try:
        text = unquote(path, errors="strict")
        text.encode()
    except UnicodeError:
        return None
    if re.search("%[0-9a-f][0-9a-f]", text, re.I) or "\\" in text:
        return None
    if any(ord(c) < 0x20 or 0x7F <= ord(c) <= 0x9F for c in text):
        return None
    kept = []
    for part in text.split("/"):
        if part == "..":
            return None
        if part and part != ".":
            kept.append(part)
    return "/".join(["/site", *kept]) if kept else "/site/"
