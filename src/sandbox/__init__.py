"""A room for code that nobody trusts: what it holds, what it may use, how one talks to it, and what came of it.

It knows no protocol and no model. A box is opened by a backend, found by the entry points of ``assay.sandboxes``.
"""

from sandbox.backends import NONE, Order, backend
from sandbox.boxes import HOME, PYTHON, WORK, open_box, probe
from sandbox.channel import Box, Completed
from sandbox.errors import BadRoot, BoxDied, NoIsolation, SandboxError
from sandbox.limits import BoxLimits
from sandbox.root import Root
from sandbox.running import run
from sandbox.serving import Gone, Served

__all__ = [
    "HOME",
    "NONE",
    "PYTHON",
    "WORK",
    "BadRoot",
    "Box",
    "BoxDied",
    "BoxLimits",
    "Completed",
    "Gone",
    "NoIsolation",
    "Order",
    "Root",
    "SandboxError",
    "Served",
    "backend",
    "open_box",
    "probe",
    "run",
]
