import re
import unicodedata

SEQUENCE = re.compile(rb"%([0-9A-Fa-f]{2})")


def resolve(path):
    data = SEQUENCE.sub(lambda match: bytes.fromhex(match[1].decode()), path.encode("utf-8", "surrogatepass"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    parts = text.split("/")
    bad = SEQUENCE.search(data) or "\\" in text or ".." in parts
    if bad or any(unicodedata.category(c) == "Cc" for c in text):
        return None
    return "/site/" + "/".join(p for p in parts if p and p != ".")
