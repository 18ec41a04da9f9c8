"""What both have changed, each in another way."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Conflict:
    """Where it is, and of what kind: ``deleted``, ``key``, ``order``, ``renamed`` or ``value``."""

    kind: str
    path: str

    def __str__(self):
        return f"{self.kind} {self.path}"
