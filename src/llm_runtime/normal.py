"""The form in which texts are compared: what looks alike is alike, and each sign knows where it stood.

Compatible characters are one (NFKC), case and accents of the encoding do not count, every run of white space is one
space, quotation marks and dashes are straight, and marks of emphasis and invisible characters are gone.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property, lru_cache

#: Characters that nobody sees, beside those of Unicode's category Cf.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: What joins the character before it.
_JOINING = "\u0300-\u036f\u1161-\u11ff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
_PIECE = re.compile(rf"(?:[!-)+-_a-~](?![{_JOINING}]))+|\s+|.[{_JOINING}]*", re.DOTALL)
_STRAIGHT = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "–": "-", "—": "-", "‑": "-",
     "‐": "-", "−": "-", "*": None, "`": None}
)  # fmt: skip
_EMPHASIS = str.maketrans("", "", "*`")
_WORD = re.compile(r"\w+")


def is_unseen(sign: str) -> bool:
    """Tell whether nobody sees a character."""
    return _UNSEEN.match(sign) is not None or unicodedata.category(sign) == "Cf"


class Normal:
    """A text in normal form, and where its signs stood in the original, found out when it is first asked."""

    def __init__(self, original: str) -> None:
        self._original = original
        self.text = " ".join(original.lower().translate(_EMPHASIS).split()) if original.isascii() else self._forms[0]

    @cached_property
    def _forms(self) -> tuple[str, list[int], list[int]]:
        parts: list[str] = []
        begins: list[int] = []
        ends: list[int] = []
        blank = True
        for piece in _PIECE.finditer(self._original):
            start, end = piece.span()
            sign = piece[0]
            if sign.isascii() and not sign.isspace() and sign not in "*`":
                parts.append(sign.lower())
                begins.extend(range(start, end))
                ends.extend(range(start + 1, end + 1))
                blank = False
                continue
            form = ("" if blank else " ") if sign.isspace() else "" if is_unseen(sign[0]) else _folded(sign)
            if form:
                parts.append(form)
                begins.extend([start] * len(form))
                ends.extend([end] * len(form))
                blank = form.endswith(" ")
        whole = "".join(parts)
        if whole.endswith(" "):
            whole = whole[:-1]
        return whole, begins, ends

    def places(self, wanted: str, most: int = 8) -> list[tuple[int, int]]:
        """Return where ``wanted``, a normal form, stands in the original, by whole words; the first ``most``."""
        places: list[tuple[int, int]] = []
        at = self.text.find(wanted) if wanted else -1
        while at >= 0 and len(places) < most:
            last = at + len(wanted)
            if not (_inside_word(self.text, at) or _inside_word(self.text, last)):
                _, begins, ends = self._forms
                places.append((begins[at], ends[last - 1]))
                at = self.text.find(wanted, last)
            else:
                at = self.text.find(wanted, at + 1)
        return places


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _joins(text[at - 1]) and _joins(text[at])


def _joins(sign: str) -> bool:
    """Tell whether a sign belongs to a word that goes on; scripts without blanks have no such words."""
    return (sign.isalnum() or sign == "_") and not "\u2e80" <= sign <= "\ua4cf" and not "\u0e00" <= sign <= "\u0eff"


@lru_cache(maxsize=64)
def normal(text: str) -> Normal:
    """Return a text in normal form."""
    return Normal(text)


def _folded(sign: str) -> str:
    form = unicodedata.normalize("NFKC", sign.translate(_STRAIGHT)).casefold()
    return " ".join(unicodedata.normalize("NFKC", form).translate(_STRAIGHT).split())


def says_enough(form: str) -> bool:
    """Tell whether a normal form is long enough to be a quotation: three words or twelve characters.

    In scripts without blanks two signs count as a word.
    """
    words = len(_WORD.findall(form))
    if words < 3:
        words += sum(not _joins(sign) for sign in filter(str.isalnum, form)) // 2
    return words >= 3 or (len(form) >= 12 and sum(map(str.isalnum, form)) >= 4)
