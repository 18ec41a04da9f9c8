"""`criticality mcp`: the artifact and toolchain servers for an agent of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.console.declared import declares
from llm_runtime.clock import now_ms
from llm_runtime.errors import ConfigurationError
from llm_runtime.extras import needing


@click.command()
@declares(__package__ or "", "options.toml")("mcp")
def mcp(server: str, agent: Any, function: str | None, port: int | None, folder: str) -> None:
    """Serve a project to an agent by the Model Context Protocol.

    One process serves one agent and gives it what its policy allows: an architect writes decisions and runs
    nothing, a worker sees the tests of one function and no specification.

    \b
    criticality mcp artifact --as auditor
    criticality mcp toolchain --as worker --function accounts.transfer --http 8931
    """
    with needing("serving agents", "mcp"):
        from assay.protocols.criticality.mcp.artifact_server import artifact_server
        from assay.protocols.criticality.mcp.toolchain_server import toolchain_server
    from criticality.agents.policies import POLICIES
    from criticality.project.files import require_project

    root = Path(folder).absolute()
    require_project(root)
    if POLICIES[agent].one_function != (function is not None):
        needs = "needs --function MODULE.NAME" if function is None else "takes no --function"
        raise ConfigurationError(f"--as {agent} {needs}")
    app = artifact_server(root, agent, now_ms) if server == "artifact" else toolchain_server(root, agent, function)
    if port is None:
        app.run("stdio")
        return
    click.echo(f"criticality {server} server for the {agent}: http://127.0.0.1:{port}/mcp", err=True)
    app.run("streamable-http", host="127.0.0.1", port=port)
