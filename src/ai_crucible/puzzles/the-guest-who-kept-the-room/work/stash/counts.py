"""What a cache counts."""

from dataclasses import dataclass, fields


@dataclass
class Counts:
    """How often something was found or not, expired, was put out, or came to another tier."""

    hits: int = 0
    misses: int = 0
    expired: int = 0
    evicted: int = 0
    moved: int = 0

    def __str__(self):
        return ", ".join(f"{getattr(self, field.name)} {field.name}" for field in fields(self))
