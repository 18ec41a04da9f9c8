"""A request of a program that is not carried out: the status, one line, the field at fault."""

from __future__ import annotations


class Refused(Exception):
    """A request that is not carried out.

    Args:
        status: of HTTP.
        message: one line.
        code: a word for programs.
        param: the field that is at fault.
        again: whether the same request may succeed later; ``None`` leaves that to the client.
    """

    def __init__(
        self, status: int, message: str, code: str, param: str | None = None, *, again: bool | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.again = again
        self.about: dict[str, object] = {}


def invalid(param: str, message: str) -> Refused:
    """Return that a field is at fault."""
    return Refused(400, message, "invalid_request", param)
