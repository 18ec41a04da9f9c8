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


async def looked_up(text: str, look: Callable[[str, str], Awaitable[str]]) -> tuple[str, list[str]]:
    """Mark what does not stand where it should.

    Args:
        look: ``(address, words)`` to a remark; empty where the words stand on that page.

    Returns:
        The text with the remarks, and the quotations that have one; the first twenty are looked up.
    """
    parts, wrong, at = list[str](), list[str](), 0
    for number, match in enumerate(_QUOTED.finditer(text)):
        words = match[1]
        with suppress(ValueError):
            words = str(json.loads(f'"{words}"'))
        remark = await look(match[2], words) if number < _MOST else "not looked up"
        if remark:
            parts += [text[at : match.end()], f" ({remark})"]
            wrong += [f'- "{words}" [{match[2]}]']
            at = match.end()
    return "".join([*parts, text[at:]]), wrong
