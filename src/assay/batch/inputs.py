"""Rows of an input, one after another in constant memory: CSV, JSON lines, Parquet, or the files of a folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from assay.batch.jobfile import Input, InputFormat
from llm_runtime.errors import ConfigurationError
from llm_runtime.extras import needing
from llm_runtime.files import saying

#: Characters of a line, or bytes of a file, beyond which a row is broken rather than read.
LONGEST_ROW = 1 << 20


@dataclass(frozen=True, slots=True)
class InputRow:
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
        yield from readers[source.format or _format(path)](path, columns)


def _format(path: Path) -> InputFormat:
    if path.is_dir():
        return "folder"
    endings: dict[str, InputFormat] = {
        ".csv": "csv",
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".parquet": "parquet",
        ".pq": "parquet",
    }
    if path.suffix.lower() not in endings:
        raise ConfigurationError(f'the input {path} has an ending that says nothing; add format = "csv" or another')
    return endings[path.suffix.lower()]


def _known(path: Path, wanted: set[str], present: list[str]) -> None:
    if unknown := sorted(wanted - set(present)):
        raise ConfigurationError(
            f"the input {path} has no column {unknown[0]!r}; it has: {', '.join(present[:20]) or 'none'}"
        )


def _csv(path: Path, columns: set[str]) -> Iterator[InputRow]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        csv.field_size_limit(LONGEST_ROW)  # of the whole process, but higher harms nobody
        reader = csv.reader(file, strict=True)
        header = next(reader, list[str]())
        if len(set(header)) != len(header):
            raise ConfigurationError(f"the input {path} names a column twice")
        _known(path, columns, header)
        number = 0
        while True:
            number += 1
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as fault:
                # A quote that does not close may swallow rows: they are named, not lost.
                yield InputRow(number, fault=f"not CSV: {fault} (lines {line} to {reader.line_num} of the file)")
                continue
            raw = ",".join(cells)
            if not cells:
                number -= 1
            elif len(cells) != len(header):
                yield InputRow(
                    number, fault=f"{len(cells)} cells where the header has {len(header)}", raw=ascii(raw[:100])
                )
            elif not _text(raw):
                yield InputRow(number, fault="not UTF-8", raw=ascii(raw[:100]))
            else:
                values = dict(zip(header, cells, strict=True))
                yield InputRow(number, {name: values[name] for name in columns})


def _jsonl(path: Path, columns: set[str]) -> Iterator[InputRow]:
    seen: set[str] = set()
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_ROW):
            number += 1
            if len(line) == LONGEST_ROW and not line.endswith(b"\n"):
                while (rest := file.readline(LONGEST_ROW)) and not rest.endswith(b"\n"):
                    pass
                yield InputRow(number, fault=f"longer than {LONGEST_ROW} bytes", raw=ascii(line[:100]))
                continue
            if not line.strip():
                number -= 1
                continue
            row = _object(number, line, columns)
            if not row.fault and not seen:
                # JSON lines have no header: the first good row stands for it.
                seen = {str(name) for name in json.loads(line)}
                _known(path, columns, sorted(seen))
            yield row


def _object(number: int, line: bytes, columns: set[str]) -> InputRow:
    try:
        data = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as fault:
        return InputRow(number, fault=f"not JSON: {ascii(str(fault))[1:80]}", raw=ascii(line[:100]))
    if not isinstance(data, dict):
        return InputRow(number, fault="not a JSON object", raw=ascii(line[:100]))
    values = cast("dict[str, Any]", data)
    return InputRow(number, {name: values.get(name) for name in columns})


def _parquet(path: Path, columns: set[str]) -> Iterator[InputRow]:
    with needing("a Parquet input", "scale"):
        from importlib import import_module

        # By name: pyarrow has no types.
        parquet: Any = import_module("pyarrow.parquet")
    try:
        file: Any = parquet.ParquetFile(path)
    except ValueError as fault:
        raise ConfigurationError(f"the input {path} is not Parquet: {str(fault).splitlines()[0]}") from None
    _known(path, columns, list(file.schema_arrow.names))
    number = 0
    for group in file.iter_batches(batch_size=1024, columns=sorted(columns)):
        for values in group.to_pylist():
            number += 1
            yield InputRow(number, values)


def _folder(path: Path, columns: set[str]) -> Iterator[InputRow]:
    _known(path, columns, ["name", "text"])
    files = sorted(entry for entry in path.iterdir() if entry.is_file() and not entry.name.startswith("."))
    for number, entry in enumerate(files, start=1):
        with entry.open("rb") as file:
            content = file.read(LONGEST_ROW + 1)
        if len(content) > LONGEST_ROW:
            yield InputRow(number, fault=f"{entry.name} is longer than {LONGEST_ROW} bytes", raw=ascii(entry.name))
            continue
        try:
            values = {"name": entry.name, "text": content.decode("utf-8-sig")}
        except UnicodeDecodeError:
            yield InputRow(number, fault=f"{entry.name} is not UTF-8", raw=ascii(entry.name))
            continue
        yield InputRow(number, {name: values[name] for name in columns})


def _text(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
