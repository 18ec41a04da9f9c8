"""Which of the eight kinds a pattern's description names: by keywords, or by a model (FC17)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from fire_circle.results import UNCLASSIFIED, NeutrosophicEvaluation, PatternClaim, PatternType
from fire_circle.security import security_kinds
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import ask
from llm_runtime.toml import own_table

_MAX_CHARS = 5_000
_NEGATION_REACH = 6

_EARLIER = r"(?:prior|previous|earlier|past|preceding)"
_TALK = r"(?:conversations?|discussions?|turns?|exchanges?|messages?|sessions?|history)"

_PATTERNS = {
    PatternType(kind): re.compile(rf"\b(?:{'|'.join(cues)})\b")
    for kind, cues in own_table("fire_circle", "data/cues.toml").items()
}
#: A history that is missing is what the observation asserts, not what it denies.
_MISSING_HISTORY = re.compile(rf"\b(?:no|without any|never any) (?:such )?{_EARLIER} {_TALK}\b")
_CLAUSE = re.compile(r"[.;:,!?\n]|\b(?:but|however|although|instead|rather)\b")
_NEGATOR = re.compile(
    r"\b(?:no|not|never|without|none|neither|nor|lacks?|lacking|absence|absent|free (?:of|from)|denies|cannot)\b"
    r"|\bfails?\b|n't\b"
)


def pattern_types(description: str) -> tuple[PatternType, ...]:
    """Return every kind the description asserts, in the order of the enumeration.

    Whole words only; a word within six words after a negation in the same clause is denied, not asserted.
    """
    text = description[:_MAX_CHARS].lower().replace("_", " ").replace("’", "'")
    kinds: set[PatternType] = set()
    if _MISSING_HISTORY.search(text):
        kinds.add(PatternType.TEMPORAL_INCONSISTENCY)
    for clause in _CLAUSE.split(text):
        for kind, pattern in _PATTERNS.items():
            if kind not in kinds and any(not _denied(clause, match.start()) for match in pattern.finditer(clause)):
                kinds.add(kind)
    return tuple(kind for kind in PatternType if kind in kinds)


def _denied(clause: str, at: int) -> bool:
    return bool(_NEGATOR.search(" ".join(clause[:at].split()[-_NEGATION_REACH:])))


def classify_pattern_heuristic(pattern_str: str) -> str:
    """Return the first kind in the order of the enumeration, or ``"unclassified"``."""
    kinds = pattern_types(pattern_str)
    return kinds[0].value if kinds else UNCLASSIFIED


classify_pattern = classify_pattern_heuristic
"""The default classifier, under the name that the specification's algorithms use."""


class _Entry(BaseModel):
    number: int
    kinds: list[PatternType]


class _Classified(BaseModel):
    classified: list[_Entry]


async def classify_patterns_llm(
    descriptions: Sequence[str], generate: Generate, *, model: str, seed: int = 0, round_number: int = 0,
    layer: str = "",
) -> tuple[tuple[PatternType, ...], ...]:  # fmt: skip
    """Return the kinds of each description, by one call to ``model`` for all of them.

    Raises:
        StructuredOutputError: the answer does not sort every description.
        CallError: the call failed.
    """
    if not descriptions:
        return ()
    label = CallLabel("fire_circle", "classify", f"classifier:{model}" + (f"@{layer}" if layer else ""), round_number)
    listed = [{"number": n, "observation": text} for n, text in enumerate(descriptions, start=1)]
    text = load_prompt("fire_circle", "classify").render(
        kinds=load_prompt("fire_circle", "kinds").text,
        observations=Fence(seed, label)("OBSERVATIONS", json.dumps(listed, ensure_ascii=False, indent=1)),
        names=", ".join(kind.value for kind in PatternType),
    )
    wanted = set(range(1, len(descriptions) + 1))

    def complete(answer: _Classified) -> str | None:
        numbers = [entry.number for entry in answer.classified]
        fits = set(numbers) == wanted and len(numbers) == len(wanted)
        return None if fits else f"classified must have one entry for each of 1 to {len(wanted)}"

    request = Request(model, (Message("user", text),), label, temperature=0.0)
    answer = (await ask(generate, request, _Classified, check=complete)).value
    by_number = {entry.number: set(entry.kinds) for entry in answer.classified}
    return tuple(tuple(kind for kind in PatternType if kind in by_number[n]) for n in sorted(wanted))


async def classify_pattern_llm(pattern_str: str, generate: Generate, *, model: str, seed: int = 0) -> str:
    """Return one description's first kind by a model, or ``"unclassified"``. Raises as the plural does."""
    (kinds,) = await classify_patterns_llm([pattern_str], generate, model=model, seed=seed)
    return kinds[0].value if kinds else UNCLASSIFIED


def claimed(evaluations: Sequence[NeutrosophicEvaluation]) -> list[str]:
    """Return the distinct descriptions of verified patterns, sorted: what there is to classify."""
    return sorted({claim.description for e in evaluations for claim in e.claims if claim.verified})


def with_types(
    evaluations: Sequence[NeutrosophicEvaluation], types: Mapping[str, tuple[PatternType, ...]]
) -> list[NeutrosophicEvaluation]:
    """Return the evaluations with each verified pattern's types and kinds of attack, by its description."""

    def typed(claim: PatternClaim) -> PatternClaim:
        if not claim.verified:
            return claim
        kinds = {"types": types[claim.description], "security": security_kinds(claim.description)}
        return claim.model_copy(update=kinds)

    return [evaluation.with_claims(typed) for evaluation in evaluations]
