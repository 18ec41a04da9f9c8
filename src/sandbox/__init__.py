"""A room for code that nobody trusts: what it holds, what it may use, how one talks to it, and what came of it.

It knows no protocol and no model. A box is opened by a backend, found by the entry points of ``assay.sandboxes``.
"""

from sandbox.backends import NONE, Order, Start, backend, started
from sandbox.boxes import HOME, PYTHON, WORK, open_box, probe
from sandbox.channel import Box, Channel, Completed
from sandbox.errors import BadRoot, BoxDied, Gone, NoIsolation, SandboxError
from sandbox.limits import OF_OURS, BoxLimits
from sandbox.root import HOST, Root
from sandbox.running import run, run_now
from sandbox.serving import Served

__all__ = [
    "HOME", "HOST", "NONE", "OF_OURS", "PYTHON", "WORK", "BadRoot", "Box", "BoxDied", "BoxLimits", "Channel",
    "Completed", "Gone", "NoIsolation", "Order", "Root", "SandboxError", "Served", "Start", "backend",
    "open_box", "probe", "run", "run_now", "started",
]  # fmt: skip
