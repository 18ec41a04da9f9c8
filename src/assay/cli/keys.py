"""`assay keys`: provider keys, stored outside any project."""

from __future__ import annotations

import sys

import click

from assay.console.declared import commands
from assay.console.lazy import ToldGroup
from llm_runtime.errors import ConfigurationError


@click.group(cls=ToldGroup)
def keys() -> None:
    """Store and list the keys of vendors and of your own endpoints.

    A key in the environment wins over one in .env, and that over one stored here: in the system's keyring, where
    there is one and the extra "keyring" is installed, else in a file that you alone can read.
    """


_command = commands(keys.command, __package__ or "", "keys.toml")


@_command("set")
def set_key(provider: str) -> None:
    """Store a key for PROVIDER, which is one that `assay keys list` shows. It is asked for, or read from a pipe."""
    from llm_runtime.keys import write_key
    from llm_runtime.settings import check_key, config_dir

    config = config_dir()
    check_key(config, provider)
    secret = click.prompt(f"{provider} key", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
    if not secret.strip():
        raise ConfigurationError("no key was given; nothing was changed")
    check_key(config, provider, secret)
    click.echo(f"stored in {write_key(config, provider, secret)}", err=True)


@_command("remove")
def remove_key(provider: str) -> None:
    """Remove PROVIDER's stored key."""
    from llm_runtime.keys import read_keys, write_key
    from llm_runtime.settings import config_dir

    if provider not in read_keys(config_dir()):
        raise ConfigurationError(f"no key is stored for {provider}")
    write_key(config_dir(), provider, "")


@keys.command("list")
def list_keys() -> None:
    """Show which vendors and endpoints have a key, and where it was found; never the key."""
    from llm_runtime.dialects import HOSTED
    from llm_runtime.settings import load_settings

    settings = load_settings()
    for provider in {**(own := settings.config.endpoints), **HOSTED}:
        key = settings.keys.get(provider)
        missing = "none" if provider in own else f"none (set {HOSTED[provider].key_env}, or: assay keys set {provider})"
        click.echo(f"{provider:<12}{key.source if key else missing}{' (endpoint of config.toml)' * (provider in own)}")


@keys.command("path")
def path() -> None:
    """Show where keys are stored."""
    from llm_runtime.settings import config_dir

    click.echo(config_dir() / "keys.toml")
