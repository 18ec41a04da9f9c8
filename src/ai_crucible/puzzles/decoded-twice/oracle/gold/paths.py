import re
from urllib.parse import unquote_to_bytes


def resolve(path):
    try:
        text = unquote_to_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "\\" in text or any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text):
        return None
    if re.search(r"%[0-9A-Fa-f]{2}", text):
        return None
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts:
        return None
    return "/site/" + "/".join(parts)
