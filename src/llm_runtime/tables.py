"""The rows of a file, in constant memory: CSV, JSON lines, or one JSON array of objects."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying
from llm_runtime.structs import Struct

MAX_FIELD = 32_000_000
"""Characters of one field; larger ones end the reading with an error."""

_CHUNK = 1 << 16


class DataError(ConfigurationError, ValueError):
    """The data set cannot be used; the message names the row and what to change."""


class _Row(Struct):
    """One row as it stands in its file; ``line`` is the 1-based line it begins in, 0 where that is not known."""

    data: Mapping[str, Any]
    where: str
    line: int = 0


def read_rows(path: Path) -> Iterator[_Row]:
    """Yield the rows of a file, in order; the kind of file is told by its ending.

    Raises:
        DataError: it cannot be read.
    """
    readers = {".csv": _csv_rows, ".jsonl": _jsonl_rows, ".ndjson": _jsonl_rows, ".json": _json_rows}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise DataError(f"{path.name}: a data set ends in .csv, .json or .jsonl")
    try:
        with saying(f"{path.name} cannot be read", DataError), path.open(encoding="utf-8-sig", newline="") as stream:
            yield from reader(stream)
    except UnicodeDecodeError as fault:
        raise DataError(f"{path.name} is not UTF-8 near byte {fault.start}; re-encode it") from None


def divider(head: str, name: str = "") -> str:
    """Return what divides the cells of a table: a comma, a tab, a bar, or the semicolon of those who write 1,5.

    Args:
        head: its first line.
        name: of its file; the ending ``.tsv`` says what it is.
    """
    return "\t" if name.casefold().endswith(".tsv") else max(",\t;|", key=re.sub('"[^"]*"', "", head).count)


def _csv_rows(stream: IO[str]) -> Iterator[_Row]:
    csv.field_size_limit(MAX_FIELD)
    head = stream.readline()
    reader = csv.DictReader(chain((head,), stream), delimiter=divider(head), strict=True)
    last = 1
    try:
        names = reader.fieldnames or ()
        if twice := [name for name in dict.fromkeys(names) if name and names.count(name) > 1]:
            raise DataError(f"two columns are called {twice[0][:40]}; give each a name of its own")
        for number, row in enumerate(reader, start=1):
            where = f"row {number} (line {reader.line_num})"
            if None in row:
                raise DataError(f"{where} has more fields than the header")
            yield _Row(row, where, last + 1)
            last = reader.line_num
    except csv.Error as fault:
        raise DataError(f"line {reader.line_num} is not CSV: {fault}") from None


def _jsonl_rows(stream: IO[str]) -> Iterator[_Row]:
    for number, line in enumerate(stream, start=1):
        if line.strip():
            where = f"line {number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                raise DataError(f"{where} is not JSON") from None
            yield _Row(_object(value, where), where, number)


def _json_rows(stream: IO[str]) -> Iterator[_Row]:
    """Yield the entries of one JSON array, decoded one by one."""
    decoder, buffer, number = json.JSONDecoder(), stream.read(_CHUNK).lstrip(), 0
    if not buffer.startswith("["):
        raise DataError("the file is not a JSON array of objects")
    buffer = buffer[1:]
    while True:
        buffer = buffer.lstrip(" \t\r\n," if number else " \t\r\n")
        if buffer.startswith("]"):
            return
        where = f"entry {number + 1}"
        try:
            value, end = decoder.raw_decode(buffer)
        except RecursionError:
            raise DataError(f"{where} is nested too deep") from None
        except ValueError:
            more = stream.read(max(_CHUNK, len(buffer)))
            if not more or len(buffer) > MAX_FIELD:
                raise DataError(f"{where} is not JSON, or the file is cut off") from None
            buffer += more
            continue
        yield _Row(_object(value, where), where)
        buffer, number = buffer[end:], number + 1


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{where} is not an object")
    return cast("dict[str, Any]", value)
