def version(agent):
    best = None
    for name in ("Chrome/", "Firefox/", "Edg/"):
        place = agent.find(name)
        if place >= 0 and (best is None or place < best[0]):
            best = (place, place + len(name))
    if best is None:
        return None
    end = best[1]
    while end < len(agent) and (agent[end].isdigit() or agent[end] == "."):
        end += 1
    return tuple(int(part) for part in agent[best[1] : end].split("."))


def strip(text):
    parts = [int(part) for part in text.split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def newer(a, b):
    return strip(a) > strip(b)
