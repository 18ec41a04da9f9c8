"""What authors hold, claim by claim, each with its sentence; and the judge of what one text says of another."""

from crux.book import ClaimBook
from crux.claims.judge import Judge, Pair, Verdict
from crux.claims.linking import link_book
from crux.claims.reading import Unread, batches_of, read_book

__all__ = [
    "ClaimBook",
    "Judge",
    "Pair",
    "Unread",
    "Verdict",
    "batches_of",
    "link_book",
    "read_book",
]
