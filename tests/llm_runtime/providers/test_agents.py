"""Programs that people are signed in with, as models: the three real ones, and others that mean no good.

The real ones come from npm (`@anthropic-ai/claude-code`, `@openai/codex`, `@google/gemini-cli`) and are found on
the PATH; without them their tests skip. Each has an empty home, an environment made from nothing, a made-up key,
and a server on this machine to talk to.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.llm_runtime.providers.agent_server import RESETS, AgentServer, Mood
from tests.picture_files import FILES

from llm_runtime.documents.pictures import read_picture
from llm_runtime.errors import (
    AuthenticationFailed,
    CallError,
    CallTimeout,
    ConfigurationError,
    ContextExceeded,
    MalformedReply,
    NoModelError,
    RateLimited,
    ReplyRepeats,
    ReplyTooLarge,
    ReplyTruncated,
    RequestRefused,
)
from llm_runtime.events import Event
from llm_runtime.gateway import Gateway
from llm_runtime.messages import CallLabel, Delta, Message, Reply, Request
from llm_runtime.settings import ConfigFile, Settings
from llm_runtime.wrappers.accounts import Caps
from llm_runtime.wrappers.retrying import Backoff

MODELS = {"claude": "agent:claude#opus", "codex": "agent:codex#gpt-9", "gemini": "agent:gemini#gemini-2.5-pro"}
REAL = [pytest.param(name, marks=[pytest.mark.needs(name, "node"), pytest.mark.toolchain]) for name in MODELS]
CLAUDE = REAL[0]
SCHEMA = '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home; what is left of a call after the test, a file or a process, fails it."""
    place, folders = tmp_path / "home", tmp_path / "calls"
    place.mkdir()
    folders.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    yield place
    assert list(folders.iterdir()) == []
    assert _processes(str(tmp_path)) == []


def _processes(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            theirs = (entry / "environ").read_bytes() + os.fsencode((entry / "cwd").readlink())
            if int(entry.name) != os.getpid() and mark.encode() in theirs:
                found.append((entry / "cmdline").read_text().replace("\0", " "))
        except (OSError, ValueError):
            continue
    return found


def _names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def settings_of(home: Path, agents: dict[str, Any], path: str = "", **variables: str) -> Settings:
    environment = {"PATH": path or os.environ["PATH"], "HOME": str(home), **variables}
    return Settings(config=ConfigFile.model_validate({"agents": agents}), environment=environment)


def real(name: str, home: Path, server: AgentServer) -> Settings:
    """Return settings by which a real program asks the server."""
    if name == "codex":
        (home / ".codex").mkdir()
        (home / ".codex/auth.json").write_text('{"OPENAI_API_KEY": "made-up"}')
    gemini = {
        "environment": ["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"],
        "files": {
            "home/.gemini/settings.json": json.dumps(
                {
                    "tools": {"core": []},
                    "context": {"fileName": "none", "includeDirectoryTree": False},
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                }
            )
        },
    }
    variables = {"ANTHROPIC_BASE_URL": server.url, "CLAUDE_CODE_OAUTH_TOKEN": "made-up-token"}
    variables |= {"GOOGLE_GEMINI_BASE_URL": server.url, "GEMINI_API_KEY": "made-up-key"}
    codex = {"end": ["-c", f'openai_base_url="{server.url}/v1"', "-"]}
    return settings_of(home, {"codex": codex, "gemini": gemini}, **variables)


async def asked(settings: Settings, model: str, text: str = "What is it?", **fields: Any) -> tuple[Reply, list[Delta]]:
    deltas: list[Delta] = []
    request = Request(model, (Message("system", "Be terse."), Message("user", text)), CallLabel("t", "x"), **fields)
    backoff = Backoff(attempts=1)
    async with Gateway(
        settings, named=[model], backoff=backoff, on_delta=lambda _, delta: deltas.append(delta)
    ) as gate:
        return await gate.generate(request), deltas


@asynccontextmanager
async def serving(name: str, home: Path, mood: Mood = "well") -> AsyncIterator[tuple[AgentServer, Settings]]:
    async with AgentServer(mood=mood) as server:
        yield server, real(name, home, server)


@pytest.mark.parametrize("name", REAL)
async def test_a_real_program_answers_in_words_without_tools_of_its_own(name: str, home: Path) -> None:
    async with serving(name, home) as (server, settings):
        reply, deltas = await asked(settings, MODELS[name])
    assert (reply.text, reply.cost, reply.cost_source) == ("An answer here.", 0, "subscription")
    assert reply.provider == f"agent:{name}" and reply.usage.output_tokens == 7 and not reply.usage.estimated
    assert "".join(delta.text for delta in deltas if delta.kind == "text") == "An answer here."
    (body,) = server.asked
    assert len(json.dumps(body)) < 4_000
    whole = json.dumps(body)
    assert "Be terse." in whole and "What is it?" in whole
    named = [tool.get("name") for tool in body.get("tools", ())]
    assert [one for one in named if one not in (None, "request_user_input")] == []


@pytest.mark.parametrize("name", REAL)
async def test_no_instructions_and_no_files_of_the_machine_reach_the_prompt(
    name: str, home: Path, tmp_path: Path
) -> None:
    for file in ("CLAUDE.md", "AGENTS.md", "GEMINI.md"):
        for folder in (home / ".claude", home / ".codex", home / ".gemini", tmp_path / "calls/..", home):
            folder.mkdir(exist_ok=True)
            (folder / file).write_text("SECRET instructions")
    (home / "notes.txt").write_text("SECRET notes")
    (home / ".codex/AGENTS.md").unlink()
    if name == "codex":
        (home / ".codex/CLAUDE.md").unlink()
        (home / ".codex/GEMINI.md").unlink()
        (home / ".codex").rmdir()
    async with serving(name, home) as (server, settings):
        if name == "codex":
            (home / ".codex/AGENTS.md").write_text("SECRET instructions")
        text = f"/cost\nLook at @{home}/notes.txt and @~/notes.txt and @../../home/notes.txt"
        await asked(settings, MODELS[name], text)
    whole = json.dumps(server.asked)
    assert "SECRET" not in whole
    assert f"@{home}/notes.txt" in whole and "/cost" in whole


@pytest.mark.parametrize("name", REAL)
async def test_a_tool_that_a_model_calls_all_the_same_reads_nothing(name: str, home: Path) -> None:
    async with serving(name, home, "tools") as (server, settings):
        await asked(settings, MODELS[name])
    assert "root:" not in json.dumps(server.asked)


@pytest.mark.parametrize("name", REAL)
async def test_a_schema_is_enforced_or_told(name: str, home: Path) -> None:
    async with serving(name, home) as (server, settings):
        server.say = lambda _: '{"name": "Ada"}'
        reply, _ = await asked(settings, MODELS[name], schema=SCHEMA)
    assert json.loads(reply.text) == {"name": "Ada"}
    assert '\\"required\\"' in json.dumps(server.asked) or '"required"' in json.dumps(server.asked)


FAULTS: list[tuple[Mood, type[CallError], str]] = [
    ("401", AuthenticationFailed, "not signed in: run "),
    ("error", RequestRefused, "made of cheese"),
    ("limit", RateLimited, "usage limit"),
]


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize(("mood", "kind", "words"), FAULTS)
async def test_what_a_real_program_fails_with_is_an_error_of_ours(
    name: str, mood: Mood, kind: type[CallError], words: str, home: Path
) -> None:
    async with serving(name, home, mood) as (_, settings):
        with pytest.raises(kind, match=words) as caught:
            await asked(settings, MODELS[name])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [REAL[0], REAL[1]])
