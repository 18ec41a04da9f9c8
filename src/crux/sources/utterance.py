"""An utterance, the unit of every source; and what a place gave, with an account of every character."""

from __future__ import annotations

from collections import Counter
from dataclasses import field

from pydantic import Field

from crux.results import CamelModel
from llm_runtime.documents.markup import Composed, Span
from llm_runtime.structs import Struct


class Utterance(CamelModel):
    """One text of one speaker.

    Args:
        id: unique in its place; of a thread the source's own.
        source: what it was read from: ``"markdown"``, ``"mail"``, ``"github"``, ``"vtt"``, ...
        title: of the text or the thread.
        date: ISO 8601, a day or, where the source has it, day and time in UTC; empty where none is known.
        url: where it was published, or empty.
        text: own words, quoted words and code, in order; every place counts its characters.
        replies_to: ids of texts that it answers, where the source says so.
        quoted: spans of ``text`` that the source marks as somebody else's words, in order.
        speaker: who says it; None where the source does not tell.
        speaker_id: by which the source tells two of one name apart.
        quoted_from: beside each span of ``quoted`` whose words they are; ``""`` where nobody says.
        code: spans of ``text`` that are no sentences.
        answers: the first words of what it answers.
    """

    id: str
    source: str
    title: str = ""
    date: str = ""
    url: str = ""
    text: str
    replies_to: tuple[str, ...] = ()
    # Left out where there is none: what older versions kept, and ids that were drawn from it, stay the same.
    quoted: tuple[Span, ...] | None = Field(default=None, exclude_if=lambda spans: spans is None)
    speaker: str | None = None
    speaker_id: str | None = None
    quoted_from: tuple[str, ...] | None = None
    code: tuple[Span, ...] | None = None
    answers: str | None = None

    def own(self, start: int, end: int) -> bool:
        """Tell whether a span of the text is the speaker's own words, all of it."""
        return not any(a < end and start < b for a, b in (*(self.quoted or ()), *(self.code or ())))


def uttered(body: Composed, **fields: str | tuple[str, ...] | None) -> Utterance:
    """Return an utterance of composed text."""
    told = {"text": body.text, "quoted": body.quoted or None, "code": body.code or None}
    return Utterance.model_validate({**fields, **told, "quoted_from": body.whom if any(body.whom) else None})


class Balance(Struct):
    """What became of every character of the texts: ``characters == kept + quoted + code + sum(left_out.values())``.

    Args:
        characters: of all texts in the place; names of fields and marks of a format are none.
        left_out: characters by reason.
    """

    characters: int = 0
    kept: int = 0
    quoted: int = 0
    code: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])

    def __add__(self, other: Balance) -> Balance:
        return Balance(*(getattr(self, name) + getattr(other, name) for name in Balance.__slots__))

    def line(self) -> str:
        """Return it as one line."""
        parts = [f"{self.kept:,} kept", f"{self.quoted:,} quoted from others", f"{self.code:,} code"]
        parts += [f"{count:,} left out ({why})" for why, count in self.left_out.most_common()]
        return f"{self.characters:,} characters: {', '.join(part for part in parts if not part.startswith('0 '))}"


class PlaceReading(Struct):
    """What stands in a place.

    Args:
        utterances: in the order of the place; a thread's in the order of its messages.
        notes: a line for what a reader has to know: what was left out and why, what was guessed, who is unknown.
        authored: the speakers signed whole texts, they did not talk with each other.
        aliases: other names that texts are signed with.
    """

    utterances: tuple[Utterance, ...] = ()
    balance: Balance = field(default_factory=Balance)
    notes: tuple[str, ...] = ()
    authored: bool = True
    aliases: tuple[str, ...] = ()

    def __add__(self, other: PlaceReading) -> PlaceReading:
        return PlaceReading(
            (*self.utterances, *other.utterances),
            self.balance + other.balance,
            (*self.notes, *other.notes),
            self.authored and other.authored,
            tuple(dict.fromkeys((*self.aliases, *other.aliases))),
        )

    @property
    def speakers(self) -> dict[str, int]:
        """Characters of own words by speaker, most first; under ``""`` what nobody is named for."""
        counts: Counter[str] = Counter()
        for one in self.utterances:
            counts[one.speaker or ""] += _lengths(one)[0]
        return dict(counts.most_common())


def balance_of(utterances: tuple[Utterance, ...], characters: int, left_out: Counter[str]) -> Balance:
    """Return the account of one file: what is neither kept nor named as left out is white space and marks."""
    kept, quoted, code = (sum(counts) for counts in zip((0, 0, 0), *map(_lengths, utterances), strict=True))
    rest = characters - kept - quoted - code - left_out.total()
    return Balance(characters, kept, quoted, code, left_out + Counter({"white space and marks": rest}))


def _lengths(one: Utterance) -> tuple[int, int, int]:
    """Return how many characters are own, quoted and code; blank lines, which join blocks, are none."""
    quoted, code = (sum(_size(one.text[a:b]) for a, b in spans or ()) for spans in (one.quoted, one.code))
    return _size(one.text) - quoted - code, quoted, code


def _size(text: str) -> int:
    return len(text) - 2 * text.count("\n\n")
