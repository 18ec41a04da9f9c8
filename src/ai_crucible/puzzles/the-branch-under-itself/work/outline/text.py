"""Outlines as text."""

import re

from outline.tree import ROOT, Tree

ITEM = re.compile(r"- ([a-z0-9-]+)(?: (.*))?")
FIELD = re.compile(r"@([a-z]+)=(.*)")
STEP = "  "


class OutlineError(ValueError):
    """A text that is no outline: says the line and why."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def parse(text):
    """Return the tree of an outline's text."""
    tree, path, open_for_fields = Tree(), [], False
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip(" ")
        if not words:
            continue
        depth, odd = divmod(len(line) - len(line.lstrip(" ")), len(STEP))
        if odd:
            raise OutlineError(number, "indentation goes by two blanks")
        if depth > len(path):
            raise OutlineError(number, "it is indented too far")
        if words.startswith("@"):
            if not open_for_fields or depth != len(path):
                raise OutlineError(number, "a field stands right below its item")
            _field(tree, path[-1], words, number)
            continue
        match = ITEM.fullmatch(words)
        if match is None:
            raise OutlineError(number, "neither an item nor a field")
        del path[depth:]
        try:
            tree.add(match[1], {"title": (match[2] or "").strip(" ")}, path[-1] if path else ROOT)
        except ValueError as fault:
            raise OutlineError(number, str(fault)) from None
        path.append(match[1])
        open_for_fields = True
    return tree


def _field(tree, name, words, number):
    match = FIELD.fullmatch(words)
    if match is None or match[1] == "title":
        raise OutlineError(number, "a field is @KEY=VALUE")
    if match[1] in tree[name].fields:
        raise OutlineError(number, f"{match[1]} is there already")
    if match[2]:
        tree[name].fields[match[1]] = match[2]


def write(tree):
    """Return a tree as an outline's text."""
    lines = []
    for item, depth in tree.walk():
        lines.append(STEP * depth + f"- {item.name} {item.fields['title']}".rstrip(" "))
        for key in sorted(item.fields):
            if key != "title" and item.fields[key]:
                lines.append(STEP * (depth + 1) + f"@{key}={item.fields[key]}")
    return "".join(line + "\n" for line in lines)
