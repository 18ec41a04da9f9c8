"""What stands around a council: attachments, the form of the answer, letters in place of roles.

The engine keeps to its frozen specification. All of this happens in the model function that it is given: a request
of the engine goes in, the request that a model gets comes out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from crucible.briefing import Briefing
from crucible.letters import Lettering
from crucible.material import Dossier
from llm_runtime.messages import Generate, Message, Reply, Request, changed
from llm_runtime.prompts import load_prompt

#: Phases whose calls are shown the attachments: seats, critic, short circuit, synthesis.
_SHOWN = frozenset({"position", "defence", "draft", "critique", "answer", "synthesis"})
_ANSWERS = frozenset({"answer", "synthesis"})
_LETTERED = frozenset({"position", "defence", "draft", "critique", "synthesis"})
_MARKER = re.compile(r"<<<(?:END )?[^<>\n]{1,200} [0-9a-f]{16}>>>[ \t]*\n?")
_START = re.compile(r"<<<(?!END )([^<>\n]{1,200}) ([0-9a-f]{16})>>>\n")
_END = re.compile(r"\n<<<END ([^<>\n]{1,200}) ([0-9a-f]{16})>>>")
_POSITIONS = re.compile(r"(?:LOOP \d+ )?POSITION of ")
_NAMED = re.compile(r"\b(?:(?:position|seat)\s+)?([A-Z])\b", re.IGNORECASE)
_TARGETS = re.compile(r"(?i)[ \t>*_`#-]*targets[ \t*_`]*:")


def grounded(generate: Generate, dossier: Dossier, seed: int, earlier: str = "") -> Generate:
    """Show the attachments to every seat, the critic, the short circuit and the synthesis.

    Without attachments it is ``generate`` itself.

    Args:
        earlier: what an earlier council was asked and answered, which they are shown, too.
    """
    if not dossier and not earlier:
        return generate
    briefing = Briefing("", dossier, earlier, "", seed)

    async def ask(request: Request) -> Reply:
        if request.label.phase not in _SHOWN:
            return await generate(request)
        turns = list(request.messages)
        # Two turns of one role in a row are refused by some models.
        at = next(number for number, turn in enumerate(turns) if turn.role == "user")
        turns[at] = briefing.turn(request.label.seat, turns[at].content, "attachments")
        return await generate(replace(request, messages=tuple(turns)))

    return ask


def unmarked(generate: Generate) -> Generate:
    """Drop the markers of material from answers: a small model copies them, and each draft would hold more."""

    async def ask(request: Request) -> Reply:
        reply = await generate(request)
        own = request.label.phase == "triage" or "<<<" not in reply.text
        return reply if own else replace(reply, text=_MARKER.sub("", reply.text).strip())

    return ask


def formed(generate: Generate, form: str) -> Generate:
    """Have the response written in a form of ours, which stands behind the engine's own task."""
    if not form:
        return generate
    task = load_prompt("crucible", "form").render(form=form)

    async def ask(request: Request) -> Reply:
        if request.label.phase in _ANSWERS:
            last = request.messages[-1]
            whole = replace(last, content=f"{last.content}\n\n{task}")
            request = replace(request, messages=(*request.messages[:-1], whole))
        return await generate(request)

    return ask


def lettered(generate: Generate, seats: Lettering) -> Generate:
    """Call seats by letters in what models are shown, and show positions in an order drawn for each call.

    A critic that knows roles attacks roles, and whoever stands first is read the most closely. The order changes
    from call to call, and is the same in a replay. What models wrote is not touched; only the line that names the
    targets of a debate is, for the engine reads it.

    Args:
        seats: may be filled when triage has answered.
    """

    async def ask(request: Request) -> Reply:
        phase = request.label.phase
        names = seats.names
        if phase not in _LETTERED or not names:
            return await generate(request)
        texts = [_renamed(turn.content, names) for turn in request.messages]
        if seats.drawn and phase in ("critique", "synthesis"):
            order = random.Random(f"{seats.seed}|{request.label}")
            texts = [_shuffled(text, order) for text in texts]
        turns = [Message(turn.role, text, turn.pictures) for turn, text in zip(request.messages, texts, strict=True)]
        reply = await generate(changed(request, messages=tuple(turns)))
        own, text = targets_at(reply.text), reply.text
        return changed(reply, text=text[:own] + _labels(text[own:], names)) if own < len(text) else reply

    return ask


class FencedText(NamedTuple):
    """What stands between two markers, and where: of the markers, and of the material."""

    name: str
    material: str
    start: int
    end: int
    inside: int


def fenced(text: str) -> Iterator[FencedText]:
    """Yield what stands between markers, in order.

    In linear time: an attachment may be full of markers that nothing closes.
    """
    last = {end[0]: end.start() for end in _END.finditer(text)} if "\n<<<END " in text else {}
    at = 0
    for start in _START.finditer(text) if last else ():
        name, code, inside = start[1], start[2], start.end()
        marker = f"\n<<<END {name} {code}>>>"
        if start.start() < at or last.get(marker, -1) < inside:
            continue
        close = text.find(marker, inside)
        at = close + len(marker)
        yield FencedText(name, text[inside:close], start.start(), at, inside)


def targets_at(text: str) -> int:
    """Return where the last line of a text begins, if it names the targets of a debate; else where the text ends."""
    start = text.rfind("\n") + 1
    return start if _TARGETS.match(text, start) else len(text)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a prompt with letters for labels, but for what stands behind its fences."""

    def letter(text: str) -> str:
        # Letters are capitals, and stand in no label: what was put in makes no other one.
        for label in names:
            text = text.replace(label, names[label])
        return text

    parts, at = list[str](), 0
    for block in fenced(text):
        own, inner = targets_at(block.material), block.material
        parts += [letter(text[at : block.inside]), inner[:own], letter(inner[own:])]
        at = block.inside + len(inner)
    return "".join([*parts, letter(text[at:])])


def _shuffled(text: str, order: random.Random) -> str:
    """Return a prompt whose positions have changed places, those of each loop among themselves."""
    runs: list[list[FencedText]] = []
    for block in fenced(text):
        if not _POSITIONS.match(block.name):
            continue
        if runs and text[runs[-1][-1].end : block.start] == "\n\n":
            runs[-1].append(block)
        else:
            runs.append([block])
    for run in reversed(runs):
        texts = [text[block.start : block.end] for block in run]
        order.shuffle(texts)
        text = text[: run[0].start] + "\n\n".join(texts) + text[run[-1].end :]
    return text


def _labels(line: str, names: Mapping[str, str]) -> str:
    """Return a line of targets with the seats' labels, as the engine reads them."""
    by_letter = {letter: label for label, letter in names.items()}
    head, colon, rest = line.partition(":")
    return head + colon + _NAMED.sub(lambda one: by_letter.get(one[1].upper(), one[0]), rest)
