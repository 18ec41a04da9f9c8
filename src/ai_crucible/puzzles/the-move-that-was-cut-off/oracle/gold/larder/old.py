"""The old format: a file for each record."""

import re

from larder.record import Record, fields_of, lines_of

NAME = re.compile(r"([A-Za-z0-9-]+)\.rec")


def is_old(name):
    """Tell whether a file is of the old format."""
    return NAME.fullmatch(name) is not None


def read_old(disk):
    """Return the records of a disk, by key."""
    records = {}
    for name in disk.names():
        if is_old(name):
            record = read_record(name, disk.read(name))
            if record is not None and (record.key not in records or records[record.key].revision < record.revision):
                records[record.key] = record
    return records


def read_record(name, text):
    """Return the record of a file; None where the file is not whole."""
    if not text.endswith("\nend\n"):
        return None
    first, *rest, _, _ = text.split("\n")
    return Record(NAME.fullmatch(name)[1].lower(), int(first.partition("=")[2]), fields_of(rest))


def write_old(disk, name, record):
    """Write a record's file."""
    disk.write(name, "\n".join([f"rev={record.revision}", *lines_of(record.fields), "end"]) + "\n")
