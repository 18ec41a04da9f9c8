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
_SAID = (
    r"(?:discussed|agreed|established|covered|talked|spoke|spoken|said|told|explained|confirmed|promised|decided|"
    r"mentioned|approved|verified|accepted|concluded|settled|answered|provided|gave|given|shared|granted|asked|offered|"
    r"checked|named|introduced|quoted|read|listed|marked|ticked|closed|counted|noted|recorded|greeted|connected|put|"
    r"heard|made|signed|cleared|announced|assured|assigned|allowed|sent|found|saw|handed|pasted|showed|uploaded|"
    r"passed|completed|finished)"
)
_STATE = (
    r"(?:done|completed?|closed|confirmed|cleared|behind (?:us|me)|reached|passed|logged|covered|finished|approved|"
    r"accepted|settled|granted|ticked|checked|sat|marked|recorded|signed off|in order|yes)"
)
_SETTLED = rf"(?:{_STATE}|given|seen|ok|okay|discussed|agreed|fixed|split)"
_UNIT = (
    r"(?:steps?|stages?|phases?|levels?|lessons?|parts?|rounds?|sessions?|points?|items?|threshold|questions?|readers?|"
    r"reviewers?|papers?|modules?|tasks?|exercises?|chapters?|tests?|quiz|approvals?|verification)"
)
#: What may be about something outside of the conversation, too: it is shown, and never called impossible.
_HINTS = re.compile(
    # what you, we or I are supposed to have said or done, but not a question or a condition
    rf"(?<!did )(?<!if )(?<!when )(?<!could )(?<!would )\b(?:you|we|i)(?:'ve|'d| have| had)?"
    rf" (?:(?:already|just|both|all|so|\w+ly|yourself) ){{0,3}}{_SAID}\b(?! (?:nothing|no|none|never)\b)"
    rf"|\b(?:who|having|to have|has|have) (?:already |just ){{0,2}}{_SAID} (?:already|just now|you|me|us)\b"
    rf"|\b{_SAID} by you\b|\bthose were your (?:\w+ ){{0,2}}words\b|\bthe one (?:we|you|i) \w+\b"
    rf"|\b(?:all|both|every) (?:\w+ ){{0,2}}of your \w+"
    # what is supposed to be done
    rf"|\b{_UNIT}\b[^.!?\n]{{0,40}}?\b{_STATE}\b|\b{_STATE} (?:is|as) (?:the|as)\b|\bon to (?:{_NUMBER}|{_UNIT})\b"
    rf"|\b{_SETTLED}[,;:] ?[^.,;:!?\n]{{2,60}}?\b{_SETTLED}\b[,;:.]"
    # what is supposed to stand before
    r"|\b(?:just now|(?:a|an|\w+) (?:moment|second|minute|hour)s? ago|so far|up to (?:here|now)|until now|"
    r"as before|"
    r"from before|(?:going|coming) back to|continuing (?:our|where|with|from)|picking up|recap|resuming|still the|"
    r"(?:speaking|here) again|our (?:\w+ )?(?:talk|chat|seminar|list|lesson|agreement)|"
    r"in (?:this|the) (?:chat|thread|conversation)|"
    r"(?:shown|stated|said|as|see|by you|line|note|message|agreed) above|"
    r"(?:as|per|see) the (?:\w+ ){1,3}(?:says|said|shows?|states|has it|above|you)|"
    r"the (?:summary|context|notes?|log|panel|record) (?:has|says|shows))\b"
    rf"|\b(?:in|at|since) turn ?#?{_NUMBER}\b"
    r"|\bas (?:agreed|promised|discussed|settled|confirmed|requested|announced)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"(?:do|did|have|has|had|are|is|was|were|can|could|would|will|what|which|when|where|how)\b", re.I
)
_QUOTED = re.compile(r"\"[^\"]{20,2000}\"|“[^”]{20,2000}”|(?<!\w)'[^'\n]{20,600}'(?!\w)|^>.*$", re.MULTILINE)
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
    were kept, a claim is unsupported of whose sentence no content word (5 letters or more) occurs in them. What may
    be about something else, what is quoted or asked, is neither: it cannot be told.
    """
    layer, session = case.layer, case.session
    claims: list[HistoryClaim] = []
    quoted = [match.span() for match in _QUOTED.finditer(layer.text)]
    covered = -1
    for start, end, plain in _matches(layer.text):
        if start < covered:
            continue
        start, covered = _sentence(layer.text, start, end)
        outside = not plain or any(first <= start < last for first, last in quoted)
        claims.append(_checked(layer, start, covered, session, outside))
        if len(claims) == _MAX_CLAIMS:
            break
    return tuple(claims)


def _matches(text: str) -> list[tuple[int, int, bool]]:
    """Return where claims stand, and whether each is plainly about this conversation; of two in one place that."""
    plain = [(*match.span(), True) for pattern in (_CLAIMS, _NTH) for match in pattern.finditer(text)]
    hints = [(*match.span(), False) for match in _HINTS.finditer(text)]
    sentences = {_sentence(text, start, end)[1] for start, end, _ in plain}
    return sorted([*plain, *(hint for hint in hints if _sentence(text, *hint[:2])[1] not in sentences)])


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span from a claim's first word to the end of its sentence, at most 300 characters on."""
    closing = _SENTENCE_END.search(text, end, end + 300)
    return start, closing.start() if closing else min(len(text), end + 300)


def _checked(layer: Layer, start: int, end: int, session: SessionMemory | None, outside: bool) -> HistoryClaim:
    text = layer.text[start:end]
    turn = _claimed_turn(text)
    # The sentence before the claim says what it is about.
    sentence = re.split(r"[.!?\n]", layer.text[max(0, start - 300) : start])[-1].lstrip() + text
    asked = layer.text[end : end + 1] == "?" and _ASKING.match(sentence)
    status = _status(sentence, turn, session)
    if (outside or asked) and status in ("impossible", "unsupported"):
        status = "unverifiable"
    return HistoryClaim(
        span=Span(layer=layer.name, start=start, end=end),
        text=text,
        claimed_turn=turn,
        status=status,
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
    if earlier and len(words) > 1 and not any(word in earlier for word in words):
        return "unsupported"
    return "possible"
