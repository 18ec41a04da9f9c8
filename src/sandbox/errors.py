"""What goes wrong with a sandbox, as one small tree; each message is one line that says what to do."""

from __future__ import annotations

import signal


class SandboxError(Exception):
    """The root: nothing was run, or what ran is lost."""


class NoIsolation(SandboxError):
    """This machine gives no box that isolates; nothing was run."""


class BadRoot(SandboxError):
    """What a box is to be made of is not there, is damaged, or does not fit together."""


class BoxDied(SandboxError):
    """The box ended, or answers with what is no answer; its contents are lost."""


class Gone(SandboxError):
    """A program in a box ended, or was ended; the message says why, in words that follow its name."""


def how_it_ended(code: int | None) -> str:
    """Say how a process ended, by its exit code as Python or a shell tells it."""
    number = -code if code is not None and code < 0 else (code or 0) - 128
    if number == signal.SIGSYS:
        return "it asked the system for what a body may not have (SIGSYS)"
    known = number in {one.value for one in signal.Signals}
    return f"its process was ended by {signal.Signals(number).name}" if known else "its process ended"
