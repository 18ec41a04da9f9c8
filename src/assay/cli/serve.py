"""`assay serve`: the local web application."""

from __future__ import annotations

import os
import secrets
from contextlib import closing, suppress
from pathlib import Path

import click

from assay.console.declared import declares
from assay.console.lazy import lazy_group
from assay.console.options import open_runs
from assay.registry import left_out
from llm_runtime.errors import ConfigurationError
from llm_runtime.extras import needing
from llm_runtime.rewording import reworded

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


_KEYS = {"keys": ("Make, list and remove the keys of programs.", "assay.cli.serve_keys:keys")}


@click.group(cls=lazy_group(_KEYS), invoke_without_command=True)
@declares(__package__ or "", "serve.toml")("serve")
@click.pass_context
def serve(
    context: click.Context, host: str, port: int, token_file: str | None, hosts: tuple[str, ...],
    people_file: str | None, proxies: tuple[str, ...], browser: bool, store_path: str | None,
) -> None:  # fmt: skip
    """Watch, study, start and steer runs in a browser; answer chat programs at /v1 as an OpenAI endpoint does.

    Only this machine can reach it, and only through the address that is printed, once. Listening at another
    address takes a token: yours (16 characters or more), or one that is drawn and printed. The connection is
    not encrypted: beyond this machine, put it behind something that is.

    \b
    assay serve
    assay serve --port 9000 --open
    assay serve --token-file ~/.config/assay/token
    assay serve --host 0.0.0.0 --allow-host studio.local
    assay serve --people people.toml
    """
    if context.invoked_subcommand:
        return
    token = _token(token_file)
    with needing("the web app", "web"):
        from assay.api.doors import program_doors
        from assay.web.endpoints import pages
        from assay.web.guard import Gate
        from assay.web.people import People
        from assay.web.serving import serve as serve_runs
    pages()
    for name, reason in left_out().items():
        click.echo(f"protocol {name} is left out: {reason}; mend or uninstall it", err=True)
    people = None if people_file is None else People(Path(people_file).expanduser())
    if people is not None:
        people.all()
    if token is None and host not in _LOOPBACK:
        token = secrets.token_urlsafe(24)
        click.echo(f"token: {token}", err=True)

    def ready(address: str) -> None:
        click.echo(f"Assay is at {address}")
        if people is not None:
            click.echo(f"People sign in at {address.partition('?')[0]}", err=True)
        click.echo(f"Chat programs ask at {address.partition('/open')[0]}/v1 (assay serve keys add NAME)", err=True)
        click.echo("The address opens one browser, once. Stop with Ctrl-C.", err=True)
        if browser:
            click.launch(address)

    # A server ends in no other way.
    with closing(open_runs(store_path)) as store, suppress(KeyboardInterrupt):
        serve_runs(store, Gate(host, token, hosts, people), host, port, ready, program_doors(), proxies)
    click.echo("stopped", err=True)


def _token(file: str | None) -> str | None:
    """Read the token from where no list of processes shows it; ``None`` where one is to be drawn.

    Raises:
        ConfigurationError: the file cannot be read, or the token is too short.
    """
    if file == "-":
        token = click.prompt("Token", hide_input=True, err=True)
    elif file is not None:
        with reworded(f"--token-file {file} cannot be read", OSError, UnicodeDecodeError):
            token = Path(file).expanduser().read_text(encoding="utf-8")
    elif not (token := os.environ.get("ASSAY_TOKEN", "")):
        return None
    token = token.strip()
    if len(token) < 16:
        raise ConfigurationError(
            f"the token has {len(token)} characters; it must have 16 or more, for example: openssl rand -base64 24"
        )
    return token
