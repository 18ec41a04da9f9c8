"""What people say of a claim book, kept as events and honoured by every later reading."""

from __future__ import annotations

from collections.abc import Sequence

from crux.book import ClaimBook, Correction, Mention
from llm_runtime.grouping import grouped


def corrected(book: ClaimBook, corrections: Sequence[Correction] = ()) -> ClaimBook:
    """Return a book as people have corrected it: by what it carries, then by more.

    A claim that was rejected, and a stance that its author disowned, come back with no reading; what is merged
    stays merged, and its wording becomes an alias. The last word on a claim counts.

    Args:
        corrections: further ones, oldest first; the book carries them from now on.
    """
    every = tuple(dict.fromkeys((*book.corrections, *corrections)))
    into = {one.claim: one.into for one in every if one.what == "merge" and one.into in book.by_id}
    last = {(one.claim, one.author): one for one in every if one.what != "merge"}
    gone = {key for (key, author), one in last.items() if one.what == "reject" and not author}
    names = {key: _end(key, into) for key in book.by_id}
    merged = grouped((name, book.by_id[key].text) for key, name in names.items() if key != name)
    mentions = (_said(one, names.get(one.claim, one.claim), last) for one in book.mentions)
    relations = (
        one.model_copy(update={"from_": names.get(one.from_, one.from_), "to": names.get(one.to, one.to)})
        for one in book.relations
    )
    return book.changed(
        claims=tuple(
            one.model_copy(update={"aliases": tuple(dict.fromkeys((*one.aliases, *merged.get(one.id, ()))))})
            for one in book.claims
            if names[one.id] == one.id and one.id not in gone
        ),
        mentions=tuple(one for one in mentions if one is not None and one.claim not in gone),
        relations=tuple(one for one in relations if one.from_ != one.to and not {one.from_, one.to} & gone),
        corrections=every,
    )


def _end(key: str, into: dict[str, str]) -> str:
    seen = {key}
    while key in into and into[key] not in seen:
        key = into[key]
        seen.add(key)
    return key


def _said(mention: Mention, claim: str, last: dict[tuple[str, str], Correction]) -> Mention | None:
    """Return a mention under its claim's name, as somebody has corrected it; None where its author disowned it."""
    said = last.get((mention.claim, mention.author)) or last.get((claim, mention.author))
    if said is not None and said.what == "not_said":
        return None
    stance = said.stance if said is not None and said.what == "accept" and said.stance else mention.stance
    return mention.model_copy(update={"claim": claim, "stance": stance})
