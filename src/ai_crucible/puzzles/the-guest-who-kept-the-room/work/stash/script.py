"""Scripts: requests as text."""

from stash.cache import Stash
from stash.errors import ScriptError, StashError


def read_script(text):
    """Return the capacities and the requests, each a time, a name and its arguments."""
    capacities, requests = None, []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            if capacities is None:
                capacities = _tiers(words)
            else:
                requests.append(_request(words))
        except ValueError as fault:
            raise ScriptError(number, str(fault)) from None
    if capacities is None:
        raise ScriptError(1, "there are no tiers")
    return capacities, requests


def _tiers(words):
    if words[0] != "tiers" or len(words) < 2:
        raise ValueError("the first line has the tiers")
    return [_whole(word) for word in words[1:]]


def _request(words):
    match words:
        case [now, "put", key, size]:
            return _whole(now), "put", (key, _whole(size))
        case [now, "put", key, size, "for", ttl]:
            return _whole(now), "put", (key, _whole(size), _whole(ttl))
        case [now, "put", key, size, "for", ttl, "again"]:
            return _whole(now), "put", (key, _whole(size), _whole(ttl), True)
        case [now, "get" | "pin" | "drop" as name, key]:
            return _whole(now), name, (key,)
        case [now, "release", ticket]:
            return _whole(now), "release", (_whole(ticket),)
        case [now, "resize", tier, capacity]:
            return _whole(now), "resize", (_whole(tier), _whole(capacity))
    raise ValueError("this is no request")


def _whole(text):
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def follow(text):
    """Yield what comes of a script, a line each."""
    capacities, requests = read_script(text)
    stash, now = Stash(capacities), 0
    for at, name, words in requests:
        try:
            answer = getattr(stash, name)(at, *words)
        except StashError:
            answer = "refused"
        now = max(now, at)
        yield f"{at} {name} {words[0]}: {_told(name, answer)}"
    for number, (keys, used) in enumerate(zip(stash.keys(now), stash.used(now))):
        yield f"tier {number}: {used} of {stash.tiers[number].capacity}, {' '.join(keys) or 'nothing'}"
    yield str(stash.counts)


def _told(name, answer):
    if answer == "refused":
        return answer
    if name == "pin":
        return "nothing" if answer is None else f"ticket {answer}"
    return {None: "done", True: "found", False: "nothing"}[answer]
