"""Cases of a suite, read from where teams keep them: rows, prompt files, promptfoo's configurations, folders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field

from assay.fields import Ui
from assay.protocols.fire_circle import task as circle
from assay.protocols.fire_circle.prompt_file import prompt_fields, read_data, subject_fields
from fire_circle.gates.verdicts import Expected
from fire_circle.layers import BY_TRUST
from fire_circle.rows import Columns
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying
from llm_runtime.models import fits
from llm_runtime.tables import read_rows

MAX_BYTES = 32_000_000
_ROWS = (".csv", ".jsonl", ".ndjson")
_PROMPTS = (".yaml", ".yml", ".json")
_TEXTS = (".txt", ".md")
_PROGRAMS = (".py", ".js", ".cjs", ".mjs", ".ts", ".sh", ".rb")
#: What promptfoo takes for the name of a file where a prompt or a test may stand.
_FILE = re.compile(r"(?!file://)[^\s{}]+\.(?:txt|md|jsonl?|ya?ml|csv|j2|py|[cm]?js|ts|sh|rb)")
_PLACE = re.compile(r"\{\{-? *([\w.]+) *-?\}\}")
#: What data sets usually call a field of ours.
_NAMES = {"user": ("prompt", "input", "question"), "answer": ("output", "response", "completion")}


class Case(circle.Task):
    """One case: a prompt, and what the application answered where that is to be judged."""

    id: Annotated[str, Ui(hidden=True)] = Field(min_length=1, max_length=200)
    """Unique in its suite."""
    line: Annotated[int, Ui(hidden=True)] = Field(default=0, ge=0)
    """The line of ``source`` that holds it, of a file of many; 0 where the file is its own."""
    expect: Annotated[Expected, Ui(hidden=True)] = ""
    """``alarm`` where one must be raised; left out, or ``calm``, where none may be."""
    canary: Annotated[str, Ui(hidden=True)] = Field(default="", max_length=1_000)
    """A text that only the target holds; an attack is proved where its answer has it and that of its twin does not."""
    twin: Annotated[str, Ui(hidden=True)] = ""
    """The id of a harmless case of the suite that is like it."""
    tags: Annotated[tuple[str, ...], Ui(hidden=True)] = ()
    """What it is counted under in reports."""
    called: Annotated[bool, Ui(hidden=True)] = False
    """Whether the answer is no part of the suite: the target was called for it."""

    def acted(self, answered: str) -> str:
        """Return what the application said and wrote into its calls, up to its answer, as one text."""
        own = [record.text for record in self.records if record.role in ("assistant", "call")]
        return "\n".join(filter(None, (*own, answered or self.answer)))

    def leaks(self, acts: Mapping[str, str]) -> bool:
        """Tell by the bytes of all that was done, by id, whether the canary moves, and does not for its twin."""
        return bool(self.canary) and self.canary in acts[self.id] and not self.spoiled(acts)

    def spoiled(self, acts: Mapping[str, str]) -> str:
        """Return why its canary proves nothing; empty where it may, or there is none."""
        twin = acts.get(self.twin, "")
        if self.canary and not (acts[self.id] and twin):
            return f"{self.id}: it or its harmless twin has no answer, so its canary proves nothing"
        moved = bool(self.canary) and self.canary in twin
        return f"{self.id}: its harmless twin has the canary as well, which proves nothing of the attack" * moved


class CaseColumns(Columns):
    """Which column holds what; of a suite also the one of what the application answered."""

    answer: str | None = None


def read_cases(path: Path, columns: CaseColumns, root: Path) -> Iterator[Case]:
    """Yield the cases of a file, or of all files of a folder, in the order of their names.

    Args:
        columns: which column of rows holds what; what is left out goes by the usual names.
        root: the folder that ids and places are named from.

    Raises:
        ConfigurationError: a file cannot be read, or a case of it is none; says where.
    """
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.suffix.lower() in (*_ROWS, *_PROMPTS, *_TEXTS))
        if not files:
            raise ConfigurationError(f"{path} holds no case: no .jsonl, .csv, .yaml, .json, .txt or .md")
        for one in files:
            yield from read_cases(one, columns, root)
        return
    try:
        source = path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        source = path.as_posix()
    text = "" if path.suffix.lower() in _ROWS else _text(path)
    if path.suffix.lower() in _ROWS or (path.suffix.lower() == ".json" and text.lstrip().startswith("[")):
        for number, row in enumerate(read_rows(path), start=1):
            fields = _of_row(row.data, columns, f"{path.name}, {row.where}")
            yield _case(f"{source}:{number}", fields, path, f"{path.name}, {row.where}", row.line)
    elif path.suffix.lower() in _TEXTS:
        yield _case(source, {"user": text}, path, path.name)
    elif path.suffix.lower() in _PROMPTS:
        data = read_data(text, path.name)
        if "prompts" in (table := _table(data)):
            for number, fields in enumerate(_of_promptfoo(table, path), start=1):
                yield _case(f"{source}:{number}", fields, path, f"{path.name}, test {number}")
        else:
            yield _case(source, prompt_fields(data, path.name), path, path.name)
    else:
        raise ConfigurationError(f"{path.name}: cases are .jsonl, .csv, .json, .yaml, .txt or .md, or a folder")


def _text(path: Path) -> str:
    try:
        with saying(f"{path} cannot be read"):
            if path.stat().st_size > MAX_BYTES:
                raise ConfigurationError(f"{path.name} is larger than {MAX_BYTES:,} bytes; split it")
            return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as fault:
        raise ConfigurationError(f"{path.name} is not UTF-8 near byte {fault.start}; re-encode it") from None


def _case(usual: str, fields: dict[str, Any], path: Path, where: str, line: int = 0) -> Case:
    name = str(fields.pop("id", None) or usual)[:200]
    if not any(str(fields.get(layer, "")).strip() for layer in (*BY_TRUST, "records")):
        raise ConfigurationError(f"{where}: there is no prompt; name its column under [columns]")
    with fits(f"{where}: "):
        return Case(id=name, source=str(path), line=line, **fields)


def _of_row(row: Mapping[str, Any], columns: CaseColumns, where: str) -> dict[str, Any]:
    named = {field: getattr(columns, field) for field in (*BY_TRUST, "turn", "history", "id")}
    fields: dict[str, Any] = {}
    for field, column in named.items():
        if column is not None and row.get(column) is None:
            raise ConfigurationError(
                f"{where}: no value in column {column}; the columns are {', '.join(list(row)[:12])}"
            )
        names = (column,) if column is not None else (field, *_NAMES.get(field, ()))
        fields[field] = next((row[name] for name in names if row.get(name) not in (None, "")), None)
    fields["messages"] = _conversation(row.get("messages"))
    return {**subject_fields(fields, where), **_expected(row), **({"id": fields["id"]} if fields["id"] else {})}


def _expected(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row says of itself: what it must come to, and what it is counted under."""
    tags = row.get("tags", "")
    words = tags.split(",") if isinstance(tags, str) else _all(tags)
    told = {name: row.get(name) for name in ("expect", "canary", "twin")}
    told |= {"tags": tuple(word for tag in words if (word := str(tag).strip()))}
    return {name: value for name, value in told.items() if value}


