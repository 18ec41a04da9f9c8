"""The names that security teams give to attacks, beside the eight kinds of pattern; judges choose them from a list.

The numbers are those of the OWASP Top 10 for LLM applications, edition 2025, and of techniques of MITRE ATLAS.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from llm_runtime.toml import own_table

_BETWEEN = re.compile(r",|/|;|\+|&|\band\b|\(|\)")
_MAX_NAME = 120


class SecurityKind(StrEnum):
    """The kinds of attack that judges choose from, as ``prompts/attacks.md`` lists them."""

    PROMPT_INJECTION = "prompt_injection"
    INDIRECT_INJECTION = "indirect_injection"
    JAILBREAK = "jailbreak"
    SYSTEM_PROMPT_EXTRACTION = "system_prompt_extraction"
    SECRET_DISCLOSURE = "secret_disclosure"
    DATA_EXFILTRATION = "data_exfiltration"
    TOOL_MISUSE = "tool_misuse"
    HIDDEN_PAYLOAD = "hidden_payload"
    MEMORY_POISONING = "memory_poisoning"
    UNSAFE_OUTPUT = "unsafe_output"
    UNBOUNDED_CONSUMPTION = "unbounded_consumption"

    @property
    def references(self) -> tuple[str, ...]:
        """Its numbers, OWASP's first."""
        return tuple(_REFERENCES[self])


_REFERENCES = own_table("fire_circle", "data/attacks.toml")
_BY_NAME = {kind.value.replace("_", " "): kind for kind in SecurityKind}


def security_kinds(description: str) -> tuple[SecurityKind, ...]:
    """Return the kinds that a description names before its first colon, in the order of the list.

    Only names of the list count, each by itself: "no prompt injection" is none of them.
    """
    head = description.partition(":")[0]
    if len(head) > _MAX_NAME:
        return ()
    named = {_BY_NAME.get(" ".join(part.split())) for part in _BETWEEN.split(re.sub(r"[_-]", " ", head.lower()))}
    return tuple(kind for kind in SecurityKind if kind in named)


def most_named(kinds: Iterable[SecurityKind]) -> tuple[SecurityKind, ...]:
    """Return each kind once, those that were named most often first."""
    counted = Counter(kinds)
    return tuple(sorted(counted, key=lambda kind: (-counted[kind], kind)))
