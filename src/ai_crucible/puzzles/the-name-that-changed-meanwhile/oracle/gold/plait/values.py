"""Values of fields."""

import json
import re
from decimal import Decimal

from plait.errors import Fault

TOKEN = re.compile(r' *(?:(true|false|null)(?![a-z0-9])|(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)(?![0-9a-zA-Z.])|("(?:[^"\\]|\\[n"\\]|\\u[0-9a-f]{4})*")|([\[\],]))')

def value_of(text):
    """Return the value that a text means: a kind, and what is the same where it means the same."""
    value, end = _value(text, 0)
    if text[end:].strip(" "):
        raise Fault(f"{text!r} is no value")
    return value


def _token(text, at):
    match = TOKEN.match(text, at)
    if match is None:
        raise Fault(f"{text!r} is no value")
    return match


def _value(text, at):
    match = _token(text, at)
    word, number, letters, sign = match.groups()
    if word:
        return ("word", word), match.end()
    if number:
        return ("number", Decimal(number)), match.end()
    if letters:
        return ("text", json.loads(letters, strict=False)), match.end()
    if sign != "[":
        raise Fault(f"{text!r} is no value")
    return _items(text, match.end())


def _items(text, at):
    items, match = [], TOKEN.match(text, at)
    if match and match[4] == "]":
        return ("list", ()), match.end()
    while True:
        item, at = _value(text, at)
        items.append(item)
        match = _token(text, at)
        at = match.end()
        if match[4] == "]":
            return ("list", tuple(items)), at
        if match[4] != ",":
            raise Fault(f"{text!r} is no value")
