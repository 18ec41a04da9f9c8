"""What differs between languages: how a test command is worded for a box, and how what it printed is read."""

from __future__ import annotations

import re
import shlex
import tomllib
from functools import cache
from importlib import resources
from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict

from crucible.proving.records import Ask, Failure, Ran, TestRun
from llm_runtime.errors import ConfigurationError

_TAP = re.compile(r"^( *)(not ok|ok) \d+ (?:- )?(.*?)( # (?:SKIP|TODO).*)?$", re.MULTILINE)
_GO = re.compile(r"^( *)--- (FAIL|PASS|SKIP): (\S+)", re.MULTILINE)


class Child(BaseModel):
    """What the probe says of one command in a box: exit code, output, reports behind its mark, lines that ran."""

    code: int = 0
    ended: str = ""
    out: str = ""
    reports: list[dict[str, object]] = []
    hung: list[str] = []
    cover: list[tuple[str, int, int]] = []
    seconds: float = 0


class Adapter(BaseModel):
    """How the tests of one language are run and read; see ``adapters.toml``."""

    model_config = ConfigDict(frozen=True)

    name: str
    command: str
    source: str
    test: str
    witness: str
    beside: bool = False
    call: str = ""
    cover: str = ""
    first: str = ""
    message: str = ""
    assertion: str = ""
    refused: str = ""
    imports: str = ""

    def is_source(self, path: str) -> bool:
        """Tell whether a file may be mended."""
        return bool(re.search(self.source, path))

    def is_test(self, path: str) -> bool:
        """Tell whether a file is one of tests."""
        return bool(re.search(self.test, path))

    def words(self, command: str, root: str, ask: Ask) -> list[str]:
        """Return the words of a command that runs what is asked for.

        Raises:
            ConfigurationError: it is no command.
        """
        try:
            words = shlex.split(command)
        except ValueError as fault:
            raise ConfigurationError(f"{command}: no command: {fault}") from None
        if not words:
            raise ConfigurationError("name the command of the tests, as: python -m pytest -q {file}")
        chosen = ask.select
        match self.name:
            case "pytest":
                plain = [word for word in words if "{file}" not in word]
                plain += ["-p", "assay_probe", "-p", "no:cacheprovider", "-p", "no:randomly"]
                if any(not self.is_test(one.partition("::")[0]) for one in chosen):
                    plain += ["--doctest-modules", "--doctest-glob=*.md", "--doctest-glob=*.rst"]
                return plain + chosen
            case "go":
                folders = sorted({f"./{PurePosixPath(one).parent}" for one in chosen})
                names = re.findall(
                    r"^func (Test\w+)", "".join(ask.files.get(one, "") for one in chosen), re.MULTILINE
                )
                run = ["-run", f"^({'|'.join(names)})$"] if names else []
                plain = [word for word in words if not word.startswith("./") and word != "{file}"]
                return [*plain, "-v", "-count=1", f"-coverprofile={self.cover}", "-coverpkg=./...", *run, *folders]
            case "node":
                words.insert(1, "--test-reporter=tap")
            case _:
                pass
        return [one for word in words for one in (chosen if word == "{file}" else [word])]

    def read(self, ask: Ask, child: Child, root: str) -> Ran:
        """Return what a run answered."""
        ran = Ran(
            key=ask.key, code=child.code, ended=child.ended, tail=child.out[-4000:], seconds=child.seconds,
        )  # fmt: skip
        if self.name == "pytest":
            return _reported(ran, child, root)
        frames = [(path, int(line)) for path, line in self._frames(child.out, root)]
        lines: dict[str, set[int]] = {}
        for path, first, last in [*child.cover, *((path, line, line) for path, line in frames)]:
            if name := next((one for one in ask.watch if f"/{path}".endswith(f"/{one}")), ""):
                lines.setdefault(name, set()).update(range(first, last + 1))
        tests = self._tests(child, root, ask)
        bad = any(one.outcome == "failed" for one in tests)
        told = {path: sorted(found) for path, found in lines.items()}
        return ran.model_copy(update={"tests": tests, "lines": told, "agrees": bad == bool(child.code)})

    def _frames(self, out: str, root: str) -> list[tuple[str, str]]:
        found = re.findall(self.first.replace("{root}", re.escape(root)), out, re.MULTILINE) if self.first else []
        return [(path, line) for path, line in found if "node_modules/" not in path]

    def _tests(self, child: Child, root: str, ask: Ask) -> list[TestRun]:
        if self.name == "any":
            failure = Failure(kind="exit", type=f"exit {child.code}") if child.code else None
            return [
                TestRun(name=" ".join(ask.select), outcome="failed" if child.code else "passed", failure=failure)
            ]
        found: list[TestRun] = []
        marks = list((_GO if self.name == "go" else _TAP).finditer(child.out))
        for mark, after in zip(marks, [*(one.start() for one in marks[1:]), len(child.out)], strict=True):
            told = child.out[mark.end() : after]
            skipped = mark[2] == "SKIP" or bool(mark.re is _TAP and mark[4])
            if skipped or mark[2] in ("ok", "PASS"):
                found.append(TestRun(name=mark[3], outcome="skipped" if skipped else "passed"))
            else:
                found.append(
                    TestRun(name=mark[3], outcome="failed", failure=self._failure(mark[3], told, root, ask))
                )
        return found

    def _failure(self, name: str, told: str, root: str, ask: Ask) -> Failure:
        frames = self._frames(told, root)
        mine = next((int(line) for path, line in frames if path in ask.select), 0)
        stated = re.search(self.message, told, re.MULTILINE)
        asserted = re.search(self.assertion, told, re.MULTILINE)
        kind = "own"
        if asserted and (not frames or frames[0][0] in ask.select):
            kind = "assertion"
        elif frames and frames[0][0] not in ask.select:
            kind = "crash" if self.name == "go" and stated and "runtime error:" in stated[2] else "raised"
        if asserted and not mine:
            mine = int((re.findall(r":(\d+): ", asserted[0]) or ["0"])[0])
        at = f"{frames[0][0]}:{frames[0][1]}" if frames and frames[0][0] not in ask.select else ""
        type_ = stated[1] if stated else ""
        return Failure(kind=kind, test=name, type=type_, line=mine, at=at, message=told.strip()[:2000])


