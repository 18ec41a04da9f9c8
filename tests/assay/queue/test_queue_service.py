"""Runs that are left to workers: from the command line through the queue to the report."""

from __future__ import annotations

from tests.assay.batch.batch_shell import Shell
from tests.commands import Done

from llm_runtime.testing import LoopbackServer


async def assay(shell: Shell, *arguments: str, code: int = 0) -> Done:
    done = await shell.commands.run(*arguments, cwd=shell.folder, env=shell.environment)
    assert done.code == code, done.err + done.out
    return done


async def test_a_run_goes_through_the_queue_to_its_report(
    shell: Shell, postgres_url: str, server: LoopbackServer
) -> None:
    """A person leaves a question to a worker, and reads the answer from the same store."""
    shell.environment["ASSAY_STORE"] = postgres_url
    queued = await assay(shell, "ask", "Should we split it?", "--queue")
    run_id = queued.out.split()[-1]
    assert not server.requests
    await assay(shell, "work", "--until-empty")
    shown = await assay(shell, "runs", "show", run_id)
    assert "Thought through in" in shown.out
    listed = (await assay(shell, "queue", "list", "--json")).json
    assert [(each["state"], each["run_id"]) for each in listed["entries"]] == [("done", run_id)]
