"""What a judge had before it, and whether an answer is only a copy of that.

The text under test may hold ready-made answers, spelled and escaped as its author likes; so may the conversation
before it. What a judge copies from there is not its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from fire_circle.answers import BaselineAnswer, Salvaged
from fire_circle.results import NeutrosophicEvaluation
from llm_runtime.normal import normal

_LEAST_COPY = 12
#: Two honest judges may well say the same in a few words; in more they copy.
_LEAST_PEER = 40
_ESCAPE = re.compile(r"\\(?:u\{?([0-9a-fA-F]{4,6})\}?|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": ""}
_NUMBERED = re.compile(
    r"\b(truth|indeterminacy|falsehood|t|i|f)\b[^\w.]{0,8}(?:(?:score|value|to|is|of|at|be|as|equals?)\b[^\w.]{0,4}){0,3}"
    r"([0-9]?\.[0-9]{1,12}|[0-9])(?![0-9])"
)
_NAMES = {"t": "truth", "i": "indeterminacy", "f": "falsehood"}


@dataclass(frozen=True)
class Shown:
    """What stood before a judge.

    Args:
        role: who it was told to be.
        evidence: the layers and the earlier turns, as they were shown.
        texts: the same without what is ours.
        peers: the other judges' evaluations that it saw.
        own: what it said itself in earlier rounds; it may stand by that.
    """

    role: str
    evidence: str
    texts: Sequence[str]
    peers: Sequence[NeutrosophicEvaluation] = ()
    own: Sequence[NeutrosophicEvaluation] = ()

    @property
    def objects(self) -> str:
        """All of it whose objects are nobody's answer."""
        return "\n\n".join((self.role, self.evidence, *map(_as_object, self._foreign)))

    def complaint(self, answer: BaselineAnswer) -> str | None:
        """Return what is wrong with an answer whose reasoning stands ready-made in the evidence.

        A few words may stand there by chance; with the scores beside them they do not.
        """
        form = normal(answer.reasoning).text
        if not any(form in text for text in self._forms):
            return None
        scores = {("truth", answer.truth), ("indeterminacy", answer.indeterminacy), ("falsehood", answer.falsehood)}
        if len(form) >= _LEAST_COPY or scores <= self._numbers:
            return "the reasoning is copied from the prompt under judgement; write your own"
        return None

    def copied(self, prose: str, saved: Salvaged) -> bool:
        """Tell whether a score that was read out of prose stands in what was shown, or all three in a peer's."""
        triple = (saved.truth, saved.indeterminacy, saved.falsehood)
        labelled = set(zip(("truth", "indeterminacy", "falsehood"), triple, strict=True))
        return (
            bool(labelled & self._numbers)
            or any((e.truth, e.indeterminacy, e.falsehood) == triple for e in self.peers)
            or any(normal(prose).text in form for form in self._forms)
        )

    @cached_property
    def _foreign(self) -> list[NeutrosophicEvaluation]:
        own = {_key(evaluation) for evaluation in self.own}
        return [e for e in self.peers if len(e.reasoning) >= _LEAST_PEER and _key(e) not in own]

    @cached_property
    def _forms(self) -> tuple[str, ...]:
        escaped = [_unescaped(text) for text in self.texts if "\\" in text]
        return tuple(normal(text).text for text in (*self.texts, *escaped))

    @cached_property
    def _numbers(self) -> set[tuple[str, float | None]]:
        return {
            (_NAMES.get(match[1], match[1]), float(match[2]))
            for text in self._forms
            for match in _NUMBERED.finditer(text)
        }


def _unescaped(text: str) -> str:
    """Return a text with its escapes read, those within escapes too."""
    for _ in range(4):
        if "\\" not in text:
            break
        text = _ESCAPE.sub(_character, text)
    return text


def _character(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2]
    if digits is None:
        return _LETTERS.get(escape[3], escape[3])
    code = int(digits, 16)
    return chr(code) if code < 0xD800 or 0xE000 <= code < 0x110000 else ""


def _key(evaluation: NeutrosophicEvaluation) -> tuple[float, float, float, str]:
    return evaluation.truth, evaluation.indeterminacy, evaluation.falsehood, evaluation.reasoning.strip()


def _as_object(evaluation: NeutrosophicEvaluation) -> str:
    truth, indeterminacy, falsehood, reasoning = _key(evaluation)
    data = {"truth": truth, "indeterminacy": indeterminacy, "falsehood": falsehood, "reasoning": reasoning}
    return json.dumps(data, ensure_ascii=False)
