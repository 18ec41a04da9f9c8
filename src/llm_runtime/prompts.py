"""Prompt texts: Markdown files with named placeholders, and the fence that untrusted text stands behind."""

from __future__ import annotations

import hashlib
import re
from functools import cache

from llm_runtime.behaviour import number_of_prompts
from llm_runtime.messages import CallLabel

#: Folders of prompts as they were before a number.
_OLDER = "before_"
_PLACEHOLDER = re.compile(r"\{\{ *([a-z][a-z0-9_]*) *\}\}")


class Prompt:
    """A text with ``{{ named }}`` placeholders.

    Args:
        name: what errors call it.
        text: the template.
    """

    __slots__ = ("_parts", "name", "placeholders", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        #: Text and placeholder names in turn, text first and last.
        self._parts = _PLACEHOLDER.split(text)
        self.placeholders = frozenset(self._parts[1::2])

    def render(self, **values: str) -> str:
        """Fill every placeholder in one pass; what is filled in is never read as a template again.

        Raises:
            ValueError: a placeholder is left unfilled, or a value has no place to go.
        """
        if values.keys() != self.placeholders:
            missing = ", ".join(sorted(self.placeholders - values.keys())) or "none"
            extra = ", ".join(sorted(values.keys() - self.placeholders)) or "none"
            raise ValueError(f"prompt {self.name}: missing {missing}; without a place {extra}")
        filled = self._parts.copy()
        filled[1::2] = [values[name] for name in filled[1::2]]
        return "".join(filled)


def load_prompt(package: str, name: str) -> Prompt:
    """Return ``prompts/NAME.md`` beside the modules of ``package``, as the behaviour in force has it."""
    return _read(package, name, number_of_prompts(package))


@cache
def _read(package: str, name: str, number: int | None) -> Prompt:
    from importlib import resources

    folder = resources.files(package).joinpath("prompts")
    file = folder.joinpath(f"{name}.md")
    if number is not None:
        older = (int(one.name.removeprefix(_OLDER)) for one in folder.iterdir() if one.name.startswith(_OLDER))
        kept = (folder.joinpath(f"{_OLDER}{until}", file.name) for until in sorted(older) if until > number)
        file = next((one for one in kept if one.is_file()), file)
    return Prompt(f"{package}/{name}", file.read_text(encoding="utf-8").strip())


class Fence:
    """Markers around material that a model must read and not obey.

    The markers carry a nonce drawn from the run's seed and the call's label: a replay builds the same request,
    while whoever wrote the material, a model that saw an earlier call's markers included, cannot foresee them.
    """

    __slots__ = ("_base",)

    def __init__(self, seed: int, label: CallLabel) -> None:
        self._base = f"{seed}|{label}"

    def __call__(self, name: str, text: str, *, own: bool = False) -> str:
        """Put ``text`` between a pair of markers that name it; the text itself is not changed.

        Args:
            name: what the material is, in plain words: ``"QUESTION"``, ``"CRITIQUE"``.
            text: the material.
            own: whether it has a nonce of its own, which no other text of the request bears.
        """
        nonce = self.token(text, f"|{hashlib.sha256(text.encode()).hexdigest()}" if own else "")
        return f"<<<{name} {nonce}>>>\n{text}\n<<<END {name} {nonce}>>>"

    def token(self, text: str, part: str) -> str:
        """Return 16 digits that nobody could foresee and that ``text`` does not hold; ``part`` tells them apart."""
        nonce, turn = self._draw(part, 0), 0
        while nonce in text:
            turn += 1
            nonce = self._draw(part, turn)
        return nonce

    def _draw(self, part: str, turn: int) -> str:
        return hashlib.sha256(f"{self._base}{part}|{turn}".encode()).hexdigest()[:16]
