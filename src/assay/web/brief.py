"""A request as a brief for a person: what stands behind fences becomes titled texts, the rest is what is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_FENCE = re.compile(
    r"<<<(?!END )(?P<name>[^<>\n]{1,200}) (?P<nonce>[0-9a-f]{8,64})>>>\n"
    r"(?P<text>.*?)\n<<<END (?P=name) (?P=nonce)>>>",
    re.DOTALL,
)
_FOR_MODELS = re.compile(r"(?:(?<=[.\n])|^)[^.\n]*\bJSON\b[^.\n]*\.?", re.MULTILINE)
_NUMBERED = re.compile(r"\b\d+:(?=\w)")


@dataclass(frozen=True, slots=True)
class BriefPart:
    """A piece of a brief, in Markdown; with a title it is material, without one it says what is asked."""

    title: str
    text: str


def brief_of(text: str, *, form: bool = False) -> tuple[BriefPart, ...]:
    """Return a prompt's pieces in their order.

    Args:
        text: the prompt, with its material behind fences as :class:`llm_runtime.prompts.Fence` writes them.
        form: whether a form asks for the answer: then what is said of its JSON is left out.
    """
    parts: list[BriefPart] = []
    end = 0
    for match in _FENCE.finditer(text):
        parts += [BriefPart("", text[end : match.start()]), BriefPart(_title(match["name"]), match["text"])]
        end = match.end()
    parts.append(BriefPart("", text[end:]))
    if form:
        parts = [part if part.title else replace(part, text=_FOR_MODELS.sub("", part.text)) for part in parts]
    return tuple(part for part in parts if part.text.strip())


def _title(name: str) -> str:
    """Return what people call ``"POSITION of 0:domain_expert"``: ``"Position of domain expert"``."""
    words = " ".join(word.lower() if word.isupper() else word for word in name.split())
    words = _NUMBERED.sub("", words).replace("_", " ")
    return words[:1].upper() + words[1:]
