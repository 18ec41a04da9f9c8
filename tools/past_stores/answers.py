"""What the scripted model answers: a function of the request alone, for prompts of every version that is tried."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from tools.past_stores.authors import SENTENCES

from llm_runtime.testing import Received

_FENCE = re.compile(r"<<<([^<>\n]+) ([0-9a-f]{16})>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_CORE = "Did most of the sheep that left the common in the dry year come back?"
_ASPECTS = ("Did the sheep come back after the wall?", "Is a wall owed to those who keep no sheep?")
_FORMS = {"draft": "sequential", "dispute": "debate"}
_VECTORS = {"draft": "feasibility", "dispute": "ethical", "oppose": "steelman"}
_SUMMARY = {"summary": "Speaker A claimed that the sheep came back.", "messages": ["m3", "m4"]}
_CLASH = {"has_direct_opposition": True, "has_specific_claim": True, "topic_relevant": True}


def answer(received: Received) -> str:
    """Return the answer to a request."""
    text = "\n".join(str(message.content) for message in received.messages)
    for words, make in _BY_WORDS:
        if words in text:
            made = make(text, received) if callable(make) else make
            return made if isinstance(made, str) else json.dumps(made)
    return f"An answer after {len(received.messages)} messages."


def _fenced(text: str, name: str) -> str:
    return next((found[3] for found in _FENCE.finditer(text) if found[1] == name), "")


def _lines(text: str, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _fenced(text, name).split("\n") if line.startswith("{")]


def _triage(text: str, _: Received) -> Any:
    query = text.split("Configure a council for this query.")[-1]
    simple = "how many" in query.lower()
    roles = ("domain_expert", "pragmatist", "creative") if "dispute" in query else ("domain_expert", "pragmatist")
    seats = [{"role": role, "system_prompt": f"You are the {role}.", "model_hint": None} for role in roles]
    return {
        "reconstructed_query": "Should the village split its common?",
        "complexity": "simple" if simple else "complex",
        "short_circuit_allowed": simple,
        "council": [*seats, {"role": "red_team", "system_prompt": "Attack.", "model_hint": None}],
        "loop_grammar": next((form for word, form in _FORMS.items() if word in query), "parallel"),
        "loop_count": 3 if "early" in query else 2,
        "red_team_flavor": next((vector for word, vector in _VECTORS.items() if word in query), "logical"),
        "allow_early_exit": "early" in query,
        "synthesis_instruction": "One paragraph.",
    }


def _critique(text: str, _: Received) -> str:
    said = "1. A: nobody counted the sheep. 2. B: the wall costs more than the hay."
    labels = re.findall(r"labels are: ([^\n]+?)\. It is", text)
    return f"{said}\nTARGETS: {labels[0].split(',')[0]}" if labels else said


def _position(text: str, received: Received) -> str:
    who = str(received.messages[0].content).splitlines()[0][:40]
    turn = "after the critique" if "Red Team" in text else "at first"
    return f"**Yes**, {turn}: split the common ({who}). Each flock keeps to its side, and the wall pays in a year."


def _concluded(text: str, _: Received) -> Any:
    roles = re.findall(r"<<<NOW (\S+) [0-9a-f]{16}>>>", text)
    other = {"before": "Split it.", "after": "Split it and count.", "same": False}
    return {"conclusions": [{"role": role, **other} for role in roles]}


def _recorded(_text: str, _: Received) -> Any:
    words = {"quote": "nobody counted the sheep", "attacks": "split the common", "outcome": "refuted"}
    return {"objections": [{**words, "reply": "Each flock keeps to its side", "changed": ""}]}


def _scores(text: str, received: Received) -> Any:
    high = 0.9 if received.model.endswith(("one", "two")) else 0.6
    judged = {"truth": 0.2, "indeterminacy": 0.1, "falsehood": high, "reasoning": f"Nobody agreed. {received.model}"}
    seen = [{"pattern": "temporal inconsistency: it relies on earlier talk", "quote": "As we agreed yesterday"}]
    kind = next((name for name in ("patterns_observed", "consensus_patterns") if f'"{name}": [' in text), "")
    found = {**judged, kind: seen} if kind else judged
    if "stumble" in text and received.model.endswith("two"):
        draft = json.dumps({**judged, "falsehood": 0.1})
        return f"At first I thought: {draft}\n\nOn reflection:\n{json.dumps(found)}"
    return found


def _counted(text: str, received: Received) -> str:
    # Samples differ in length, and so in what they cost.
    number = int(received.payload.get("seed") or 0) % 90
    return f"{'I count once more. ' * (70 + number)}\nANSWER: {6 + number % 2}"


def _classified(text: str, _: Received) -> Any:
    numbers = sorted({int(found) for found in re.findall(r'"number": ?(\d+)', text)})
    return {"classified": [{"number": number, "kinds": ["temporal_inconsistency"]} for number in numbers]}


def _turn(text: str, received: Received) -> Any:
    yes = "Ann Aster" in text
    if "stumble" in text:
        return _stumbling(text, yes, len(received.messages))
    state = {"position": "YES: by the counts." if yes else "NO: by the wall.", "challenge": "", "updated": False}
    state |= {"because": "No flaw was named.", "claim_ref": ""}
    place = re.findall(r"(?:Round|Exchange) \d+", text)
    words = f"{'Counts' if yes else 'Walls'} decide, and they were published. {place[-1] if place else 'So I begin'}."
    core = {"core": {"statement": _CORE, "type": "factual"}} if '"core"' in text else {}
    return {"state": state, **core, "utterance": words}


def _stumbling(text: str, yes: bool, messages: int) -> Any:
    """Return a turn that is long, and at some places no JSON, polite, or a change of mind."""
    if yes and "Round 1 " in text and messages == 2:
        return "It is a matter of counts."
    long = "by the counts of every spring, " * 12 if yes else "by the wall and by who may not pass it, " * 12
    polite = "Great point, thank you for that. " if not yes and "Round 2 " in text and messages == 2 else ""
    said = re.findall(r'"id": ?"(m\d+)", ?"speaker": ?"Speaker [A-H]"', text)
    moved = bool(yes and said and "Exchange 5 " in text)
    state = {"position": f"{'YES' if yes and not moved else 'NO'}: {long}", "challenge": "The rain.", "updated": moved}
    state |= {"because": f"{said[-1]} names the rain." if moved else "No flaw.", "claim_ref": said[-1] if moved else ""}
    core = {"core": {"statement": _CORE, "type": "factual"}} if '"core"' in text else {}
    return {
        "state": state,
        **core,
        "utterance": f"{polite}Each spring says it, {'and counts' if yes else 'as walls'} do.",
    }


def _card(text: str, _: Received) -> Any:
    offered, said = _lines(text, "SENTENCES FROM THEIR OWN WRITINGS"), _lines(text, "WHAT WAS SAID")
    sides: list[dict[str, Any]] = []
    for speaker in dict.fromkeys(line["speaker"] for line in said if line["speaker"] != "evidence"):
        own = [line["id"] for line in said if line["speaker"] == speaker]
        reasons = [("The sheep were counted.", own[:1]), (f"{speaker} holds to it.", own[-1:])]
        side = {"speaker": speaker, "position": "YES" if speaker[-1] in "ACEG" else "NO", "condition": ""}
        side |= {"messages": own[-1:], "reasoning": [{"sentence": one, "messages": ids} for one, ids in reasons]}
        side |= {"falsifier": "I would change my mind if a full count showed otherwise by 2028."}
        side |= {"quotes": [line["wrote"] for line in offered if line["speaker"] == speaker][:1]}
        sides.append(side)
    first = {"sentence": "Different data on one question.", "messages": [said[0]["id"]]}
    card = {"question": _CORE, "disagreement_type": "evidence", "diagnosis": [first], "resolved": False}
    return {**card, "resolution": "A count would settle it.", "sides": sides}


def _earned(text: str, _: Received) -> Any:
    span = " ".join(_fenced(text, "CITED WORDS").split()[:6])
    return {"span": span, "bears": True, "held_before": False, "ground": "argument", "why": "It names a count."}


def _judged(text: str, _: Received) -> Any:
    kinds = ("supports", "unrelated", "contradicts")
    verdicts: list[dict[str, Any]] = []
    for at, one in enumerate(_lines(text, "PAIRS")):
        span = " ".join(str(one["premise"]).split()[:4])
        verdicts.append({"pair": one["pair"], "kind": kinds[at % 3], "span": span, "why": "It says so."})
    return {"verdicts": verdicts}


def _read(text: str, _: Received) -> Any:
    known = {one["claim"]: one["id"] for one in _lines(text, "CLAIMS SO FAR")}
    passages: list[dict[str, Any]] = []
    for passage in _lines(text, "PASSAGES"):
        claims: list[dict[str, Any]] = []
        for sentence in _SENTENCE.split(passage["text"]):
            own = {"ref": known[sentence]} if sentence in known else {"id": f"n{len(known)}", "text": sentence}
            known.setdefault(sentence, f"n{len(known)}")
            claims.append({**own, "kind": "fact", "stance": "holds", "quote": sentence, "supports": []})
        passages.append({"id": passage["id"], "claims": claims, "none": ""})
    return {"passages": passages}


def _linked(text: str, _: Received) -> Any:
    ids = [one["id"] for one in _lines(text, "CLAIMS")]
    return {"relations": [{"from": one, "to": two, "kind": "supports"} for one, two in pairwise(ids)]}


def _issues(text: str, _: Received) -> Any:
    first, second = _lines(text, "CLAIMS OF THE FIRST"), _lines(text, "CLAIMS OF THE SECOND")
    pairs = [{"first": a["id"], "second": b["id"], "question": _CORE} for a, b in zip(first, second, strict=False)]
    return {"opposed": pairs[:2], "shared": []}


def _extracted(text: str, _: Received) -> Any:
    kinds = {"cause_type": "factual_claim", "effect_type": "inference", "polarity": 1, "held": "stated"}
    there = [sentence for sentence in SENTENCES if sentence in text]
    pairs = pairwise(there)
    return {"relationships": [{"cause": one, "effect": two, **kinds, "quote": one} for one, two in pairs]}


def _excerpts(text: str, _: Received) -> Any:
    return {"excerpts": [sentence for sentence in SENTENCES if sentence in text][:3]}


def _voice(text: str, _: Received) -> Any:
    words = {"speech_patterns": ["begins with a case"], "vocabulary": ["the common"], "forbidden_phrases": ["indeed"]}
    return {**words, "examples": [sentence for sentence in SENTENCES if sentence in text][:2]}


def _pairs(_text: str, _: Received) -> Any:
    return {"pairs": [{**_CLASH, "personas": ["Speaker A", "Speaker B"], "claim": "whether the sheep came back"}]}


def _aspects(_text: str, _: Received) -> Any:
    return {"aspects": [{"label": label, "description": f"At issue: {label}"} for label in _ASPECTS]}


#: By words of a prompt, the first that are in it: an answer, or what makes it.
_BY_WORDS: list[tuple[str, Callable[[str, Received], Any] | dict[str, Any] | str]] = [
    ("You are the triage agent", _triage),
    ("You are the clerk of a council", _recorded),
    ("You are a judge. Answer only YES or NO", "YES"),
    ("You compare what the members of a council concluded", _concluded),
    ("You are synthesizing the output of a deliberative council", "Split it, and count first.\nANSWER: 8"),
    ("You are the Red Team member", _critique),
    ("several independent judges of prompts", _scores),
    ("you hold the empty chair", _scores),
    ("You sort observations that judges made", _classified),
    ("You write the final answer to a question after several", "Eight, all in all."),
    ("You choose the best of several independent answers", "It counts.\n\nBEST: 1"),
    ("Then end with one line of exa", _counted),
    ("What is a common for?", _counted),
    ("You decide whether the claim did", _earned),
    ("You write the card that says it", _card),
    ("Two speakers were each asked what they cannot agree on", {"same": True, "opposite_wording": False}),
    ("Two speakers try to find the root of their disagreement", {"exit": False}),
    ("You keep the minutes of a debate", _SUMMARY),
    ("You look for disagreements on a panel", _pairs),
    ("A panel will debate this question", _aspects),
    ("Say why they disagree: the two", {"answer": "They weigh counts and walls differently."}),
    ("Say why they disagree. First think", {"thinking": "First...", "answer": "They differ on what a count is."}),
    ("First take stock, in `state`", _turn),
    ("You judge pairs of short texts", _judged),
    ("You read passages of one author and write down what", _read),
    ("You are shown what one author holds", _linked),
    ("You set what two authors claim side by side", _issues),
    ("You read one passage of one author", _extracted),
    ("You are given beliefs of one author", {"groups": []}),
    ("ANCHOR EXCERPTS", _excerpts),
    ("The part to write: VOICE", _voice),
    ("The part to write: FLIP", {"conditions": ["A count that shows fewer sheep by 2028."]}),
    ("The part to write:", {"text": "The author begins with a count and ends with a rule."}),
    ("Write one question about the main thing", {"question": _CORE, "found": True}),
    ("How would that author answer the QUESTION", {"answer": "YES"}),
    ('{"consistent": true}', {"consistent": True}),
    ("You are the", _position),
]
