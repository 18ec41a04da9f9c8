"""Programs in Python that a model wrote, each in a box of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.seat_tools.offered import Call, ToolFault, word
from llm_runtime.rewording import reworded

_SECONDS = 20.0


def python(_: str, __: Sequence[str]) -> Call:
    """Return what runs a program, where something here isolates it."""
    from sandbox import NoIsolation, backend

    with reworded("--tools python", NoIsolation):
        backend()
    return _run


async def _run(arguments: Mapping[str, Any]) -> str:
    from sandbox import SandboxError, open_box
    from sandbox.told import shown

    code = word(arguments, "code")
    try:
        box = await open_box()
        try:
            return shown(await box.run(["python3", "-I", "-"], stdin=code.encode(), seconds=_SECONDS))
        finally:
            await box.close()
    except SandboxError as fault:
        raise ToolFault(str(fault) or type(fault).__name__) from None
