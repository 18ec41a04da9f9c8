"""Where keys live while they are used: header values without a repr, and the filter that takes echoes out."""

from __future__ import annotations

import base64
import re
import string
from typing import Any, cast
from urllib.parse import quote

from pydantic_core import from_json, to_json

REDACTED = "[redacted]"

#: Shorter keys are placeholders ("ollama", "none", "EMPTY"), and words that an answer may well contain.
SHORTEST_SECRET = 10

#: A shorter beginning of a key tells nothing: those of one vendor begin alike.
_SHORTEST_BEGINNING = 6

_VISIBLE = "".join(sorted(set(string.printable) - set(string.whitespace)))


class HeaderSecret(str):
    """A header's value that never shows in a repr: neither ours, nor that of an HTTP library's frames."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"'{REDACTED}'"


class Redactor:
    """Replaces every spelling of some keys: raw, base64, URL-encoded, with or without JSON escapes."""

    __slots__ = ("_forms", "_longest", "_pattern", "_words")

    def __init__(self, secrets: tuple[str, ...]) -> None:
        forms = {form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in _spellings(secret)}
        # The longest first, so that no form leaves the tail of another behind.
        self._forms = [form.encode() for form in sorted(forms, key=lambda form: (-len(form), form))]
        self._pattern = re.compile(b"|".join(map(re.escape, self._forms)))
        self._longest = max(map(len, self._forms), default=0)
        #: No form holds a space, so that none goes on beyond one.
        self._words = not any(b" " in form for form in self._forms)

    def body(self, raw: bytes) -> bytes:
        """Redact a response body, before anything reads it."""
        if self._forms and (b"\\u00" in raw or b"\\/" in raw):
            raw = _without_needless_escapes(raw)
        return self._replaced(raw)

    def text(self, text: str) -> str:
        """Redact a header or a message."""
        if not self._forms:
            return text
        return self._replaced(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def data(self, value: Any) -> Any:
        """Return JSON-compatible data, redacted."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self.data(inner) for name, inner in cast(dict[str, Any], value).items()}
        if isinstance(value, list):
            return [self.data(inner) for inner in cast(list[Any], value)]
        return value

    def held(self, text: str) -> int:
        """Return how many characters at the end of a redacted text may be the beginning of a key that goes on."""
        run = len(text) - len(text.rstrip(_VISIBLE)) if self._words else len(text)
        return min(run, self._longest - 1) if self._forms else 0

    def cut(self, text: str) -> str:
        """Redact the end of a redacted text that broke off, where it is the beginning of a key."""
        raw = text[-self._longest :].encode(errors="surrogatepass") if self._forms else b""
        for length in range(len(raw), _SHORTEST_BEGINNING - 1, -1):
            if any(form.startswith(raw[-length:]) for form in self._forms):
                return text[:-length] + REDACTED
        return text

    def _replaced(self, raw: bytes) -> bytes:
        # Nearly always there is nothing to find, and looking for one text after the other is by far the fastest.
        if not any(form in raw for form in self._forms):
            return raw
        return self._pattern.sub(REDACTED.encode(), raw)

    def __repr__(self) -> str:
        return "Redactor()"


def _spellings(secret: str) -> set[str]:
    quoted = quote(secret, safe="")
    forms = {secret, quoted, re.sub("%..", lambda match: match[0].lower(), quoted)}
    for offset, first in ((0, 0), (1, 2), (2, 3)):
        # Inside a longer encoded text ("user:key") the key starts at any of three places in a group of four.
        raw = b"\0" * offset + secret.encode()
        whole = len(raw) * 8 // 6
        for encoded in (base64.b64encode(raw), base64.urlsafe_b64encode(raw)):
            forms.add(encoded.decode()[first:whole])
    return forms


def _without_needless_escapes(raw: bytes) -> bytes:
    try:
        return to_json(from_json(raw))
    except ValueError:
        return raw
