"""Tickets for what must not be put out."""

from stash.errors import StashError


class Tickets:
    """Who holds what."""

    def __init__(self):
        self.last = 0
        self.keys = {}

    def give(self, key):
        """Return a new ticket for a key."""
        self.last += 1
        self.keys[self.last] = key
        return self.last

    def release(self, ticket):
        """Take a ticket back."""
        if not 1 <= ticket <= self.last:
            raise StashError(f"there is no ticket {ticket}")
        self.keys.pop(ticket, None)

    def hold(self, key):
        """Tell whether somebody holds a key."""
        return key in self.keys.values()
