"""A leading ``<think>...</think>`` is reasoning, not answer, where no server has taken it out of the text."""

from __future__ import annotations

from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["text", "reasoning"]

_OPEN = "<think>"
_CLOSE = "</think>"


class ThinkingSplit:
    """Tells reasoning from text in an answer that comes in pieces, wherever a piece ends.

    Only a tag that the answer begins with counts: further down it is part of the text.
    """

    __slots__ = ("_held", "state")

    def __init__(self) -> None:
        self._held = ""
        #: ``start``: nothing but spaces and a part of the tag came; ``text``: all that comes is answer.
        self.state: Literal["start", "reasoning", "closed", "text"] = "start"

    def feed(self, piece: str) -> list[tuple[Kind, str]]:
        """Return what ``piece`` brings, by kind; what may be a part of a tag waits for the next one."""
        held = self._held + piece
        self._held = ""
        parts: list[tuple[Kind, str]] = []
        if self.state == "start":
            begun = held.lstrip()
            if _OPEN.startswith(begun[: len(_OPEN)]) and len(begun) < len(_OPEN):
                self._held = held
                return parts
            self.state = "reasoning" if begun.startswith(_OPEN) else "text"
            held = begun[len(_OPEN) :] if self.state == "reasoning" else held
        if self.state == "reasoning":
            thought, closed, held = held.partition(_CLOSE)
            if not closed:
                self._held = _tail(thought)
                thought = thought.removesuffix(self._held)
            else:
                self.state = "closed"
            if thought:
                parts.append(("reasoning", thought))
            if not closed:
                return parts
        if self.state == "closed":
            held = held.lstrip()
            self.state = "text" if held else "closed"
        if held:
            parts.append(("text", held))
        return parts

    def close(self) -> list[tuple[Kind, str]]:
        """Return what still waits, now that nothing follows."""
        held, self._held = self._held, ""
        return [("reasoning" if self.state == "reasoning" else "text", held)] if held else []


def opened_by_the_prompt(text: str) -> tuple[str, str]:
    """Return the reasoning and the answer of a text whose opening tag stood in the prompt, as some templates have it.

    Only a closing tag on a line of its own tells it, before which none opens and no code does.
    """
    thought, closed, answer = text.partition(f"\n{_CLOSE}\n")
    told = closed and _OPEN not in thought and not thought.count("```") % 2
    return (thought, answer.lstrip()) if told else ("", text)


def _tail(thought: str) -> str:
    """Return the end of ``thought`` that may be the beginning of the closing tag."""
    at = thought.rfind("<", -len(_CLOSE))
    return thought[at:] if at >= 0 and _CLOSE.startswith(thought[at:]) else ""
