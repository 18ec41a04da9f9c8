"""The text of a tree."""

from loom.errors import Fault

FUNCTIONS = {
    "upper": (1, 1, str.upper),
    "lower": (1, 1, str.lower),
    "trim": (1, 1, str.strip),
    "join": (2, 1000, lambda between, *texts: between.join(texts)),
}


def evaluate(node, names):
    """Return the text of a tree; ``names`` has the texts that are defined."""
    kind, *parts = node
    if kind == "text":
        return parts[0]
    if kind == "name":
        if parts[0] not in names:
            raise Fault(f"{parts[0]} is not defined")
        return names[parts[0]]
    if kind == "joined":
        return "".join(evaluate(each, names) for each in parts[0])
    name, arguments = parts
    if name not in FUNCTIONS:
        raise Fault(f"there is no function {name}")
    least, most, function = FUNCTIONS[name]
    if not least <= len(arguments) <= most:
        raise Fault(f"{name} takes another number of arguments")
    return function(*(evaluate(each, names) for each in arguments))
