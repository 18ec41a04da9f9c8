"""`assay completion`: what a shell runs to complete commands and options."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands and options in SHELL.

    \b
    assay completion bash > ~/.local/share/bash-completion/completions/assay
    assay completion zsh > "${fpath[1]}/_assay"
    assay completion fish > ~/.config/fish/completions/assay.fish
    """
    from click.shell_completion import get_completion_class

    complete = get_completion_class(shell)
    assert complete is not None, "click has these three"
    click.echo(complete(context.find_root().command, {}, "assay", "_ASSAY_COMPLETE").source())
