"""Moves records from the old format to the new one."""

from larder.book import BOOK, MANY, has_book, is_part, part_name, parts_of, record_text
from larder.old import is_old, read_old


def migrate(disk):
    """Make a book of the records of a disk; goes on where it was cut off.

    Until the book is whole nothing of the old format is touched, so that all that is written before follows from it.
    """
    if not has_book(disk):
        _write(disk, sorted(read_old(disk).values(), key=lambda record: record.key))
    kept = {BOOK, *parts_of(disk)}
    for name in disk.names():
        if name not in kept and (is_old(name) or is_part(name) or name.endswith(".tmp")):
            disk.delete(name)


def _write(disk, records):
    """Write what is not there yet of the parts, and then the book."""
    lines = ""
    for start in range(0, len(records), MANY):
        some = records[start : start + MANY]
        part, text = part_name(start // MANY + 1), "".join(map(record_text, some))
        if part not in disk.names() or disk.read(part) != text:
            disk.write(part, text)
        lines += f"{part} {some[0].key} {len(some)}\n"
    disk.write(BOOK, lines + "end\n")