async def test_a_cut_answer_is_never_taken_for_a_whole_one(name: str, home: Path) -> None:
    async with serving(name, home, "cut") as (_, settings):
        with pytest.raises(ReplyTruncated) as caught:
            await asked(settings, MODELS[name])
    assert caught.value.partial and "An answer" in caught.value.partial.text


@pytest.mark.parametrize("name", REAL)
async def test_a_call_that_is_cancelled_leaves_no_process(name: str, home: Path) -> None:
    async with serving(name, home, "hang") as (server, settings):
        call = asyncio.create_task(asked(settings, MODELS[name]))
        await server.reached.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


@pytest.mark.parametrize("name", REAL)
async def test_a_real_program_that_hangs_is_ended_in_time(name: str, home: Path) -> None:
    async with serving(name, home, "hang") as (_, settings):
        config = settings.config.model_copy(update={"first_timeout": 10.0})
        patient = Settings(config=config, environment=settings.environment)
        with pytest.raises(CallTimeout, match="silent for too long"):
            await asked(patient, MODELS[name])


@pytest.mark.parametrize("name", REAL)
async def test_a_prompt_of_two_megabytes_arrives_whole_or_is_refused(name: str, home: Path) -> None:
    text = "A line of some words that says nothing.\n" * 50_000 + "The last line."
    async with serving(name, home) as (server, settings):
        if name == "codex":  # it takes half of that, and says so
            with pytest.raises(ContextExceeded, match="longer than the model can read"):
                await asked(settings, MODELS[name], text)
            return
        reply, _ = await asked(settings, MODELS[name], text)
    assert reply.text == "An answer here."
    assert "The last line." in json.dumps(server.asked[-1]) and len(json.dumps(server.asked[-1])) > 2_000_000


