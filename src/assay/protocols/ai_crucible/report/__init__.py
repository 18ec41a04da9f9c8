"""Trials as reports: the workshop's logs and ledger, read into one book, told as a story."""

from assay.protocols.ai_crucible.report.book import Book, read_book
from assay.protocols.ai_crucible.report.story import trials_story

__all__ = ["Book", "read_book", "trials_story"]
