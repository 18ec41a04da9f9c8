import re
from urllib.parse import unquote

SEQUENCE = re.compile("%[0-9A-Fa-f]{2}")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\\\\]")


def resolve(path):
    path = unquote(path, errors="replace")
    if "\ufffd" in path or CONTROL.search(path) or SEQUENCE.search(path):
        return None
    parts = path.split("/")
    if ".." in parts:
        return None
    return "/site/" + "/".join(part for part in parts if part not in ("", "."))
