"""What a worker sees (CT9): signature, contracts, types, planned callees; nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from criticality.artifacts import Artifacts
from criticality.budget import Spare
from criticality.language import Language

_NAMES = {
    "syntax": "Syntax", "syntax_fatal": "Syntax", "type": "Type", "test": "Test", "timeout": "Timeout",
    "semantic": "Semantic", "security": "Security", "complexity": "Complexity",
}  # fmt: skip
_PURPOSE = re.compile(r"^PURPOSE: .*\n", re.MULTILINE)
_LEFT_OUT = "(left out: there is no room for them here)"
_HINTS = {
    "syntax": "HINT: Output statements only, indented by multiples of four spaces, nothing before or after them.",
    "types": "HINT: Look at the exact types above, and at how a value of each is made.",
}


def implement_values(language: Language, artifacts: Artifacts, unit: str) -> dict[str, str]:
    """Return the values of the prompt ``implement``, but for the summary of what failed."""
    spec = artifacts.approved
    functions = artifacts.functions
    names = unit.split("+")
    parts: list[str] = []
    for name in names:
        _, function = functions[name]
        clauses = "\n".join(f"  {line}" for line in language.clauses(function))
        parts.append(
            f"FUNCTION: {function.name}\nSIGNATURE: {language.signature(function)}\nPURPOSE: {function.doc}\n\n"
            f"CONTRACTS:\n{clauses}"
        )
    types = list(
        dict.fromkeys(
            t for n in names for t in language.type_definitions(spec, functions[n][1]).split("\n\n\n") if t
        )
    )
    calls = sorted({call for n in names for call in functions[n][1].calls if call in functions})
    callees = [language.signature(functions[call][1]) for call in calls]
    several = len(names) > 1
    return {
        "what": "these functions, which call each other" if several else "the function",
        "functions": "\n\n".join(parts),
        "types": "\n\n".join(types) or "(none but the language's own)",
        "callees": "\n".join(f"  {header.removesuffix(':')}" for header in callees) or "  (none)",
        "imports": language.imported(functions[names[0]][0]),
        "rules": language.rules,
        "form": _form([functions[n][1].name for n in names]),
    }


def spare(language: Language, artifacts: Artifacts, unit: str, failure: dict[str, Any] | None) -> list[Spare]:
    """Return what may be left out of a prompt that is too long, the least missed first.

    Purposes in words; failing tests but the first; types that no signature names; then the other types.
    """
    values = implement_values(language, artifacts, unit)
    parts = [Spare("comments", {"functions": _PURPOSE.sub("", values["functions"])})]
    if failure is not None and len(failure["what"]) > 1:
        parts.append(Spare("examples", {"summary": failure_summary({**failure, "what": failure["what"][:1]})}))
    names = {
        name
        for one in unit.split("+")
        for function in (artifacts.functions[one][1],)
        for kind in (*(p.type for p in function.parameters), function.result)
        for name in kind.names()
    }
    spec = artifacts.approved
    blocks = re.split(r"(?<!\n)\n\n+(?=\S)", values["types"])
    required = [block for block in blocks if _defines(block, spec.named_types()) in names]
    parts.append(Spare("relatedTypes", {"types": "\n\n".join(required) or _LEFT_OUT}))
    return [*parts, Spare("requiredTypes", {"types": _LEFT_OUT})]


def _defines(block: str, known: Collection[str]) -> str:
    """Return the type that a definition is of: the first of the system's that stands in it."""
    return next((word for word in re.findall(r"[A-Za-z]\w*", block) if word in known), "")


def _form(names: list[str]) -> str:
    if len(names) == 1:
        return (
            "IMPLEMENT THE FUNCTION. Output only the function body: its statements, without the signature, in one "
            "code block."
        )
    headings = "\n".join(f"### {name}" for name in names)
    return (
        "IMPLEMENT ALL OF THEM. Output for each, under a heading with its name, only the function body in one code "
        f"block:\n\n{headings}"
    )


def failure_summary(failure: dict[str, Any] | None) -> str:
    """Return what failed, typed, and never how it was tried (CT12)."""
    if failure is None:
        return ""
    kind = str(failure["kind"])
    what = "\n".join(f"  - {line}" for line in failure["what"])
    title = "FAILING TESTS" if kind == "test" else "WHAT FAILED"
    hint = f"\n\n{_HINTS[failure['hint']]}" if failure.get("hint") else ""
    return (
        f"FAILURE TYPE: {_NAMES.get(kind, kind)}\n{title}:\n{what}{hint}\n\n"
        "NOTE: Previous attempts discarded. Implement from scratch."
    )
