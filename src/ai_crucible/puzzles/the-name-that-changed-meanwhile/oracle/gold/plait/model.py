"""Documents in memory."""

from dataclasses import dataclass, field, replace

PLAIN, GROUP, TABLE, ITEM = "plain", "group", "table", "item"


@dataclass
class Entry:
    """An entry or an item: its key as it is written and as it is compared, the rest of its line and the lines before it, its kind, and what lies in it.

    ``means`` is what is the same where the values are the same; of an item its entries are the value.
    """

    key: str
    name: object
    rest: str
    before: list
    kind: str
    means: object = None
    entries: list = field(default_factory=list)

    def as_in(self, one):
        """Return the entry with the writing of another one behind its key."""
        return replace(self, rest=one.rest, before=one.before)

    def written_as(self, one):
        """Tell whether what follows the key, and stands before it, is written as in another one."""
        return (self.rest, self.before) == (one.rest, one.before)


@dataclass
class Document:
    """The entries at the top, and the lines behind the last one."""

    kind = GROUP
    entries: list = field(default_factory=list)
    behind: list = field(default_factory=list)
