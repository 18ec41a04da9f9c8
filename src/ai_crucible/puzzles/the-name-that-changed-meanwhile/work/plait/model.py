"""Documents in memory."""

from dataclasses import dataclass, field

PLAIN, GROUP, TABLE, ITEM = "plain", "group", "table", "item"


@dataclass
class Entry:
    """An entry or an item: its key as a text, its kind, its plain value, and what lies in it."""

    key: str
    kind: str
    value: object = None
    entries: list = field(default_factory=list)


@dataclass
class Document:
    """The entries at the top."""

    kind = GROUP
    entries: list = field(default_factory=list)
