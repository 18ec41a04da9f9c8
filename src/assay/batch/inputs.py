"""Rows of an input, one after another in constant memory: CSV, JSON lines, Parquet, or the files of a folder."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

from assay.batch.jobfile import Input, InputFormat
from llm_runtime.errors import ConfigurationError
from llm_runtime.extras import needing
from llm_runtime.files import saying
from llm_runtime.structs import Struct
from llm_runtime.tables import divider

#: Characters of a line, or bytes of a file, beyond which a row is broken rather than read.
LONGEST_ROW = 1 << 20
#: What bytes that are not UTF-8 become where they are let through.
_FOREIGN = re.compile("[\udc80-\udcff]")


class InputRow(Struct):
    """One row of an input.

    Args:
        number: 1-based place in the input.
        values: by column; empty where the row is broken.
        fault: why it is broken, or empty.
        raw: a broken row as it stands, shortened.
    """

    number: int
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    fault: str = ""
    raw: str = ""


def rows(source: Input) -> Iterator[InputRow]:
    """Yield the rows of ``source`` in order.

    Raises:
        ConfigurationError: it is not there, not of its format, or has no such column as the job file names.
        MissingExtraError: Parquet without pyarrow.
    """
    path, columns = source.path, set(source.columns.values())
    readers = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet, "folder": _folder}
    with saying(f"the input {path} cannot be read"):
        for number, row in enumerate(readers[source.format or _format(path)](path, columns), start=1):
            if isinstance(row, _Broken):
                yield InputRow(number, fault=row.fault, raw=row.raw)
            else:
                yield InputRow(number, {name: row.get(name) for name in columns})


class _Broken(NamedTuple):
    """A row that cannot be read: why, and how it stands there."""

    fault: str
    raw: str = ""


_Read: TypeAlias = Iterator[Mapping[str, Any] | _Broken]
_KINDS: dict[str, InputFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def _format(path: Path) -> InputFormat:
    if path.is_dir():
        return "folder"
    if path.suffix.lower() not in _KINDS:
        raise ConfigurationError(f'the input {path} has an ending that says nothing; add format = "csv" or another')
    return _KINDS[path.suffix.lower()]


def _known(path: Path, wanted: set[str], present: list[str]) -> None:
    if unknown := sorted(wanted - set(present)):
        raise ConfigurationError(
            f"the input {path} has no column {unknown[0]!r}; it has: {', '.join(present[:20]) or 'none'}"
        )


def _csv(path: Path, columns: set[str]) -> _Read:
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        csv.field_size_limit(LONGEST_ROW)  # of the whole process, but higher harms nobody
        first = next((line for line in file if line.strip()), "")
        if _FOREIGN.search(first):
            raise ConfigurationError(f"the input {path} is not UTF-8; save it as CSV UTF-8")
        reader = csv.reader(chain((first,), file), delimiter=divider(first, path.name), strict=True)
        header = next(reader, list[str]())
        if any(header.count(name) > 1 for name in columns):
            raise ConfigurationError(f"the input {path} names a column twice")
        _known(path, columns, header)
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as fault:
                # A quote that does not close may swallow rows: they are named, not lost.
                yield _Broken(f"not CSV: {fault} (lines {line} to {reader.line_num} of the file)")
                continue
            if cells:
                yield _row(header, cells)


def _row(header: list[str], cells: list[str]) -> Mapping[str, Any] | _Broken:
    raw = ",".join(cells)
    if len(cells) != len(header):
        return _Broken(f"{len(cells)} cells where the header has {len(header)}", ascii(raw[:100]))
    return _Broken("not UTF-8", ascii(raw[:100])) if _FOREIGN.search(raw) else dict(zip(header, cells, strict=True))


def _jsonl(path: Path, columns: set[str]) -> _Read:
    seen: set[str] = set()
    with path.open("rb") as file:
        while line := file.readline(LONGEST_ROW):
            if len(line) == LONGEST_ROW and not line.endswith(b"\n"):
                while (rest := file.readline(LONGEST_ROW)) and not rest.endswith(b"\n"):
                    pass
                yield _Broken(f"longer than {LONGEST_ROW} bytes", ascii(line[:100]))
            elif line.strip():
                row = _object(line)
                if not isinstance(row, _Broken) and not seen:
                    # JSON lines have no header: the first good row stands for it.
                    seen = set(row)
                    _known(path, columns, sorted(seen))
                yield row


def _object(line: bytes) -> Mapping[str, Any] | _Broken:
    try:
        data = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as fault:
        return _Broken(f"not JSON: {ascii(str(fault))[1:-1][:80]}", ascii(line[:100]))
    return (
        cast("Mapping[str, Any]", data) if isinstance(data, dict) else _Broken("not a JSON object", ascii(line[:100]))
    )


def _parquet(path: Path, columns: set[str]) -> _Read:
    with needing("a Parquet input", "scale"):
        from importlib import import_module

        # By name: pyarrow has no types.
        parquet: Any = import_module("pyarrow.parquet")
    try:
        file: Any = parquet.ParquetFile(path)
    except ValueError as fault:
        raise ConfigurationError(f"the input {path} is not Parquet: {str(fault).splitlines()[0]}") from None
    _known(path, columns, list(file.schema_arrow.names))
    for group in file.iter_batches(batch_size=1024, columns=sorted(columns)):
        yield from group.to_pylist()


def _folder(path: Path, columns: set[str]) -> _Read:
    _known(path, columns, ["name", "text"])
    for entry in sorted(entry for entry in path.iterdir() if entry.is_file() and not entry.name.startswith(".")):
        with entry.open("rb") as file:
            content = file.read(LONGEST_ROW + 1)
        if len(content) > LONGEST_ROW:
            yield _Broken(f"{entry.name} is longer than {LONGEST_ROW} bytes", ascii(entry.name))
            continue
        try:
            yield {"name": entry.name, "text": content.decode("utf-8-sig")}
        except UnicodeDecodeError:
            yield _Broken(f"{entry.name} is not UTF-8", ascii(entry.name))
