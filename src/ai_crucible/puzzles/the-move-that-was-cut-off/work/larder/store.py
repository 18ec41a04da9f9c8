"""The larder as a whole, in whatever format it is."""

import re

from larder.book import has_book, read_book
from larder.old import is_old, read_old, write_old
from larder.record import Record

KEY = re.compile(r"[A-Za-z0-9-]+")
FIELD = re.compile(r"[a-z]+")


class LarderError(ValueError):
    """What is asked for cannot be done."""


def load(disk):
    """Return the records of a disk, by key."""
    return read_book(disk) if has_book(disk) else read_old(disk)


def put(disk, key, fields):
    """Write a record in the old format, with the next revision; return it."""
    if not KEY.fullmatch(key):
        raise LarderError(f"{key!r} is no key")
    for name in fields:
        if not FIELD.fullmatch(name):
            raise LarderError(f"{name!r} is no field")
    if has_book(disk):
        raise LarderError("a book is never changed")
    before = read_old(disk).get(key.lower())
    record = Record(key.lower(), before.revision + 1 if before else 1, dict(fields))
    write_old(disk, f"{key.lower()}.rec", record)
    return record
