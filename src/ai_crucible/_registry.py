"""What Inspect finds by entry point: the task and the sandbox. Light until one is used."""

from __future__ import annotations

from ai_crucible.inspect_sandbox import BwrapSandbox
from ai_crucible.trial import trial

__all__ = ["BwrapSandbox", "trial"]
