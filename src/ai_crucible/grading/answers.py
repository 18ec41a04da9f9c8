"""Runs beside the grader: whether an answer, as a literal, is the one that a case expects."""

# pyright: basic
# It runs alone in the box, under whatever Python is there, on data of any shape.

import ast
import math


def on_case(case, answer, compare):
    """Return what is wrong with an answer; empty where nothing is."""
    exact = case.get("exact", False)
    if "raises" in case:
        if answer[0] != "raised" or case["raises"] not in answer[1]:
            return "raised nothing of the kind"
    elif answer[0] != "ok":
        return "raised %s" % answer[1][0]
    elif "holds" in case:
        if not holds(case["holds"], answer[1]):
            return "returned something else"
    elif "within" in case:
        if not abs(value(answer[1]) - case["expect"]) <= case["within"]:
            return "returned something too far away"
    elif not alike(value(answer[1]), case["expect"], compare, exact):
        return "returned something else"
    if "args_after" in case and not alike(value(answer[2]), case["args_after"], "equal", exact):
        return "left its arguments otherwise"
    return ""


class _Named(ast.NodeTransformer):
    """Floats that have no literal, by the names that they print as."""

    def visit_Name(self, node):
        return ast.Constant(float(node.id)) if node.id in ("inf", "nan") else node


def holds(property, literal):
    """Tell whether a property holds; what cannot be looked at has it not."""
    try:
        return property(value(literal))
    except Exception:
        return False


def value(literal):
    """Return a value from its literal; nothing but literals, inf and nan is understood."""
    tree = ast.parse(literal, mode="eval")
    return ast.literal_eval(_Named().visit(tree) if "inf" in literal or "nan" in literal else tree)


def alike(seen, expected, how, exact=False):
    """Compare with types: True is not 1. A tuple is a list, and 1.0 is 1, unless the expectation is exact."""
    if how == "unordered":
        return isinstance(seen, (list, tuple, set)) and unordered(seen, expected)
    if isinstance(expected, bool) or isinstance(seen, bool):
        return seen is expected
    if isinstance(expected, (int, float)) and isinstance(seen, (int, float)):
        if how == "close":
            return math.isclose(seen, expected, rel_tol=1e-9, abs_tol=1e-9)
        whole = exact and isinstance(expected, int) and isinstance(seen, float)
        return not whole and (seen == expected or (seen != seen and expected != expected))
    if isinstance(expected, (list, tuple)) and isinstance(seen, (list, tuple)):
        same = type(seen) is type(expected) or not (exact or isinstance(expected, tuple))
        return same and len(seen) == len(expected) and all(alike(a, b, how, exact) for a, b in zip(seen, expected))
    if isinstance(expected, dict) and isinstance(seen, dict):
        if not exact:
            seen = {str(key): item for key, item in seen.items()}
        return seen.keys() == expected.keys() and all(alike(seen[k], expected[k], how, exact) for k in expected)
    return type(seen) is type(expected) and seen == expected


def unordered(seen, expected):
    """Tell whether the same things are there in any order."""
    left = list(seen)
    for item in expected:
        place = next((i for i, other in enumerate(left) if alike(other, item, "equal")), None)
        if place is None:
            return False
        del left[place]
    return not left
