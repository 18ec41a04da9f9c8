"""What lies in stores, and what it cost."""

from granary.entries import LogError
from granary.journal import Posting, journal
from granary.log import Ledger, read
from granary.replay import short, stock, taken

__all__ = ["Ledger", "LogError", "Posting", "journal", "read", "short", "stock", "taken"]
