def walk(start, path):
    place = list(start)
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            place.append(part)
        elif not place:
            return None
        else:
            place.pop()
    return place


def allowed(members):
    kept = []
    for name, kind, target in members:
        texts = [name, target] if kind == "link" else [name]
        if any(not text or text[0] == "/" or "\\" in text or "\x00" in text for text in texts):
            continue
        if walk([], name) is None:
            continue
        if kind == "link":
            shown = [part for part in name.split("/") if part and part != "."]
            if not shown or shown.pop() == "..":
                continue
            if walk(walk([], "/".join(shown)), target) is None:
                continue
        kept.append(name)
    return kept
