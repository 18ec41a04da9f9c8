def _byte(pair):
    """The value of two hex digits, or None."""
    if len(pair) != 2:
        return None
    try:
        value = int(pair, 16)
    except ValueError:
        return None
    return value if value >= 0 else None


def _decode(path):
    out = bytearray()
    place = 0
    while place < len(path):
        value = _byte(path[place + 1 : place + 3]) if path[place] == "%" else None
        if value is None:
            out += path[place].encode("utf-8")
            place += 1
        else:
            out.append(value)
            place += 3
    return out.decode("utf-8")


def resolve(path):
    try:
        path = _decode(path)
    except UnicodeError:
        return None
    for place, character in enumerate(path):
        if character == "\\" or character < " " or "\x7f" <= character <= "\x9f":
            return None
        if character == "%" and _byte(path[place + 1 : place + 3]) is not None:
            return None
    parts = path.split("/")
    if ".." in parts:
        return None
    return "/site/" + "/".join(part for part in parts if part not in ("", "."))
