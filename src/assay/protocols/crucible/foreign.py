"""Findings that others have made: SARIF of any tool, a list of claims, the text of an issue."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from pydantic import AliasPath, BaseModel, Field

from assay.console.options import read_text
from assay.launch.logs import result_of
from crucible.attaching import attachment
from crucible.changes import asked_of_git, changed
from crucible.material import Attachment
from crucible.records import FindingRecord
from crucible.reviewing import CheckedFinding, checked
from llm_runtime.errors import ConfigurationError, RunNotFound
from llm_runtime.models import fits
from llm_runtime.store import RunStore

_MOST, _FILES = 200, 40
#: An entry of a list, or a line of a tool, as `m.py:2:5: said`.
_HEADING, _ENTRY = re.compile(r"(?m)^#.*$"), re.compile(r"(?m)^(?:(?:[-*+]|\d{1,3}[.)])[ \t]+|(?=[^\s:]{1,300}:\d+:))")
_FILE = re.compile(
    r"(?<![\w/.-])(?:\./)?(/?(?:[\w.-]{1,80}/){0,12}[\w-]{1,80}\.\w{1,8})(?:`?(?::|#L|,? \(?line )(\d{1,6}))?"
)
_CALLED = re.compile(r"\b([A-Za-z_]\w{2,60})\(")
_DEFINED = r"\b(def|class|function|func|fn|const|let|var)\s+(\([^)]*\)\s*)?{}\b"
_PHYSICAL = ("locations", 0, "physicalLocation")
_Located: TypeAlias = tuple[str, int, FindingRecord]


def _deep(default: object, first: str, *way: str | int) -> Any:
    return Field(default=default, validation_alias=AliasPath(first, *way))


class _Rule(BaseModel):
    id: str = ""
    level: str = _deep("", "defaultConfiguration", "level")
    about: str = _deep("", "shortDescription", "text")


class _Suppression(BaseModel):
    status: str = "accepted"


class _Address(BaseModel):
    """Where a file is, as a place has it, a base, or an artifact of the run."""

    location: _Address | None = None
    uri: str = ""
    base: str = _deep("", "uriBaseId")
    index: int = -1


class _Result(BaseModel):
    text: str = _deep("", "message", "text")
    level: str = ""
    rule: str = Field("", alias="ruleId")
    kind: str = ""
    state: str = Field("", alias="baselineState")
    suppressions: list[_Suppression] | None = None
    file: _Address = _deep(_Address(), *_PHYSICAL, "artifactLocation")
    line: int = _deep(0, *_PHYSICAL, "region", "startLine")
    quote: str = _deep("", *_PHYSICAL, "region", "snippet", "text")

    @property
    def holds(self) -> bool:
        """Whether it is a finding: nothing that passed, is gone, or that somebody has suppressed."""
        accepted = any(one.status == "accepted" for one in self.suppressions or ())
        return not accepted and self.state != "absent" and self.kind not in ("pass", "notApplicable", "informational")


class _Run(BaseModel):
    rules: list[_Rule] = _deep([], "tool", "driver", "rules")
    results: list[_Result] = []
    artifacts: list[_Address] = []
    bases: dict[str, _Address] = Field({}, alias="originalUriBaseIds")

    def located(self, one: _Result, root: Path, ours: set[str]) -> _Located:
        rule = next((rule for rule in self.rules if rule.id == one.rule), _Rule())
        places = [_own(name, root, ours) for name in self._places(one.file)]
        found = _found(one.text or rule.about or one.rule, one.quote, one.level or rule.level)
        return next((name for name in places if name in ours), places[-1]), one.line, found

    def _places(self, at: _Address) -> list[str]:
        """Return where a file may be, the fullest name first: a base of the tool's own machine is none here."""
        if not at.uri and 0 <= at.index < len(self.artifacts):
            at = self.artifacts[at.index].location or at
        written, bases = [at.uri], dict(self.bases)
        while base := bases.pop(at.base, None):
            at = base
            written.append(f"{at.uri.rstrip('/')}/{written[-1]}" if at.uri else written[-1])
        return [unquote(urlsplit(one).path if one[:5].lower() == "file:" else one) for one in reversed(written)]


class _Sarif(BaseModel):
    runs: list[_Run]


