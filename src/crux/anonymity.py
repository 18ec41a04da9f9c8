"""Who said what, as an agent may see it: "You" and "Speaker B" (CX7).

Real names are for events and people. Every text on its way into a prompt passes a mask first, because a peer's
words and a person's own essays both name names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase

from crux.behaviour import BEHAVIOUR
from crux.personas.persona import Persona

_LETTER = re.compile(r"\bSpeaker ([A-Z])\b")


class Panel:
    """The personas in seat order; a seat's letter never changes during a debate.

    Args:
        personas: 2 to 26, with distinct names.
    """

    def __init__(self, personas: Sequence[Persona]) -> None:
        self.personas = tuple(personas)
        self.by_name = {persona.name: persona for persona in personas}
        self._letter = {persona.name: ascii_uppercase[place] for place, persona in enumerate(personas)}
        self._masks = dict[str, Mask]()

    def seat(self, name: str) -> str:
        """Return the seat's label: ``"1:maud-tarrowby"``."""
        return f"{ascii_uppercase.index(self._letter[name]) + 1}:{self.by_name[name].id}"

    def alias(self, name: str) -> str:
        """Return ``"Speaker B"``."""
        return f"Speaker {self._letter[name]}"

    def named(self, alias: str) -> str | None:
        """Return the real name behind ``"Speaker B"`` or ``"B"``; None where nobody has it."""
        letter = alias.strip().upper().removeprefix("SPEAKER").strip()
        return next((name for name, own in self._letter.items() if own == letter), None)

    def named_text(self, text: str) -> str:
        """Return a text written about letters, for people: real names in their place."""
        return _LETTER.sub(lambda match: self.named(match[1]) or match[0], text)

    def mask(self, viewer: str = "") -> Mask:
        """Return the mask of one persona; without a viewer, the one that a judge sees through."""
        if viewer not in self._masks:
            self._masks[viewer] = Mask(self, viewer)
        return self._masks[viewer]


class Mask:
    """Replaces names for one viewer: the own by "you", every other by its letter; a judge sees letters only."""

    def __init__(self, panel: Panel, viewer: str) -> None:
        self._panel = panel
        self._viewer = viewer
        self._all = {
            name: persona.name for persona in panel.personas for name in persona.names
        }  # a name that two share belongs to the later seat; either way it is masked
        self._pattern = _pattern(self._all)
        self._others = _pattern({name: whose for name, whose in self._all.items() if whose != viewer})

    def speaker(self, name: str) -> str:
        """Return the viewer's word for a speaker: ``"You"`` or ``"Speaker B"``."""
        return "You" if name == self._viewer else self._panel.alias(name)

    def __call__(self, text: str) -> str:
        """Return a peer's words: every name masked."""
        return self._pattern.sub(self._word, text) if self._pattern else text

    def others(self, text: str) -> str:
        """Return the viewer's own material: the own name stays, every other is masked."""
        return self._others.sub(self._word, text) if self._others else text

    def names(self, text: str) -> bool:
        """Tell whether a text names another on the panel."""
        return bool(self._others and self._others.search(text))

    def _word(self, match: re.Match[str]) -> str:
        whose = self._all.get(match[0]) or next(
            (owner for name, owner in self._all.items() if name.casefold() == match[0].casefold()), self._viewer
        )
        if whose != self._viewer:
            return self._panel.alias(whose)
        return "You" if match.string[: match.start()].rstrip()[-1:] in ("", ".", "!", "?", "\n") else "you"


def _pattern(names: dict[str, str]) -> re.Pattern[str] | None:
    """Match any of the names as whole words: names of several words in any case, single ones with a capital."""
    if not names:
        return None
    ways: list[str] = []
    for name in sorted(names, key=len, reverse=True):
        any_case = " " in name or "-" in name or name.startswith("@")
        way = f"(?i:{re.escape(name)})" if any_case else f"(?:{re.escape(name)}|{re.escape(name.upper())})"
        # In a script without spaces a name stands between other letters.
        joined = len(name) > 1 and name[0] >= "\u2e80" and not BEHAVIOUR.before(7)
        ways.append(way if joined else rf"(?<!\w){way}(?!\w)")
    return re.compile("|".join(ways))
