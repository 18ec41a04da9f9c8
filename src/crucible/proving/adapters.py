"""What differs between languages: how a test command is worded for a box, and how what came of it is read."""

from __future__ import annotations

import re
import shlex
from functools import cache

from pydantic import BaseModel, ConfigDict

from crucible.proving.records import BoxRequest, FailedTest, Ran, TestRun
from llm_runtime.errors import ConfigurationError
from llm_runtime.toml import own_table


class Child(BaseModel):
    """What the probe says of one command in a box: exit code, output, reports behind its mark."""

    code: int
    ended: str
    out: str
    reports: list[dict[str, object]]
    hung: list[str]
    seconds: float
    lines: list[tuple[str, list[int]]] = []

    def of(self, own: str) -> list[int]:
        """Return the lines of a file that ran, whatever stands before its path where it is told."""
        return sorted({line for path, ran in self.lines if f"/{path}".endswith(f"/{own}") for line in ran})


class Adapter(BaseModel):
    """How the tests of one language are run; see ``adapters.toml``."""

    model_config = ConfigDict(frozen=True)

    name: str
    command: str
    source: str
    test: str
    witness: str
    beside: bool = False
    added: list[str] = []
    covering: list[str] = []
    call: str = ""
    refused: str = "(?!)"
    imports: str = "(?!)"
    failed: str = "(?!)"
    broken: str = "(?!)"

    def is_source(self, path: str) -> bool:
        """Tell whether a file may be mended."""
        return bool(re.search(self.source, path))

    def is_test(self, path: str) -> bool:
        """Tell whether a file is one of tests."""
        return bool(re.search(self.test, path))

    def words(self, command: str, ask: BoxRequest) -> list[str]:
        """Return the words of a command that runs what is asked for."""
        words, chosen = shlex.split(command), ask.select
        if not self.added:
            # Of its own files a witness alone: which lines a fix runs nobody asks.
            words[2:2] = self.covering * (len(ask.files) == 1)
            return [word.replace("{file}", one) for word in words for one in (chosen if "{file}" in word else [""])]
        pages = [] if all(self.is_test(one.partition("::")[0]) for one in chosen) else ["--doctest-modules"]
        pages += ["--doctest-glob=*.md", "--doctest-glob=*.rst"] if pages else []
        return [*(word for word in words if "{file}" not in word), *self.added, *pages, *chosen]

    def read(self, ask: BoxRequest, child: Child, root: str) -> Ran:
        """Return what a run answered: what the plugin reported, if it is whole and says what the exit code says."""
        ran = Ran(key=ask.key, code=child.code, ended=child.ended, tail=child.out[-4000:], seconds=child.seconds)
        if not self.added:
            failure = self._failure(ask, child) if child.code else None
            one = TestRun(name=" ".join(ask.select), outcome="failed" if failure else "passed", failure=failure)
            lines = {own: child.of(own) for own in ask.watch if child.of(own)}
            return ran.model_copy(update={"tests": [one], "lines": lines, "ran": [f"{own}:" for own in lines]})
        told = {what: [one for one in child.reports if one["what"] == what] for what in ("test", "begun", "end")}
        tests = [TestRun.model_validate(one) for one in told["test"]]
        frames = re.findall(rf'File "{re.escape(root)}/([^"]+)", line (\d+)', "\n".join(child.hung))
        if child.hung and told["begun"] and not told["end"] and child.seconds >= ask.seconds:
            name, at = str(told["begun"][-1]["name"]), ":".join(frames[0]) if frames else ""
            hang = FailedTest(kind="hang", test=name, type="hang", at=at, message="it does not come to an end")
            tests.append(TestRun(name=name, outcome="failed", failure=hang))
            return ran.model_copy(update={"tests": tests, "ended": "time"})
        whole = [one["spoken"] for one in child.reports] == [*range(1, len(child.reports) + 1)]
        if not whole or len(told["end"]) != 1 or told["end"][0]["code"] != child.code:
            return ran.model_copy(update={"tests": tests, "agrees": False})
        agrees = any(one.outcome == "failed" for one in tests) == (child.code == 1) or child.code in (2, 5)
        own = ran.model_dump(include={"key", "code", "ended", "tail", "seconds"})
        return Ran.model_validate({**told["end"][0], **own, "tests": tests, "agrees": agrees})

    def _failure(self, ask: BoxRequest, child: Child) -> FailedTest:
        """Return how a command failed that says it in its output: where nothing of a test ran, it is the test's own."""
        if re.search(self.broken, child.out):
            return FailedTest(kind="own", type="Module", message=child.out[-4000:])
        name = re.escape("".join(ask.select[-1:]).rpartition("/")[2])
        how, line = re.search(self.failed, child.out), re.search(rf"{name}:(\d+)", child.out)
        kind = how[1] or how[2] if how else f"exit {child.code}"
        return FailedTest(kind="exit", type=kind, line=int(line[1]) if line else 0, message=child.out[-4000:])


@cache
def _table() -> list[Adapter]:
    return [Adapter(name=name, **values) for name, values in own_table("crucible.proving", "adapters.toml").items()]


def adapter(command: str) -> Adapter:
    """Return how a command's tests are read: by what it runs.

    Raises:
        ConfigurationError: it is no command.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise ConfigurationError(f"“{command}” is no command; name that of the tests: python -m pytest -q {{file}}")
    return next(one for one in _table() if re.search(one.command, command))
