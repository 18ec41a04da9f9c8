"""What isolates code here, in words: for the report of a run, and for who asks what is installed."""

from __future__ import annotations

from criticality.language import Fact
from sandbox import NONE, NoIsolation, backend


def isolation() -> str:
    """Return what holds a test run."""
    name = isolator().version
    if name == NONE:
        return "limits on resources, a filter of system calls"
    return f"{name}: no network, read-only system" if name else "nothing, so no test runs"


def isolator() -> Fact:
    """Return what isolates, if anything does."""
    try:
        name = backend(bare=True).name
    except NoIsolation:
        name = None
    return Fact("a sandbox", name, "install bubblewrap, podman or docker: code of models runs in it")
