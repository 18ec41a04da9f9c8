"""`assay keys`: provider keys, stored outside any project."""

from __future__ import annotations

import sys

import click

from llm_runtime.errors import ConfigurationError


@click.group()
def keys() -> None:
    """Store and list provider keys.

    A key in the environment wins over one in .env, and that over one stored here.
    """


@keys.command("set")
@click.argument("provider")
def set_key(provider: str) -> None:
    """Store a key for PROVIDER: openrouter, anthropic or openai. It is asked for, or read from a pipe."""
    from llm_runtime.settings import HOSTED, config_dir, write_key

    if provider not in HOSTED:
        raise ConfigurationError(f"{provider} takes no key; those that do: {', '.join(HOSTED)}")
    if sys.stdin.isatty():
        secret = click.prompt(f"{provider} key", hide_input=True, err=True)
    else:
        secret = sys.stdin.readline()
    if not secret.strip():
        raise ConfigurationError("no key was given; nothing was changed")
    path = write_key(config_dir(), provider, secret)
    click.echo(f"stored in {path}, readable by you alone", err=True)


@keys.command("remove")
@click.argument("provider")
def remove_key(provider: str) -> None:
    """Remove PROVIDER's stored key."""
    from llm_runtime.settings import config_dir, read_keys, write_key

    if provider not in read_keys(config_dir()):
        raise ConfigurationError(f"no key is stored for {provider}")
    write_key(config_dir(), provider, "")


@keys.command("list")
def list_keys() -> None:
    """Show which providers have a key, and where it was found; never the key."""
    from llm_runtime.settings import HOSTED, load_settings

    settings = load_settings()
    for provider, (variable, _, _) in HOSTED.items():
        key = settings.keys.get(provider)
        click.echo(
            f"{provider:<12}{key.source if key else f'none (set {variable}, or: assay keys set {provider})'}"
        )


@keys.command("path")
def path() -> None:
    """Show where keys are stored."""
    from llm_runtime.settings import config_dir

    click.echo(config_dir() / "keys.toml")
