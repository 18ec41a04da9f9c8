"""Asks the outlines of a solution what the checks compare."""

import contextlib
import io
import os
import sys
import tempfile

from outline import ROOT, Conflict, OutlineError, merge, parse, write
from outline.__main__ import main


def merged(base, ours, theirs):
    """The merged text, the conflicts, and whether the three trees stayed as they were."""
    trees = [parse(text) for text in (base, ours, theirs)]
    found = merge(*trees)
    kept = [write(tree) for tree in trees] == [base, ours, theirs]
    return [write(found.tree), [[each.name, each.kind, each.key] for each in found.conflicts], kept]


def apart(base, ours, theirs):
    """Whether a merged tree shares nothing with the three: each is changed, and the others stay."""
    trees = [parse(text) for text in (base, ours, theirs)]
    found = merge(*trees).tree
    before = write(found)
    for tree in trees:
        for item, _ in list(tree.walk()):
            item.fields["zz"] = "changed"
        tree.add("zz", {"title": "new"}, next(iter(tree.items), ROOT))
    seen = [write(found) == before]
    after = [write(tree) for tree in trees]
    for item, _ in list(found.walk()):
        item.fields["zy"] = "changed"
        item.parent = ROOT
    for names in found.below.values():
        names.clear()
    return [*seen, [write(tree) for tree in trees] == after]


def shape(base, ours, theirs):
    """The merged tree's items and lists, as its own tables have them."""
    tree = merge(*(parse(text) for text in (base, ours, theirs))).tree
    parents = {name: item.parent for name, item in tree.items.items()}
    walked = [[item.name, depth] for item, depth in tree.walk()]
    below = {name: list(names) for name, names in tree.below.items()}
    return [parents, below, walked, all(tree[name].name == name for name in parents)]


def read(text):
    """The items of a text, or the line of its fault."""
    try:
        tree = parse(text)
    except OutlineError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    return [[item.name, item.parent, depth, item.fields] for item, depth in tree.walk()]


def again(text):
    return write(parse(text))


def deep(depth):
    """What comes of a deep outline that is merged with one that was turned about below its first item."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        text = "".join("  " * at + f"- i{at}\n" + "  " * at + f"  @k={at}\n" for at in range(depth))
        other = "- top\n" + "".join("  " + line + "\n" for line in text.splitlines())
        found = merge(parse(text), parse(text.replace("@k=7\n", "@k=\n")), parse(other))
        seen = write(found.tree)
        limit = sys.getrecursionlimit()
        return [write(parse(text)) == text, seen == other.replace("@k=7\n", "@k=\n"), len(found.conflicts), limit]
    finally:
        sys.setrecursionlimit(before)


def told(words):
    return [str(Conflict(*each)) for each in words]


def printed(way, *texts):
    """Exit, output and complaints of the command line."""
    with tempfile.TemporaryDirectory() as room:
        paths = []
        for number, text in enumerate(texts):
            paths.append(os.path.join(room, str(number)))
            if text is not None:
                with open(paths[-1], "w", encoding="utf-8") as file:
                    file.write(text)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([way, *paths])
    return [code, out.getvalue(), err.getvalue() if code != 2 else ""]
