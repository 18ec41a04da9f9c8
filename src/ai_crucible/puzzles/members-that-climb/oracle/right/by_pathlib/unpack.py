from itertools import accumulate
from pathlib import PurePosixPath


def inside(path):
    steps = (-1 if part == ".." else 1 for part in path.parts)
    return min(accumulate(steps), default=0) >= 0


def acceptable(text):
    return text != "" and not PurePosixPath(text).is_absolute() and "\\" not in text and "\0" not in text


def allowed(members):
    names = []
    for name, kind, target in members:
        path = PurePosixPath(name)
        good = acceptable(name) and inside(path)
        if good and kind == "link":
            good = path.name not in ("", "..") and acceptable(target) and inside(path.parent / target)
        if good:
            names.append(name)
    return names
