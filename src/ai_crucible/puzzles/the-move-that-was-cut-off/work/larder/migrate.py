"""Moves records from the old format to the new one."""

from larder.book import BOOK, MANY, has_book, part_name, record_text
from larder.old import is_old, read_record


def migrate(disk):
    """Make a book of the records of a disk; one that has a book already is left alone."""
    if has_book(disk):
        return
    lines, count = [], 0
    for name in disk.names():
        if not is_old(name):
            continue
        record = read_record(name, disk.read(name))
        if record is not None:
            part = part_name(count // MANY + 1)
            if count % MANY == 0:
                lines.append([part, record.key, 0])
            lines[-1][2] += 1
            disk.append(part, record_text(record))
            count += 1
        disk.delete(name)
    disk.write(BOOK, "".join(f"{part} {key} {many}\n" for part, key, many in lines) + "end\n")
