"""What two sides could not agree on."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Conflict:
    """One conflict: the id of the item, or of the parent, its kind, and the key of the field."""

    name: str
    kind: str
    key: str = ""

    def __str__(self):
        return " ".join(word for word in (self.kind, self.name or ".", self.key) if word)
