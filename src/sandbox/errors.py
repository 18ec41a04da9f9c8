"""What goes wrong with a sandbox, as one small tree; each message is one line that says what to do."""

from __future__ import annotations


class SandboxError(Exception):
    """The root: nothing was run, or what ran is lost."""


class NoIsolation(SandboxError):
    """This machine gives no box that isolates; nothing was run."""


class BadRoot(SandboxError):
    """What a box is to be made of is not there, is damaged, or does not fit together."""


class BoxDied(SandboxError):
    """The box ended, or answers with what is no answer; its contents are lost."""
