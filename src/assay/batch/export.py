"""The results table: one line a job in the order of the input, as JSON lines, CSV or Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any, BinaryIO

from assay.batch.ledger import Batch, Result
from llm_runtime.extras import needing

#: Columns that say what came of a job; two engines that did the same work agree in them.
COLUMNS = ("job", "row", "repetition", "configuration", "task", "state", "result", "error", "message")
#: Columns that say how it came about.
HISTORY = ("failures", "run", "cost")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def lines(batch: Batch, results: Iterable[Result]) -> Iterator[dict[str, Any]]:
    """Yield each result of a batch as JSON-compatible data."""
    configurations = [shown(configuration) for configuration in batch.configurations]
    for result in results:
        fields = asdict(result) | {
            "job": result.job_id,
            "run": result.run_id,
            "configuration": configurations[result.configuration],
            "task": result.task if result.error == "BrokenInput" else json.loads(result.task),
            "result": None if result.result is None else json.loads(result.result),
        }
        yield {name: fields[name] for name in (*COLUMNS, *HISTORY)}


def shown(configuration: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration as its job file has it, without what only a run needs: of personas, who they are."""
    left = {name: value for name, value in configuration.items() if name not in ("added", "behaviours")}
    if "personas" in left:
        left["personas"] = [each["contract"]["persona_id"] for each in left["personas"]]
    return left


def write_jsonl(table: Iterable[dict[str, Any]], file: BinaryIO) -> None:
    """Write one object a line."""
    file.writelines(json.dumps(line).encode() + b"\n" for line in table)


def write_csv(table: Iterable[dict[str, Any]], file: BinaryIO) -> None:
    """Write cells: objects are JSON; a text that a spreadsheet takes for a formula gets a quote in front."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    for number, line in enumerate(table):
        if number == 0:
            writer.writerow(line)
        writer.writerow([_cell(value) for value in line.values()])
    text.detach()


def write_parquet(table: Iterable[dict[str, Any]], file: BinaryIO) -> None:
    """Write columns; objects are JSON text: their shape may differ from job to job.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    with needing("a table in Parquet", "scale"):
        from importlib import import_module

        # By name: pyarrow has no types.
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    whole = {"row", "repetition", "failures", "cost"}
    schema: Any = arrow.schema(
        [(name, arrow.int64() if name in whole else arrow.string()) for name in (*COLUMNS, *HISTORY)]
    )
    rows = iter(table)
    with parquet.ParquetWriter(file, schema) as writer:
        while page := list(islice(rows, 500)):
            flat = [{name: _plain(value) for name, value in line.items()} for line in page]
            writer.write_table(arrow.Table.from_pylist(flat, schema=schema))


#: By the ending of a file's name.
WRITERS: dict[str, Callable[[Iterable[dict[str, Any]], BinaryIO], None]] = {
    ".jsonl": write_jsonl,
    ".csv": write_csv,
    ".parquet": write_parquet,
}


def _plain(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value


def _cell(value: Any) -> Any:
    plain = _plain(value)
    return f"'{plain}" if isinstance(plain, str) and plain.startswith(_FORMULA) else plain
