"""Tickets for what must not be put out."""

from stash.errors import StashError


class Tickets:
    """Which entry each ticket is of."""

    def __init__(self):
        self.last = 0
        self.entries = {}

    def give(self, entry):
        """Return a new ticket for an entry."""
        self.last += 1
        self.entries[self.last] = entry
        entry.tickets += 1
        return self.last

    def release(self, ticket):
        """Take a ticket back; return its entry."""
        if ticket not in self.entries:
            raise StashError(f"there is no ticket {ticket}")
        entry = self.entries.pop(ticket)
        entry.tickets -= 1
        return entry