@cache
def _table() -> dict[str, Adapter]:
    text = resources.files(__package__).joinpath("adapters.toml").read_text("utf-8")
    return {name: Adapter(name=name, **values) for name, values in tomllib.loads(text).items()}


def adapter(command: str) -> Adapter:
    """Return how a command's tests are read: by what it runs, or by its exit code alone."""
    return next(one for one in _table().values() if re.search(one.command, command))


def _reported(ran: Ran, child: Child, root: str) -> Ran:
    """Return a run with what pytest's plugin reported, if it is whole and says what the exit code says."""
    tests = [TestRun.model_validate(one) for one in child.reports if one["what"] == "test"]
    ends = [one for one in child.reports if one["what"] == "end"]
    begun = [one["name"] for one in child.reports if one["what"] == "begun"]
    frames = re.findall(r'File "([^"]+)", line (\d+)', "\n".join(child.hung))
    if frames and not ends and begun:
        inner = [(path, line) for path, line in frames if path.startswith(f"{root}/")]
        at = f"{inner[0][0][len(root) + 1 :]}:{inner[0][1]}" if inner else ""
        hang = Failure(kind="hang", test=str(begun[-1]), type="hang", at=at, message="it does not come to an end")
        tests.append(TestRun(name=str(begun[-1]), outcome="failed", failure=hang, seconds=child.seconds))
        return ran.model_copy(update={"tests": tests, "ended": "time"})
    failed = any(one.outcome == "failed" for one in tests)
    if len(ends) != 1 or ends[0]["spoken"] != len(child.reports) or ends[0]["code"] != child.code:
        return ran.model_copy(update={"tests": tests, "agrees": False})
    agrees = failed == (child.code == 1) or child.code in (2, 5)
    whole = Ran.model_validate({**ends[0], **ran.model_dump(include={"key", "code", "ended", "tail", "seconds"})})
    return whole.model_copy(update={"tests": tests, "agrees": agrees})
