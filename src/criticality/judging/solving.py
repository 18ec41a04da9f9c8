"""What a solver is asked of a body that was accepted, and what it says: calls that the judge then tries itself."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from criticality.judging.evaluate import Evaluator
from criticality.judging.served import Place
from criticality.judging.wire import Unreadable, unpack


def solved(place: Place, evaluator: Evaluator, name: str) -> tuple[str, list[tuple[Any, ...]]]:
    """Return what the solver of a program did, in words, and the arguments by which a function is said to break.

    The words are empty where the language has no solver.
    """
    by, found = place.program.solved_by, list[tuple[Any, ...]]()
    if not place.program.solver:
        return by and f"{by} is not installed", found
    output = place.solve(_question(evaluator, name))
    if output is None:
        return f"{by} was not asked: there is no box here", found
    for line in output.split():
        with suppress(Unreadable, ValueError):
            found.append(place.codec.arguments(name, unpack(bytes.fromhex(line))))
    _, ended, paths = output.rpartition("paths ")
    looked = f"looked at {int(paths):,} paths" if ended and paths.strip().isdigit() else "was cut off"
    return f"{by} {looked} and named {len(found)} calls, which were tried", found


def _question(evaluator: Evaluator, name: str) -> bytes:
    """Return a contract as JSON; parts that call functions of the project are left out."""
    clauses, left_off = evaluator.clauses(name), evaluator.unjudged[name]
    required = (part for condition in evaluator.conditions(name) for part in condition.parts)
    predicates = [*evaluator.functions[name].contract.predicates, *clauses.values()]
    asked = {
        "name": name, "requires": [part.text for part in required if not part.calls],
        "ensures": [[p.code, p.olds, bool(p.raised)] for t, p in clauses.items() if not p.calls and t not in left_off],
        "errors": [[error, p.when * (not p.calls)] for p in predicates for error in p.raised],
    }  # fmt: skip
    return json.dumps(asked).encode()
