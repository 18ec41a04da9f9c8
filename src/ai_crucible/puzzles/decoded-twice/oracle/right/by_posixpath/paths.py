import posixpath
import re
from urllib.parse import unquote_to_bytes

CONTROL = set(map(chr, [*range(32), *range(127, 160)]))


def resolve(path):
    try:
        text = str(unquote_to_bytes(path), "utf-8")
    except UnicodeError:
        return None
    if CONTROL & set(text) or "\\" in text or re.search(r"%[\dA-Fa-f]{2}", text, re.ASCII):
        return None
    if ".." in text.split("/"):
        return None
    tidy = posixpath.normpath("/" + text).lstrip("/")
    return "/site/" + tidy
