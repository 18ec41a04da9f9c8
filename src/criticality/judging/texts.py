"""Texts that functions are tried with: plain ones, and those that differ from another in one place."""

from __future__ import annotations

from collections.abc import Iterator

#: Texts that every function is tried with.
PLAIN = ("", "a", "b", "ab", "ba", "A", "0", " ", "aa", "abcabc")
_SIGNS = "09٣./-+_ \n"


def changes(text: str) -> Iterator[str]:
    """Yield texts that differ in a single place: a sign put in or left out, a part doubled, dropped, stepped."""
    for at in range(len(text) + 1):
        yield from (text[:at] + sign + text[at:] for sign in _SIGNS)
    yield from (text[:at] + text[at + 1 :] for at in range(len(text)))
    yield from (text.swapcase(), text.upper(), text.lower(), text[::-1])
    for sign in sorted({s for s in text if not s.isalnum()}):
        parts = text.split(sign)
        for at, part in enumerate(parts):
            before, after = parts[:at], parts[at + 1 :]
            others = [[part, part], [""], []]
            others += [[str(int(part) + 1)], [str(int(part) - 1)]] if part.isascii() and part.isdigit() else []
            yield from (sign.join([*before, *other, *after]) for other in others)
        yield from (sign.join([*parts, part]) for part in parts[-1:])
    if text.isascii() and text.isdigit():
        yield from (str(int(text) + 1), str(int(text) - 1))
