"""What a worker sees (CT9): signature, contracts, types, planned callees; nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from criticality.artifacts import Artifacts
from criticality.budget import Spare
from criticality.language import Language
from llm_runtime.toml import own_table

_WORDS: dict[str, dict[str, str]] = own_table("criticality", "words.toml")
_PURPOSE = re.compile(r"^PURPOSE: .*\n", re.MULTILINE)


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
    defined = (language.type_definitions(spec, functions[n][1]).split("\n\n\n") for n in names)
    types = dict.fromkeys(text for each in defined for text in each if text)
    calls = sorted({call for n in names for call in functions[n][1].calls if call in functions})
    callees = [language.signature(functions[call][1]) for call in calls]
    several, words = len(names) > 1, _WORDS["implement"]
    headings = "\n".join(f"### {functions[name][1].name}" for name in names)
    return {
        "what": words["several" if several else "one"],
        "functions": "\n\n".join(parts),
        "types": "\n\n".join(types) or "(none but the language's own)",
        "callees": "\n".join(f"  {header.removesuffix(':')}" for header in callees) or "  (none)",
        "imports": language.imported(functions[names[0]][0]),
        "rules": language.rules,
        "form": words["form_of_several"] + headings if several else words["form_of_one"],
    }


def spare(language: Language, artifacts: Artifacts, unit: str, failure: dict[str, Any] | None) -> list[Spare]:
    """Return what may be left out of a prompt that is too long, the least missed first.

    Purposes in words; failing tests but the first; types that no signature names; then the other types.
    """
    values = implement_values(language, artifacts, unit)
    parts = [Spare("comments", {"functions": _PURPOSE.sub("", values["functions"])})]
    if failure is not None and len(failure["what"]) > 1:
        parts.append(Spare("examples", {"summary": failure_summary({**failure, "what": failure["what"][:1]})}))
    kinds = (kind for one in unit.split("+") for kind in artifacts.functions[one][1].kinds)
    names = {name for kind in kinds for name in kind.names()}
    spec = artifacts.approved
    left_out = _WORDS["implement"]["left_out"]
    blocks = re.split(r"(?<!\n)\n\n+(?=\S)", values["types"])
    required = [block for block in blocks if _defines(block, spec.named_types()) in names]
    parts.append(Spare("relatedTypes", {"types": "\n\n".join(required) or left_out}))
    return [*parts, Spare("requiredTypes", {"types": left_out})]


def _defines(block: str, known: Collection[str]) -> str:
    """Return the type that a definition is of: the first of the system's that stands in it."""
    return next((word for word in re.findall(r"[A-Za-z]\w*", block) if word in known), "")


def failure_summary(failure: dict[str, Any] | None) -> str:
    """Return what failed, typed, and never how it was tried (CT12)."""
    if failure is None:
        return ""
    kind = str(failure["kind"])
    what = "\n".join(f"  - {line}" for line in failure["what"])
    title = "FAILING TESTS" if kind == "test" else "WHAT FAILED"
    hint = f"\n\n{_WORDS['hints'][failure['hint']]}" if failure.get("hint") else ""
    again = _WORDS["implement"]["again"]
    return f"FAILURE TYPE: {_WORDS['failures'].get(kind, kind)}\n{title}:\n{what}{hint}\n\n{again}"
