"""Asks CrossHair for calls that REQUIRES admits and that break a clause; runs in the box alone, for ten seconds.

Argument: the folder that CrossHair is imported from. What is asked comes as JSON over standard input. Each line of the
answer is the arguments of a call, in hexadecimal digits of the wire's bytes; the last one says how many paths it took.
Stands alone: nothing of the tool is imported in here.
"""

# pyright: basic, reportMissingImports=false
import importlib
import json
import os
import re
import resource
import sys
from dataclasses import replace
from functools import reduce
from inspect import Parameter, Signature
from pathlib import Path
from time import process_time

_SECONDS, _MOST, _PLACE = 10, 3, Parameter.POSITIONAL_ONLY


def matches(text, form):
    return re.fullmatch(form, text, re.ASCII)


def breaks(plain, asked, scope, held):
    """Tell whether a call breaks its contract; an error of an evaluation breaks it, too."""
    scope = {**scope, **held}
    if not all(eval(code, scope) for code in asked["requires"]):
        return False
    scope |= {name: eval(code, scope) for _, olds, _ in asked["ensures"] for name, code in olds}
    raised, scope["result"] = outcome(plain, held)
    scope["raises"] = lambda error: error.__name__ == raised
    if not all(eval(code, scope) for code, _, raises in asked["ensures"] if raises or not raised):
        return True
    return bool(raised) and not allowed(raised, asked, scope)


def outcome(plain, held):
    """Return the name of a call's error, or an empty one and its result."""
    try:
        return "", plain(*held.values())
    except Exception as error:
        return type(error).__name__, None


def allowed(raised, asked, scope):
    """Tell whether a contract lets a call end with an error."""
    return any(error == raised and (not when or eval(when, scope)) for error, when in asked["errors"])


def main():
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    asked, known = json.loads(sys.stdin.read()), json.loads(Path("known.json").read_text("utf-8"))
    sys.path[:0] = [str(Path("variants", "0").resolve()), str(Path.cwd()), sys.argv[1]]
    import server
    from crosshair import core_and_libs  # noqa: F401 - it says what the standard library's functions do
    from crosshair.core import deep_realize, explore_paths
    from crosshair.options import DEFAULT_OPTIONS
    from crosshair.statespace import RootNode

    module, _, short = asked["name"].partition(".")
    own = vars(importlib.import_module(f"{known['package']}.{module}"))
    domain = importlib.import_module(f"{known['package']}.domain")
    scope = {**vars(server), **own, **vars(domain), "reduce": reduce, "replace": replace, "matches": matches}
    hints, params = known["hints"][asked["name"]], known["functions"][asked["name"]][0]
    signature = Signature([Parameter(n, _PLACE, annotation=eval(hint, scope)) for n, hint in hints.items()])
    values, paths, found = server._Values(known, domain), 0, 0

    def ended(space, before, after, broken, error, stack):
        nonlocal paths, found
        paths += 1
        if broken or error:
            args = deep_realize(before).arguments.values()
            sent = server._packed([values.out(arg, kind) for arg, (_, kind) in zip(args, params, strict=True)])
            print(sent.hex(), flush=True)
            found += 1
        return found >= _MOST

    explore_paths(
        lambda args: breaks(own[short], asked, scope, args.arguments), signature,
        DEFAULT_OPTIONS.overlay(per_condition_timeout=_SECONDS - 1 - process_time()), RootNode(), ended,
    )  # fmt: skip
    print(f"paths {paths}", flush=True)
    os._exit(0)


main()
