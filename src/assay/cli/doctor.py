"""`assay doctor`: what is installed, what is missing, and what to do about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Literal

import click

from assay.console.declared import commands
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.grouping import grouped
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from llm_runtime.settings import Settings

_command = commands(click.command, __package__ or "", "doctor.toml")

Grade = Literal["ok", "note", "fault"]
_COLLECTIONS = ("all", "dev")
_GROUPS = {"llm_runtime.wires": "wire", "assay.seat_tools": "tool", "criticality.languages": "language"}
_MARKS: dict[Grade, tuple[str, str]] = {"ok": ("ok", "green"), "note": ("--", "yellow"), "fault": ("!!", "red")}


class Remark(Struct):
    """One thing that was looked at: how it stands, and what to do where it is not well."""

    grade: Grade
    what: str
    detail: str


@_command("doctor")
def doctor(as_json: bool) -> int:
    """Show what is installed, what is missing and what to do about it. Exit code 1 where something is at fault."""
    looked_at = (_python, _parts, _installed, _isolation, _configuration, _programs, _local_servers, _run_store)
    return show([remark for look in looked_at for remark in _looked(look)], as_json=as_json)


def _looked(look: Callable[[], Iterator[Remark]]) -> Iterator[Remark]:
    """Yield what is seen; where looking itself fails, a fault under the name of what was looked at."""
    try:
        yield from look()
    except LlmRuntimeError as error:
        yield Remark("fault", look.__name__.strip("_").replace("_", " "), str(error))


def show(checks: list[Remark], *, as_json: bool) -> int:
    """Print checks, and return the exit code: 1 where something is at fault."""
    if as_json:
        import json
        from dataclasses import asdict

        click.echo(json.dumps({"checks": [asdict(check) for check in checks]}, indent=1))
    else:
        for check in checks:
            mark, colour = _MARKS[check.grade]
            click.echo(f"{click.style(mark, fg=colour)}  {check.what:<22} {check.detail}")
    return 1 if any(check.grade == "fault" for check in checks) else 0


def _python() -> Iterator[Remark]:
    yield Remark("ok" if sys.version_info >= (3, 11) else "fault", "Python", ".".join(map(str, sys.version_info[:3])))


def _parts() -> Iterator[Remark]:
    """Check every dependency in the distribution's own metadata: what it always needs, then extra by extra."""

    from assay import __version__
    from llm_runtime.installing import how_to_install, requirements, version_of

    yield Remark("ok", "assay", __version__)
    packages = grouped((name, extra) for extra, name, _ in sorted(requirements()) if extra not in _COLLECTIONS)
    for name, extras in packages.items():
        belongs = ", ".join(filter(None, extras))
        if version := version_of(name):
            yield Remark("ok", name, version + (f" ({belongs})" if belongs else ""))
        else:
            yield Remark("note" if extras[0] else "fault", name, f"not installed; {how_to_install(extras[0])}")


def _installed() -> Iterator[Remark]:
    """Check what others installed."""
    from assay.registry import OURS, left_out, protocols
    from llm_runtime.plugins import found, load

    with suppress(ImportError):  # the web extra is not installed: there are no pages
        from assay.web.endpoints import pages

        pages()
    for name, protocol in protocols().items():
        if name not in OURS:
            yield Remark("ok", f"protocol {name}", protocol.about)
    for name, reason in left_out().items():
        yield Remark("fault", f"protocol {name}", f"{reason}; mend or uninstall it")
    for group, kind in _GROUPS.items():
        for name, place in found(group).items():
            try:
                load(group, name)
                yield Remark("ok", f"{kind} {name}", place)
            except LlmRuntimeError as fault:
                yield Remark("fault", f"{kind} {name}", f"{fault}; mend or uninstall it")


def _isolation() -> Iterator[Remark]:
    """Check whether code of models can run here: `eval` needs a sandbox, `code` is safer in one."""
    import asyncio

    import sandbox

    try:
        asyncio.run(sandbox.probe())
    except sandbox.NoIsolation as error:
        yield Remark("note", "sandbox", f"{error} (nothing that a model wrote runs without one)")
        return
    yield Remark("ok", "sandbox", f"{sandbox.backend().name} isolates (code, eval)")


def _configuration() -> Iterator[Remark]:
    from llm_runtime.dialects import HOSTED
    from llm_runtime.settings import config_dir, load_settings

    path = config_dir()
    settings = load_settings()
    yield Remark("ok", "configuration", f"{path}{'' if path.is_dir() else ' (not there; the defaults hold)'}")
    keys = path / "keys.toml"
    if keys.is_file() and keys.stat().st_mode & 0o077:
        yield Remark("fault", "keys file", f"{keys} can be read by others; chmod 600 it")
    yield from (_provider(settings, name) for name in settings.providers)
    if without := [name for name in HOSTED if name not in settings.providers]:
        how = "set a variable such as OPENROUTER_API_KEY, or: assay keys set NAME"
        yield Remark("note", "no key", f"{', '.join(without)}; {how}")


def _provider(settings: Settings, name: str) -> Remark:
    key = settings.keys.get(name)
    where = settings.endpoint(name).base_url if name in settings.config.endpoints else ""
    words = f"key from {key.source}" if key else "no key"
    return Remark("ok", name, f"{where}, {words}" if where else words)


def _programs() -> Iterator[Remark]:
    """Ask the programs that answer as models for their versions: nothing is asked of a model."""
    from llm_runtime.programs import found, version
    from llm_runtime.settings import load_settings

    with suppress(LlmRuntimeError):  # the configuration's own check has said it
        settings = load_settings()
        for name in found(settings.config.agents, settings.environment):
            program = settings.config.agents[name.partition(":")[2]]
            try:
                words = version(program, settings.environment)
                yield Remark("ok", name, f"{words}; whether somebody is signed in shows at the first call")
            except (OSError, TimeoutError) as fault:
                yield Remark("fault", name, f"it does not say its version ({fault or 'in 20 s'}); install it again")


def _local_servers() -> Iterator[Remark]:
    import asyncio

    from llm_runtime.gateway import Gateway
    from llm_runtime.programs import PREFIX
    from llm_runtime.settings import Settings, load_settings

    async def local() -> list[str]:
        # Without keys only servers on this machine are looked for: nothing is spent, nothing leaves it.
        async with Gateway(Settings(environment=load_settings().environment)) as gateway:
            reached = await gateway.router.reachable()
            return [f"{one.provider} {one.how}" for one in reached if not one.provider.startswith(PREFIX)]

    servers = asyncio.run(local())
    yield Remark("ok" if servers else "note", "local servers", ", ".join(servers) or "none answers on this machine")
    yield Remark("note", "a model", "whether it can carry each protocol is measured by: assay models check MODEL")


def _run_store() -> Iterator[Remark]:
    from assay.console.options import open_runs
    from assay.report.units import count_noun
    from llm_runtime.settings import data_dir

    with closing(open_runs(None)) as store:
        count = len(store.runs(limit=1000))
    many = "1,000 or more runs" if count == 1000 else count_noun(count, "run")
    yield Remark("ok", "run store", f"{data_dir() / 'runs.db'} ({many})")
