"""A council whose model reads little: what does not fit is asked shorter."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from crucible.events import Shortened
from crucible.prose.around import fenced
from llm_runtime.errors import ContextExceeded
from llm_runtime.events import Event
from llm_runtime.messages import Generate, Reply, Request

#: What a council itself wrote; the question, the attachments and the instruction stay whole.
_OWN = re.compile(r"(?:LOOP (\d+) )?(?:POSITION of|RED TEAM|YOUR OWN POSITION|CURRENT DRAFT|DRAFT by)")
#: Characters of a text that are kept at the least.
_KEPT = 400
#: Of the window, so much is filled by a prompt that is cut: a tenth is kept for the answer.
_FILLED = 0.8
#: Of a prompt that is refused without a word on how much is too much, so much is sent again, and again.
_UNKNOWN = 0.6
_ATTEMPTS = 3


def shortening(generate: Generate, emit: Callable[[Event], object]) -> Generate:
    """Ask again, with the council's own texts cut, the earliest first, where a prompt exceeds the window.

    Raises:
        ContextExceeded: the question, the attachments and the least of each text are too long already.
    """

    async def ask(request: Request) -> Reply:
        asked = request
        for _ in range(_ATTEMPTS):
            try:
                return await generate(asked)
            except ContextExceeded as fault:
                share = min(_FILLED * fault.window / fault.asked, 0.9) if fault.asked and fault.window else _UNKNOWN
                if (shorter := shortened(asked, share)) is None:
                    raise
                label = request.label
                emit(Shortened(phase=label.phase, seat=label.seat, share=round(share, 2), reason=str(fault)))
                asked = shorter
        return await generate(asked)

    return ask


def shortened(request: Request, share: float) -> Request | None:
    """Return a request with the council's own texts cut, so that it is ``share`` (0 to 1) as long; or ``None``."""
    texts = [message.content for message in request.messages]
    blocks = [
        (int(own[1] or 10**6), -len(block.material), at, block)
        for at, text in enumerate(texts)
        for block in fenced(text)
        if (own := _OWN.match(block.name))
    ]
    left = sum(map(len, texts)) * (1 - share)
    cuts: list[tuple[int, int, int, str]] = []
    for _, _, at, block in sorted(blocks, key=lambda one: one[:3]):
        long = len(block.material)
        keep = max(_KEPT, int(long - left))
        if left > 0 and keep < long:
            cuts.append((at, block.inside, block.inside + long, _cut(block.material, keep)))
            left -= long - keep
    if left > 0:
        return None
    for at, start, end, text in sorted(cuts, reverse=True):
        texts[at] = texts[at][:start] + text + texts[at][end:]
    turns = (replace(turn, content=text) for turn, text in zip(request.messages, texts, strict=True))
    return replace(request, messages=tuple(turns))


def _cut(text: str, keep: int) -> str:
    """Return beginning and end of a text: what it holds stands there, its argument in between."""
    note = " [… left out, for the prompt was too long …] "
    room = max(keep - len(note), 40)
    return text[: room * 2 // 3].rstrip() + note + text[len(text) - room // 3 :].lstrip()
