import re

BAD = re.compile(r"^/|\A\Z|[\\\x00]")


def lowest(parts, depth=0):
    if not parts:
        return depth
    head, *rest = parts
    depth += {"..": -1, ".": 0, "": 0}.get(head, 1)
    return min(depth, lowest(rest, depth))


def safe(member):
    name, kind, target = member
    parts = name.split("/")
    if BAD.search(name) or lowest(parts) < 0:
        return False
    if kind == "link":
        while parts and parts[-1] in ("", "."):
            parts.pop()
        if not parts or parts[-1] == ".." or BAD.search(target):
            return False
        return lowest(parts[:-1] + target.split("/")) >= 0
    return True


def allowed(members):
    return [member[0] for member in filter(safe, members)]
