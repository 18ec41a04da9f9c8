"""`criticality adopt`: functions of a package that exists, judged as they are."""

from __future__ import annotations

from pathlib import Path

import click

from assay.console.declared import declares
from assay.console.running import RunCommand, run_command
from assay.protocols.criticality.commands.decide import decide_there
from llm_runtime.errors import ConfigurationError


@run_command("criticality.adopt", "adopt", trace="Show the whole report after the summary.", noun="report")
@declares(__package__ or "", "options.toml")("adopt")
def adopt(command: RunCommand, target: str, names: tuple[str, ...], everything: bool, listing: bool) -> int:
    """Give functions that exist types, contracts and claims, judged against the code as it is.

    PATH is a Python or TypeScript package's folder, or one .py or .ts file; its text stays as
    it is. Without a function, what can be adopted is listed, and nothing is asked or run.

    \b
    assay build adopt src/shop
    assay build adopt src/shop::slug unique --model ollama:qwen3
    assay build adopt src/shop --all --into /tmp/shop-adopted --rewrite unique
    """
    path, _, first = target.partition("::")
    functions = [*filter(None, [first]), *names, *(["*"] if everything else [])]
    if listing or not functions:
        _list(Path(path), listing)
        return 0
    into = command.task.get("into", "")
    command.task |= {"package": str(Path(path).absolute()), "functions": functions}
    if into:
        command.task["into"] = str(Path(into).absolute())
    outcome = command.go()
    code = command.finish(outcome)
    if outcome.result.get("deviations"):
        decide_there(Path(outcome.result["folder"]), {}, ask=not (command.output.as_json or command.output.jsonl))
    return code


def _list(path: Path, listing: bool) -> None:
    from assay.report.clean import one_line
    from criticality.languages import adopter

    package = adopter(path).read(path)
    able = [one for one in package.candidates if not one.refused]
    if not package.candidates:
        raise ConfigurationError(f"{package.name} holds no functions")
    for one in able:
        click.echo(f"{one.shown}  {one_line(one.doc, 90)}".rstrip())
    for one in package.candidates:
        if one.refused:
            click.echo(f"not {one.shown}: {one_line(one.refused, 200)}")
    if not listing:
        click.echo(f"{len(able)} can be adopted: name some behind {path}::, or give --all", err=True)
