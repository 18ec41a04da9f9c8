"""The cache."""

from stash.clock import Clock
from stash.counts import Counts
from stash.entries import Entry
from stash.errors import StashError
from stash.tickets import Tickets
from stash.tiers import Tier


class Stash:
    """Entries in tiers, the fastest first."""

    def __init__(self, capacities):
        self.tiers = [Tier(capacity) for capacity in capacities]
        self.clock = Clock()
        self.counts = Counts()
        self.tickets = Tickets()
        self.entries = {}
        self._uses = 0

    def put(self, now, key, size, ttl=None, again=False):
        """Keep something; StashError where there is no room for it."""
        self._at(now)
        if size < 1 or (ttl is not None and ttl < 1):
            raise StashError(f"{key} has no size or no time")
        entry = Entry(key, size, ttl, again)
        if not any(tier.fits(entry) for tier in self.tiers):
            raise StashError(f"there is no room for {key}")
        if key in self.entries:
            self._lose(key)
        entry.begin(now)
        self._use(entry)
        self.entries[key] = entry
        self._lay(entry, 0)

    def get(self, now, key):
        """Tell whether something is found."""
        self._at(now)
        entry = self.entries.get(key)
        if entry is None:
            self.counts.misses += 1
            return False
        self.counts.hits += 1
        self._use(entry)
        if entry.again:
            entry.begin(now)
        if not entry.tickets:
            before = entry.tier
            self.tiers[before].entries.remove(entry)
            self._lay(entry, 0)
            self.counts.moved += entry.tier != before
        return True

    def pin(self, now, key):
        """Return a ticket for what is found, or None."""
        self._at(now)
        return self.tickets.give(self.entries[key]) if key in self.entries else None

    def release(self, now, ticket):
        """Take a ticket back."""
        self._at(now)
        entry = self.tickets.release(ticket)
        if not entry.tickets and self.entries.get(entry.key) is not entry:
            self.tiers[entry.tier].entries.remove(entry)

    def drop(self, now, key):
        """Tell whether there was something to be found; it is not found any more."""
        self._at(now)
        if key not in self.entries:
            return False
        self._lose(key)
        return True

    def resize(self, now, tier, capacity):
        """Give a tier another capacity."""
        self._at(now)
        if not 0 <= tier < len(self.tiers) or capacity < max(0, self.tiers[tier].held):
            raise StashError(f"tier {tier} cannot have {capacity}")
        self.tiers[tier].capacity = capacity
        self._move_on(self.tiers[tier].clear(0), tier + 1)

    def next_expiry(self, now):
        """Return when something comes to its time, or None."""
        self._at(now)
        return min((entry.ends for entry in self.entries.values() if entry.ends is not None), default=None)

    def used(self, now):
        """Return what is used of each tier."""
        self._at(now)
        return [tier.used for tier in self.tiers]

    def keys(self, now):
        """Return the keys that are found in each tier, the least recently used first."""
        self._at(now)
        return [[e.key for e in tier.in_order() if self.entries.get(e.key) is e] for tier in self.tiers]

    def _at(self, now):
        """Tell the time, and let go what has come to its own."""
        self.clock.to(now)
        for key in [key for key, entry in self.entries.items() if entry.over(now)]:
            self._lose(key)
            self.counts.expired += 1

    def _use(self, entry):
        self._uses += 1
        entry.use = self._uses

    def _lose(self, key):
        """Let an entry be found no more; its room is free unless it is held."""
        entry = self.entries.pop(key)
        if not entry.tickets:
            self.tiers[entry.tier].entries.remove(entry)

    def _lay(self, entry, first):
        """Lay an entry into the first tier from a number on that it fits; tell whether there is one."""
        for number in range(first, len(self.tiers)):
            if self.tiers[number].fits(entry):
                left = self.tiers[number].clear(entry.size)
                self.tiers[number].entries.append(entry)
                entry.tier = number
                self._move_on(left, number + 1)
                return True
        return False

    def _move_on(self, left, first):
        """Lay what left a tier into those below."""
        for entry in left:
            if self._lay(entry, first):
                self.counts.moved += 1
            else:
                self.counts.evicted += 1
                del self.entries[entry.key]
