"""Gold replies: are the texts that an essay is known to answer found again? (CX25)"""

from __future__ import annotations

from collections.abc import Sequence

from crux.measurement.share import Share, share
from crux.results import CamelModel
from crux.retrieval.lexical import Lexical
from crux.sources.utterance import Utterance


class GoldReply(CamelModel):
    """One essay with known links. ``rank`` is the best of them, 1-based; None where none was found at all."""

    item: str
    linked: tuple[str, ...]
    rank: int | None
    found: tuple[str, ...]


class GoldReplies(CamelModel):
    """All essays with known links; a hit is a link among the first ``first``."""

    replies: tuple[GoldReply, ...]
    first: int
    hits: Share


def gold_replies(essays: Sequence[Utterance], candidates: Sequence[Utterance], *, first: int = 5) -> GoldReplies:
    """Rank ``candidates`` by their likeness to each essay that has links among them.

    Args:
        essays: those without a link to a candidate are left out.
        candidates: the essay itself is never counted.
        first: how many places count, 1 or more.
    """
    index = Lexical.of([item.text for item in candidates])
    ids = [item.id for item in candidates]
    replies: list[GoldReply] = []
    for essay in essays:
        linked = tuple(link for link in essay.replies_to if link in ids and link != essay.id)
        if not linked:
            continue
        likeness = {item.id: index.likeness(essay.text, item.text) for item in candidates if item.id != essay.id}
        order = sorted((key for key in ids if likeness.get(key)), key=lambda key: -likeness[key])
        ranks = [order.index(link) + 1 for link in linked if link in order]
        replies.append(
            GoldReply(item=essay.id, linked=linked, rank=min(ranks, default=None), found=tuple(order[:first]))
        )
    return GoldReplies(
        replies=tuple(replies),
        first=first,
        hits=share(reply.rank is not None and reply.rank <= first for reply in replies),
    )
