"""What is said of one function's body in any language: that it cannot be spliced, or what it may not do."""

from __future__ import annotations

import re
from typing import Literal

from llm_runtime.structs import Struct

MAX_BODY = 20_000
_FENCE = re.compile(r"```[a-zA-Z+]*[ \t]*\r?\n(.*?)\r?\n?(?<![ \t])[ \t]*+```", re.DOTALL)


class SpliceRefused(ValueError):
    """The answer is not the body of this one function; one line says why."""


class BodyUnreadable(SpliceRefused):
    """The answer does not parse at all."""


class Finding(Struct):
    """One thing that a body may not do.

    Args:
        kind: ``security`` reaches outside; ``semantic`` breaks the plan or the promised purity.
        what: one line, without code.
    """

    kind: Literal["security", "semantic"]
    what: str


def unfenced(answer: str) -> str:
    """Return the text in an answer: what stands behind its code fence, or all of it.

    Raises:
        SpliceRefused: longer than 20,000 characters, empty, or with control characters.
    """
    if len(answer) > MAX_BODY:
        raise SpliceRefused(f"the answer is longer than {MAX_BODY} characters")
    if "\x00" in answer or "\f" in answer:
        raise SpliceRefused("the answer holds control characters")
    fenced = _FENCE.search(answer)
    text = (fenced[1] if fenced else answer).replace("\r\n", "\n").expandtabs(4).strip("\n")
    if not text.strip():
        raise SpliceRefused("the answer is empty")
    return text
