"""python3 -m ledgerbook JOURNAL [balance|register ACCOUNT] [--until DAY] [--depth N]"""

import argparse
import sys
from datetime import date
from pathlib import Path

from ledgerbook.book import Book
from ledgerbook.journal import JournalError, read_journal
from ledgerbook.reports import table, tree


def main(words=None):
    """Print a report; 1 where the journal cannot be read."""
    parser = argparse.ArgumentParser(prog="ledgerbook")
    parser.add_argument("journal", type=Path)
    parser.add_argument("report", choices=["balance", "register"], nargs="?", default="balance")
    parser.add_argument("account", nargs="?", default="assets")
    parser.add_argument("--until", type=date.fromisoformat)
    parser.add_argument("--depth", type=int)
    asked = parser.parse_args(words)
    try:
        book = Book(read_journal(asked.journal.read_text(encoding="utf-8")))
    except (JournalError, ValueError) as fault:
        print(f"{asked.journal}: {fault}", file=sys.stderr)
        return 1
    if asked.report == "balance":
        sys.stdout.write(table(tree(book, asked.until, asked.depth)))
        return 0
    for entry, change, total in book.running(asked.account):
        if asked.until is None or entry.day <= asked.until:
            print(f"{entry.day}  {entry.text:<24}  {change}  {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
