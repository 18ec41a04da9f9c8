"""A small double-entry ledger."""

from ledgerbook.amounts import Amount, Money
from ledgerbook.book import Book
from ledgerbook.journal import Entry, JournalError, Posting, read_journal, write_journal

__all__ = ["Amount", "Book", "Entry", "JournalError", "Money", "Posting", "read_journal", "write_journal"]