def _messages(value: Any) -> list[Any] | None:
    """Return a conversation, of a table as JSON text; ``None`` of what is none."""
    if isinstance(value, str) and value.lstrip().startswith("[") and '"role"' in value:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return cast("list[Any]", value) if isinstance(value, list) and value else None


def _conversation(value: Any) -> Any:
    """Return the messages of a row; what should be some is left for the refusal of it."""
    return _messages(value) or (value if "role" in str(value) else None)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _of_promptfoo(data: Mapping[str, Any], path: Path) -> Iterator[dict[str, Any]]:
    """Yield each prompt filled with the variables of each test; assertions and providers are not ours to read."""
    prompts = [_table(one).get("raw") or _table(one).get("id") or one for one in _listed(data["prompts"], path)]
    prompts = [text for one in prompts for text in _listed(one, path)]
    usual = _table(_table(_filed(data.get("defaultTest"), path)).get("vars"))
    for number, test in enumerate(map(_table, _listed(data.get("tests") or [{}], path)), start=1):
        where = f"{path.name}, test {number}"
        # A row of a table of tests has its variables as columns.
        variables = {**usual, **_table(test.get("vars", {} if "assert" in test else test))}
        named = {name: _all(_filed(value, path)) for name, value in variables.items()}
        for values in product(*named.values()):
            filled = dict(zip(named, map(_plain, values), strict=True))
            for prompt in prompts:
                text = _filled(str(prompt), filled, where)
                messages = _messages(text)
                fields = {"messages": messages} if messages else {"user": text}
                answer = test.get("providerOutput")
                yield subject_fields({**fields, **({"answer": answer} if answer else {})}, where)


def _table(value: Any) -> dict[str, Any]:
    """Return a table; an empty one of what is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _all(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _listed(value: Any, path: Path) -> list[Any]:
    """Return the entries of a list; where one, or the whole of it, is the name of a file, what stands in that."""
    if isinstance(value, list):
        return [one for entry in _all(value) for one in _listed(entry, path)]
    named = isinstance(value, str) and _FILE.fullmatch(value)
    found = _filed(f"file://{value}" if named else value, path)
    return [found] if found is value else _listed(found, path)


def _filed(value: Any, path: Path) -> Any:
    """Return what a ``file://`` reference holds: rows of a table, data, or text."""
    if not isinstance(value, str) or not value.startswith("file://"):
        return value
    file = path.parent / value.removeprefix("file://")
    if file.suffix in _PROGRAMS:
        raise ConfigurationError(f"{path.name}: {file.name[:80]} is a program; write out what it gives, or give JSONL")
    if file.suffix in _ROWS:
        return [dict(row.data) for row in read_rows(file)]
    text = _text(file)
    return read_data(text, file.name) if file.suffix in (".yaml", ".yml") else text


def _filled(prompt: str, values: Mapping[str, str], where: str) -> str:
    if "{%" in prompt or any("|" in place for place in re.findall(r"\{\{[^{}]*\}\}", prompt)):
        raise ConfigurationError(f"{where}: the prompt is a program of templates; write it out, or give JSONL")
    missing = [name for name in _PLACE.findall(prompt) if name not in values]
    if missing:
        raise ConfigurationError(f"{where}: the prompt needs the variable {missing[0]}, which no vars give")
    return _PLACE.sub(lambda match: values[match[1]], prompt)
