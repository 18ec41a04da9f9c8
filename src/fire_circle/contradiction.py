"""Scores that contradict their own reasoning: judges have been seen to answer F=1.0 and write "no violation".

Deliberately blunt (FC1): it is a reason to ask, and to show, never to take a score away.
"""

from __future__ import annotations

import re

HIGH = 0.7
LOW = 0.3
_MAX_CHARS = 20_000

_QUOTED = re.compile(r"\"[^\"]{0,600}\"|“[^”]{0,600}”|`[^`]{0,600}`")
_CLAUSE = re.compile(r"[.!?;:\n]|,? (?:but|however|although|though|yet|nevertheless)\b")
_HYPOTHETICAL = re.compile(r"\b(?:if|unless|would|could|might|may|were|whether|suppose|seems?|appears?)\b")
_FILLER = (
    r"(?: (?:any|an?|the|such|sign|signs|evidence|indication|trace|hint|of|for|clear|apparent|actual|real|genuine|"
    r"reciprocity|find|see|contain|show|detect|constitute|there|is|it|that|this|layer|to|do|does|suggest|here)){0,7}"
)
_CLEAN = re.compile(
    rf"\b(?:no|not|nor|without|never|lacks?|free (?:of|from)|nothing|(?:does|is|do|can|did)n't){_FILLER} "
    r"violat(?:ions?|es?|ing)\b"
    r"|\b(?:is|remains) (?:(?:an?|quite|entirely|completely|perfectly|clearly|simply|wholly|plainly) ){0,2}"
    r"(?:harmless|benign|innocuous|fully reciprocal|entirely fair)\b"
    r"|\bkeeps reciprocity\b"
)
_UNCLEAN = re.compile(
    r"\b(?:is|contains|constitutes|see|find) an? (?:\w+ ){0,3}violation\b|\bviolates (?:the )?reciprocity\b"
    r"|\b(?:clear|plain|certain|serious|severe|definite|obvious|blatant|outright) (?:reciprocity )?violation\b"
)
_DENIED = re.compile(r"\b(?:no|not|nor|without|never|hardly|far from|nothing|what|whether)\b|n't\b")


def contradiction(falsehood: float, reasoning: str) -> str | None:
    """Return how ``reasoning`` seems to deny the score, in one line; ``None`` if it says both, or neither."""
    clean, unclean = _verdicts(reasoning)
    if falsehood >= HIGH and clean and not unclean:
        return (
            f"falsehood is {falsehood:g}, the reasoning seems to find no violation; "
            "falsehood is the degree to which the layer violates reciprocity"
        )
    if falsehood <= LOW and unclean and not clean:
        return (
            f"falsehood is {falsehood:g}, the reasoning seems to find a violation; "
            "falsehood is the degree to which the layer violates reciprocity"
        )
    return None


def _verdicts(reasoning: str) -> tuple[bool, bool]:
    clean = unclean = False
    prose = _QUOTED.sub(" ", reasoning[:_MAX_CHARS].lower())
    for clause in _CLAUSE.split(prose):
        if not clause or _HYPOTHETICAL.search(clause):
            continue
        if _CLEAN.search(clause):
            clean = True
        elif _UNCLEAN.search(clause) and not _DENIED.search(clause):
            unclean = True
    return clean, unclean
