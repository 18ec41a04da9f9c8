"""Claims of earlier conversation in a prompt, found and checked by rule, beside the judges (FC23).

It never changes a score: it shows what a clock could have said.
"""

from __future__ import annotations

import re

from fire_circle.case import Case
from fire_circle.layers import Layer
from fire_circle.results import HistoryClaim, HistoryStatus, Span
from fire_circle.session import SessionMemory

_MAX_CLAIMS = 50
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_ORDINAL = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
_WHO = r"(?:we|you|i|you and i|the assistant|the system|both of us)"
_DID = (
    r"(?:discussed|agreed|established|covered|talked|spoke|said|told|explained|confirmed|promised|decided|"
    r"mentioned|approved|verified|accepted|committed|concluded|worked|went|left off|started|began|settled|"
    r"answered|provided|gave|shared|granted)"
)
_EARLIER = r"(?:earlier|previously|before|already|last time|yesterday|a moment ago|back then)"
_TALK = r"(?:conversation|discussion|exchange|session|chat|message|messages|turn|turns|agreement|reply|answer)"
_NUMBER = rf"(?:\d{{1,4}}|{'|'.join(_ORDINALS)})"

_TURN = re.compile(rf"\b(?:turn|message|exchange|reply)s? ?(?:#|no\. ?|number )?({_NUMBER})\b", re.IGNORECASE)
_NTH = re.compile(
    rf"\b(?:the|my|your|our) ({_ORDINAL}|\d{{1,4}}(?:st|nd|rd|th)) "
    r"(?:turn|message|exchange|reply)\b",
    re.IGNORECASE,
)
_CLAIMS = re.compile(
    rf"\b(?:as|like|since|because|given that|remember(?: that| when| how)?) {_WHO} (?:have |had |both |all ){{0,3}}"
    rf"(?:{_EARLIER} )?{_DID}\b"
    rf"|\b{_WHO}(?:'ve|'d| have| had)? {_EARLIER} {_DID}\b"
    rf"|\b{_WHO}(?:'ve|'d| have| had)? {_DID}[^.!?\n]{{0,40}}? {_EARLIER}\b"
    rf"|\b{_WHO}(?:'ve|'d| have| had)? {_DID}[^.!?\n]{{0,60}}?"
    rf"\b(?:in|at|during) (?:turn|message) ?#?{_NUMBER}\b"
    rf"|\b(?:in|from|during|per|following|continuing) (?:our|my|your|the|this) (?:{_NUMBER} )?"
    rf"(?:earlier|prior|previous|last|past|preceding|above) {_TALK}\b"
    rf"|\b(?:our|your) (?:earlier|prior|previous|last) {_TALK}\b"
    r"|\b(?:continuing|picking up) (?:from )?where we left off\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")
_WORD = re.compile(r"\w{5,}")
_COMMON = frozenset(
    _WORD.findall(
        "about above after again agreed already asked because before being below between could covered discussed "
        "discussion doing during earlier established every first following further having itself last message "
        "messages previous previously prior provide remember said session should since started still their there "
        "these thing third those through under until where which while would yesterday please conversation "
        "confirmed explained approved promised"
    )
)


def check_history(case: Case) -> tuple[HistoryClaim, ...]:
    """Return claims of earlier conversation in the judged layer, in order, at most 50.

    On turn 1 every such claim is impossible, on turn n one about turn n or later. Where the texts of earlier turns
    were kept, a claim none of whose content words (5 letters or more) occurs in them is unsupported.
    """
    layer, session = case.layer, case.session
    claims: list[HistoryClaim] = []
    covered = -1
    for start, end in _matches(layer.text):
        if start < covered:
            continue
        start, covered = _sentence(layer.text, start, end)
        claims.append(_checked(layer, start, covered, session))
        if len(claims) == _MAX_CLAIMS:
            break
    return tuple(claims)


def _matches(text: str) -> list[tuple[int, int]]:
    return sorted(match.span() for pattern in (_CLAIMS, _NTH) for match in pattern.finditer(text))


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span from a claim's first word to the end of its sentence, at most 300 characters on."""
    closing = _SENTENCE_END.search(text, end, end + 300)
    return start, closing.start() if closing else min(len(text), end + 300)


def _checked(layer: Layer, start: int, end: int, session: SessionMemory | None) -> HistoryClaim:
    text = layer.text[start:end]
    turn = _claimed_turn(text)
    return HistoryClaim(
        span=Span(layer=layer.name, start=start, end=end),
        text=text,
        claimed_turn=turn,
        status=_status(text, turn, session),
    )


def _claimed_turn(text: str) -> int | None:
    match = _TURN.search(text) or _NTH.search(text)
    if match is None:
        return None
    word = match[1].lower()
    return _ORDINALS.get(word) or int(re.sub(r"\D", "", word))


def _status(text: str, turn: int | None, session: SessionMemory | None) -> HistoryStatus:
    if session is None:
        return "unverifiable"
    if session.turn == 1 or (turn is not None and not 1 <= turn < session.turn):
        return "impossible"
    turns = session.turns if turn is None else session.turns[turn - 1 : turn]
    earlier = " ".join(t.text.lower() for t in turns).strip()
    words = {word for word in _WORD.findall(text.lower()) if word not in _COMMON}
    if earlier and words and not any(word in earlier for word in words):
        return "unsupported"
    return "possible"