def claims_of(store: RunStore, source: str) -> str:
    """Return what the answer of a council claims, as a list; empty where a source is a file, or no such run."""
    with suppress(RunNotFound):
        if not Path(source).exists():
            result = result_of([event for _, event in store.events(store.find(source))]) or {}
            return "\n".join(f"- {' '.join(one['text'].split())}" for one in result.get("claims", ()))
    return ""


def read_findings(source: str, revisions: str, claims: str = "") -> tuple[list[CheckedFinding], list[Attachment], str]:
    """Return findings with their places, the texts that those are in, and the words of an issue where it is one.

    Args:
        source: a file, or ``-`` for standard input.
        revisions: the change that they are about; empty for what is here now.
        claims: the list that is read in place of a file.

    Raises:
        ConfigurationError: it cannot be read, holds too many findings, or is no SARIF and holds none.
    """
    text = claims or read_text(None, source, "findings").strip()
    # A name may come from anybody: what is no file of the repository is shown to no model.
    root = Path(_git("rev-parse", "--show-toplevel").rstrip("\n"))
    names = _git("-C", str(root), "ls-files", "-z").split("\0")
    ours = {one for one in names if (root / one).is_file() and not (root / one).is_symlink()}
    entries, is_sarif = _entries(text), bool(re.match(r"\{|\[\s*[{\]]", text))
    told = filter(None, entries or [text])
    located = _of_sarif(text, root, ours) if is_sarif else [_of_words(one, root, ours) for one in told]
    if not located and not is_sarif:  # a tool that finds nothing is no mistake
        raise ConfigurationError(f"{source} holds no finding: give SARIF, a list of claims, or an issue's text")
    if len(located) > _MOST:
        raise ConfigurationError(f"{source} holds {len(located)} findings, and {_MOST} are the most: split it")
    dossier = changed(revisions) if revisions else []
    missing = dict.fromkeys(name for name, _, _ in located if name in ours.difference(one.name for one in dossier))
    dossier += [attachment(name, (root / name).read_text("utf-8", "replace")) for name in [*missing][:_FILES]]
    at = {one.name: f"A{number}" for number, one in enumerate(dossier, 1)}
    places = [f"{at.get(name, '')}:{line}" if line else at.get(name, "") for name, line, _ in located]
    found = [one.model_copy(update={"place": place}) for (_, _, one), place in zip(located, places, strict=True)]
    return checked(found, dossier), dossier, "" if entries or is_sarif else text


def _entries(text: str) -> list[str]:
    """Return the entries of a text that is a list from its first line on, headings left out; else nothing."""
    first, *entries = _ENTRY.split(_HEADING.sub("", text).strip())
    return [] if first.strip() else [entry.strip() for entry in entries]


def _own(name: str, root: Path, ours: set[str]) -> str:
    """Return the name that Git has for a file, which others name from the root, from here, or from the disk's root."""
    return next((one for one in (os.path.normpath(name), os.path.relpath(name or ".", root)) if one in ours), name)


def _of_words(text: str, root: Path, ours: set[str]) -> _Located:
    """Return a claim at the first file that it names, or where what it calls is defined."""
    named = [(file[1], int(file[2] or 0)) for file in _FILE.finditer(text) if _own(file[1], root, ours) in ours]
    for name in () if named else dict.fromkeys(_CALLED.findall(text)):
        hits = (hit.split(":", 2) for hit in _git("-C", str(root), "grep", "-nE", _DEFINED.format(name)).split("\n"))
        named += [(hit[0], int(hit[1])) for hit in hits if hit[0] in ours]
    name, line = (named or [("", 0)])[0]
    return _own(name, root, ours), line, _found(text.lstrip("# "))


def _of_sarif(text: str, root: Path, ours: set[str]) -> list[_Located]:
    with fits("this is no SARIF that can be read; have the tool write SARIF 2.1.0: "):
        runs = _Sarif.model_validate_json(text).runs
    return [run.located(one, root, ours) for run in runs for one in run.results if one.holds]


def _found(text: str, quote: str = "", level: str = "") -> FindingRecord:
    title, _, rest = text.strip().partition("\n")
    told = {"title": title[:300] or "a finding", "fails": rest.strip(), "quote": quote[:2_000]}
    return FindingRecord(severity="minor" if level in ("note", "none") else "major", **told)


def _git(*words: str) -> str:
    with suppress(ConfigurationError):  # whoever reads the change says why
        return asked_of_git(words, 20, "").decode("utf-8", "replace")
    return ""
