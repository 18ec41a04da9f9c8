import re
from urllib.parse import unquote_to_bytes

REFUSED = re.compile(r"[\\\x00-\x1f\x7f-\x9f]|%[0-9A-Fa-f]{2}")


def resolve(path):
    try:
        text = unquote_to_bytes(unquote_to_bytes(path)).decode()
    except UnicodeError:
        return None
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if REFUSED.search(text) or ".." in parts:
        return None
    return "/site/" + "/".join(parts)
