"""Quotations of web pages in an answer: words with an address behind them, each looked up where it should stand."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress

_MOST = 20
#: As the seat was asked to write them; in an answer that is an object, the marks stand behind a backslash.
_QUOTED = re.compile(
    r'(?:\\?"|[“„«])([^"“”„«»\n]{3,1000}?)(?:\\?"|[“”»])[.,;:]?\s{0,3}\[(https?://[^\s\[\]"\\]{1,500})\](?! \(not)'
)


async def looked_up(text: str, stands: Callable[[str, str], Awaitable[bool]]) -> tuple[str, list[str]]:
    """Mark what does not stand where it should.

    Args:
        stands: ``(address, words)`` to whether the words stand on that page.

    Returns:
        The text, and the quotations that stand nowhere; the first twenty are looked up, and the others are marked.
    """
    parts, wrong, at = list[str](), list[str](), 0
    for number, match in enumerate(_QUOTED.finditer(text)):
        words = match[1]
        with suppress(ValueError):
            words = str(json.loads(f'"{words}"'))
        if number < _MOST and await stands(match[2], words):
            continue
        parts += [text[at : match.end()], " (not found there)" if number < _MOST else " (not looked up)"]
        wrong += [f'- "{words}" [{match[2]}]']
        at = match.end()
    return "".join([*parts, text[at:]]), wrong