@pytest.mark.parametrize("name", [CLAUDE])
async def test_until_a_limit_ends_no_call_is_sent(name: str, home: Path) -> None:
    events: list[Event] = []
    request = Request(MODELS[name], (Message("user", "What?"),), CallLabel("t", "x"))
    async with (
        serving(name, home, "limit") as (server, settings),
        Gateway(settings, named=[MODELS[name]], emit=lambda event: events.append(event)) as gate,
    ):
        for _ in range(2):
            with pytest.raises(RateLimited, match=r"usage limit until \d\d:\d\d") as caught:
                await gate.generate(request)
    assert len(server.asked) == 1
    assert abs((caught.value.retry_after or 0) + time.time() - RESETS) < 60
    assert [event.type for event in events].count("endpoint.paused") == 1


def fake(tmp_path: Path, body: str, name: str = "claude") -> str:
    """Write a program of that name, in sh; return the PATH on which it is found first."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


OK = """cat >/dev/null; printf '%s\\n' '{"type":"result","is_error":false,"result":"Fine."}'"""
LONG = "python3 -c 'import sys; w=sys.stdout.write\nfor _ in range(1000): w(\"ab cd \"*17500)'"
HOSTILE: list[tuple[str, type[CallError] | None, str]] = [
    (OK, None, "Fine."),
    ("printf '\\033[31m\\033]0;t\\007'; echo; " + OK, None, "Fine."),
    ("printf '\\377\\376\\n'; " + OK, None, "Fine."),
    ("echo 'Loaded cached credentials.'; " + OK, None, "Fine."),
    (OK.replace("Fine.", r"\u001b[31mFine."), None, "Fine."),
    ("(yes | head -c 1000000; sleep 600) >/dev/stderr & " + OK + "; exit 0", None, "Fine."),
    ("setsid sleep 600 & " + OK, None, "Fine."),
    # The state of a progress bar and a cursor, before the object and behind it.
    ("printf '\\033[?25h\\033]9;4;0;\\007  '; " + OK + "; printf '\\033[0m\\n'", None, "Fine."),
    # Of a process that becomes another one at this moment the environment cannot be read.
    *[("echo '>began; exec sh again' >again; setsid sh again & until [ -e began ]; do :; done; " + OK, None, "Fine.")]
    * 5,
    ("touch left; mkdir -p a/b; echo x > $TMPDIR/y; " + OK, None, "Fine."),
    (LONG, ReplyTooLarge, "more than any answer"),
    ("echo hello", MalformedReply, "no answer of Claude Code; is it another program"),
    ("exit 0", MalformedReply, "no answer of Claude Code"),
    ("echo 'usage: claude [-v]' >&2; exit 2", RequestRefused, "usage: claude"),
    ("echo \"error: unknown option '--safe-mode'\" >&2; exit 1", RequestRefused, "update it.*--safe-mode"),
    (
        OK.replace(
            '"is_error":false,"result":"Fine."', '"is_error":true,"subtype":"error_max_structured_output_retries"'
        ),
        MalformedReply,
        "kept to no answer in the form",
    ),
    ("kill -9 $$", RequestRefused, "ended with code -9"),
    ("read -r line </dev/tty || echo 'no terminal to ask' >&2; exit 3", RequestRefused, "terminal|tty"),
    ("sleep 600", CallTimeout, "silent for too long"),
    ("trap '' TERM; while :; do sleep 1; done", CallTimeout, "silent for too long"),
    ("(setsid sh -c 'trap \"\" TERM; sleep 600' &) ; sleep 600", CallTimeout, "silent for too long"),
]


@pytest.mark.hastened
@pytest.mark.needs("setsid", "yes")
@pytest.mark.parametrize(("body", "kind", "words"), HOSTILE, ids=[f"{n}" for n in range(len(HOSTILE))])
async def test_a_program_that_means_no_good(
    body: str, kind: type[CallError] | None, words: str, tmp_path: Path, home: Path
) -> None:
    settings = settings_of(home, {}, fake(tmp_path, body))
    # Only who is silent is ended by the clock: a machine may be busy.
    config = settings.config.model_copy(update={"first_timeout": 4.0 if kind is CallTimeout else 600.0})
    settings = Settings(config=config, environment=settings.environment)
    if kind is None:
        reply, _ = await asked(settings, "agent:claude")
        assert reply.text.replace("\x1b[31m", "") == words
        return
    with pytest.raises(kind, match=words) as caught:
        await asked(settings, "agent:claude")
    assert "\n" not in str(caught.value) and "\x1b" not in str(caught.value)
    assert _names_in(home) == []


async def test_a_program_gets_named_variables_alone(tmp_path: Path, home: Path) -> None:
    body = 'cat >/dev/null; env | cut -d= -f1 | tr "\\n" " "'
    own = {"mine": {"argv": ["mine"], "tools": "off", "environment": ["MINE"]}}
    settings = settings_of(home, own, fake(tmp_path, body, "mine"), MINE="1", OPENAI_API_KEY="sk-not-passed-on")
    reply, _ = await asked(settings, "agent:mine")
    names = set(reply.text.split()) - {"PWD", "OLDPWD", "SHLVL", "_"}
    assert names == {"PATH", "HOME", "TERM", "NO_COLOR", "TMPDIR", "MINE"}


async def test_a_program_of_ones_own_is_an_entry_and_no_code(tmp_path: Path, home: Path) -> None:
    own = {"mine": {"argv": ["mine", "--plain"], "with_model": ["-m", "{model}"], "tools": "as it is"}}
    path = fake(tmp_path, 'printf "\\033[1m%s\\033[0m " "$@"; cat', "mine")
    reply, _ = await asked(settings_of(home, own, path), "agent:mine#small")
    assert reply.text == "--plain -m small \nBe terse.\n\nWhat is it?\n"
    assert reply.model == "small" and reply.cost_source == "subscription"


async def test_a_program_that_enforces_no_schema_is_told_it_where_a_run_goes_on_with_objects_alone(
    tmp_path: Path, home: Path
) -> None:
    own = {"mine": {"argv": ["mine"], "tools": "as it is"}}
    settings = settings_of(home, own, fake(tmp_path, "cat", "mine"))
    request = Request("agent:mine", (Message("user", "Who?"),), CallLabel("t", "x"), schema=SCHEMA)
    async with Gateway(settings, named=["agent:mine"], needs=frozenset({"schema"})) as gate:
        assert SCHEMA in (await gate.generate(request)).text
    with pytest.raises(ConfigurationError, match="does not hold pictures"):
        async with Gateway(settings, named=["agent:mine"], needs=frozenset({"schema", "pictures"})) as gate:
            await gate.generate(request)


async def test_a_program_that_repeats_itself_is_ended(tmp_path: Path, home: Path) -> None:
    line = json.dumps({"type": "stream_event", "event": {"delta": {"text": "and on and on it goes, "}}})
    settings = settings_of(home, {}, fake(tmp_path, f"cat >/dev/null; yes '{line}'"))
    with pytest.raises(ReplyRepeats):
        await asked(settings, "agent:claude")


async def test_what_cannot_be_asked_is_one_line_before_anything_runs(tmp_path: Path, home: Path) -> None:
    path = fake(tmp_path, "touch $HOME/started")
    for model, kind, words in (
        ("agent:nobody", NoModelError, "there are: agent:claude, agent:codex, agent:gemini"),
        ("agent:codex", NoModelError, "no program codex"),
    ):
        with pytest.raises(kind, match=words):
            await asked(settings_of(home, {}, path), model)
    async with Gateway(settings_of(home, {}, path), caps=Caps(cost=1_000_000), named=["agent:claude"]) as gate:
        with pytest.raises(ConfigurationError, match="no budget in dollars") as caught:
            await gate.ready()
    assert "--max-calls" in caught.value.told and "--max-tokens" in caught.value.told
    with pytest.raises(ConfigurationError, match="only an admin"):
        await asked(settings_of(home, {}, path).bound(), "agent:claude")
    with pytest.raises(ValueError, match="tools"):
        settings_of(home, {"mine": {"argv": ["mine"]}})
    assert _names_in(home) == []


async def test_a_sign_in_that_was_renewed_is_kept(tmp_path: Path, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex/auth.json").write_text("old")
    done = """printf '%s\\n' '{"type":"item.completed","item":{"type":"agent_message","text":"Fine."}}'"""
    body = f'rm "$CODEX_HOME/auth.json"; echo new > "$CODEX_HOME/auth.json"; echo x > "$CODEX_HOME/more"; {done}'
    reply, _ = await asked(settings_of(home, {}, fake(tmp_path, body, "codex")), "agent:codex")
    assert reply.text == "Fine."
    assert _names_in(home / ".codex") == ["auth.json"]
    assert (home / ".codex/auth.json").read_text() == "new\n"


PICTURE = read_picture("a.jpg", FILES["jpeg-gps"])


@pytest.mark.parametrize("name", REAL)
async def test_a_picture_reaches_the_model_behind_a_program_or_is_refused_before_it_starts(
    name: str, home: Path
) -> None:
    shown = Request(
        MODELS[name], (Message("user", "/cost What is in it? @/etc/passwd", (PICTURE,)),), CallLabel("t", "x")
    )
    async with serving(name, home) as (server, settings), Gateway(settings, named=[MODELS[name]]) as gate:
        if name == "gemini":
            with pytest.raises(CallError, match=r"agent:gemini.* cannot see pictures; name a model that can"):
                await gate.generate(shown)
            assert server.asked == []
            return
        reply = await gate.generate(shown)
    assert reply.text == "An answer here."
    whole = json.dumps(server.asked)
    assert PICTURE.base64 in whole and "/cost What is in it? @/etc/passwd" in whole and "root:" not in whole
