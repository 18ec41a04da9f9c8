"""The new format: a book of parts."""

import re

from larder.record import Record, fields_of, lines_of

BOOK = "BOOK"
PART = re.compile(r"part-[0-9]{4}")
MANY = 4


def is_part(name):
    """Tell whether a file is named as parts are."""
    return PART.fullmatch(name) is not None


def part_name(number):
    """Return the name of a part; the first one has the number 1."""
    return f"part-{number:04}"


def has_book(disk):
    """Tell whether there is a whole book."""
    return BOOK in disk.names() and ("\n" + disk.read(BOOK)).endswith("\nend\n")


def record_text(record):
    """Return a record as a part has it."""
    rows = [f"record {record.key} {record.revision}", *(f" {line}" for line in lines_of(record.fields))]
    return "\n".join(rows) + "\n"


def read_book(disk):
    """Return the records of a book, by key."""
    return {record.key: record for part in parts_of(disk) for record in read_part(disk.read(part))}


def parts_of(disk):
    """Return the names of the parts of a book."""
    return [line.split(" ")[0] for line in disk.read(BOOK).split("\n")[:-2]]


def read_part(text):
    """Yield the records of a part."""
    key, revision, rows = None, 0, []
    for line in text.split("\n")[:-1]:
        if line.startswith("record "):
            if key is not None:
                yield Record(key, revision, fields_of(rows))
            _, key, number = line.split(" ")
            revision, rows = int(number), []
        else:
            rows.append(line[1:])
    if key is not None:
        yield Record(key, revision, fields_of(rows))
