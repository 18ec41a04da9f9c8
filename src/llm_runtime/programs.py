"""Programs on this machine that answer as models, on a subscription: which there are, and how each is asked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from pydantic import Field

from llm_runtime.dialects import Held, Level, SchemaForm
from llm_runtime.models import Model
from llm_runtime.toml import own_table

PREFIX = "agent:"
_VERSION_SECONDS = 20.0
#: What each program gets of the environment beside what its entry lists.
_PASSED = ("HOME", "LANG", "LC_ALL", "USER", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy")
_PASSED_TOO = ("no_proxy", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "SYSTEMROOT")


class Home(Model):
    """A folder of settings of a program's own, made for each call: the person's settings reach no prompt."""

    variable: str
    """Names the folder to the program; where the person has set it, that is where theirs is."""
    usual: str = ""
    """Where theirs is else, below their home."""
    keep: tuple[str, ...] = ()
    """The files of theirs that the program signs in with."""


class PrintedLine(Model):
    """What one kind of line of a program's output says; paths go into its JSON object, with dots."""

    when: Mapping[str, str | bool] = {}
    """Values by path, all of which such a line has."""
    piece: tuple[str, ...] = ()
    """Of the answer."""
    thought: tuple[str, ...] = ()
    """A piece of the reasoning."""
    text: tuple[str, ...] = ()
    """The whole answer."""
    model: tuple[str, ...] = ()
    """Who answers."""
    error: tuple[str, ...] = ()
    """Why there is no answer, in words."""
    status: tuple[str, ...] = ()
    """The HTTP status of that."""
    resets: tuple[str, ...] = ()
    """Seconds since 1970 when a limit that is reached ends."""
    input: tuple[str, ...] = ()
    """Tokens that went in: the sum of these."""
    cached: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()


class AgentProgram(Model):
    """How a program is asked. In its words stand ``{model}``, ``{effort}``, ``{schema}``, ``{schema_file}``,
    ``{system_file}``, ``{picture}`` and ``{folder}``, the call's own; the prompt goes to its standard input."""

    title: str = ""
    sign_in: str = "sign in to it"
    """What a person does who is not signed in."""
    argv: tuple[str, ...] = Field(min_length=1)
    end: tuple[str, ...] = ()
    """The last words of the command line."""
    with_model: tuple[str, ...] = ()
    """Words that are added where a model is named; likewise for a schema and an effort."""
    with_schema: tuple[str, ...] = ()
    with_effort: tuple[str, ...] = ()
    with_picture: tuple[str, ...] = ()
    """Words that are added for each picture, which is the file ``{picture}``; where that is in none, they are added
    once, and the question is written as a line of JSON that holds the pictures (Claude Code's ``stream-json``)."""
    schema_form: SchemaForm = "plain"
    """``"plain"`` is the schema as it is, for programs that look at the answer themselves."""
    efforts: tuple[Level, ...] = ("low", "medium", "high")
    max_tokens: str = ""
    """The variable that bounds the answer."""
    tools: Literal["off", "as it is"]
    """``"off"``: these words keep it from tools. ``"as it is"``: it may have tools, and a person takes it so."""
    environment: tuple[str, ...] = ()
    """The variables that it gets, beside those that every program needs."""
    set: Mapping[str, str] = {}
    """Variables that are set for it."""
    home: Home | None = None
    files: Mapping[str, str] = {}
    """Files that are written into the call's folder."""
    lines: tuple[PrintedLine, ...] = ()
    """How its output is read, one JSON object a line; without any the output is the answer."""
    at_once: int = Field(default=2, ge=1)
    """Calls at the same time."""

    @property
    def holds(self) -> frozenset[Held]:
        """What of a request it is told."""
        told: dict[Held, object] = {"effort": self.with_effort, "schema": self.with_schema}
        told |= {"max_tokens": self.max_tokens, "stream": True, "pictures": self.with_picture}
        return frozenset(name for name in told if told[name])

    @property
    def tells_system(self) -> bool:
        """Whether the system prompt goes in a file, and not before the question."""
        return any("{system_file}" in word for word in (*self.argv, *self.set.values()))

    def place(self, environment: Mapping[str, str]) -> str | None:
        """Return where it is on this machine."""
        return shutil.which(self.argv[0], path=environment.get("PATH"))

    def surroundings(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the environment that it gets: what is named, and nothing else."""
        names = (*_PASSED, *_PASSED_TOO, *self.environment)
        given = {name: environment[name] for name in names if name in environment}
        return {**given, "PATH": environment.get("PATH", os.defpath), "TERM": "dumb", "NO_COLOR": "1"}


@cache
def _table() -> dict[str, Mapping[str, Any]]:
    return own_table("llm_runtime", "programs.toml")


def laid_over(own: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    """Return our entries with a person's over them."""
    table: dict[str, Mapping[str, Any]] = {}
    for name in (*_table(), *own):
        ours, theirs = _table().get(name, {}), own.get(name, {})
        both = {key: {**ours.get(key, {}), **theirs.get(key, {})} for key in ("set", "files")}
        table[name] = {**ours, **theirs, **both}
    return table


def found(programs: Mapping[str, AgentProgram], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the place of each program that is on this machine, by the name of its model; none is started."""
    places = ((f"{PREFIX}{name}", program.place(environment)) for name, program in programs.items())
    return {name: place for name, place in places if place}


def version(program: AgentProgram, environment: Mapping[str, str]) -> str:
    """Return what a program says as its version.

    Raises:
        OSError: it cannot be run, or does not say it.
        TimeoutError: it does not end.
    """
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory(prefix="assay-agent-") as folder:
        own = {"TMPDIR": folder} | ({program.home.variable: folder} if program.home else {})
        try:
            run = subprocess.run(
                (program.argv[0], "--version"),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                cwd=folder,
                env=program.surroundings(environment) | own,
                timeout=_VERSION_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
    if run.returncode or not run.stdout.strip():
        raise OSError(f"it ended with code {run.returncode}")
    return " ".join(run.stdout.decode("utf-8", "replace").split())[:60]
