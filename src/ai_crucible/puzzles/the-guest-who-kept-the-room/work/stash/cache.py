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
        self.clock.to(now)
        if size < 1 or (ttl is not None and ttl < 1):
            raise StashError(f"{key} has no size or no time")
        self.drop(now, key)
        entry = Entry(key, size, ttl, again)
        entry.begin(now)
        self._use(entry)
        if not self._lay(entry, 0):
            raise StashError(f"there is no room for {key}")
        self.entries[key] = entry

    def get(self, now, key):
        """Tell whether something is found."""
        entry = self._find(now, key)
        if entry is None:
            self.counts.misses += 1
            return False
        self.counts.hits += 1
        self._use(entry)
        if entry.again:
            entry.begin(now)
        if entry.tier > 0 and not self.tickets.hold(key):
            old = entry.tier
            if self._lay(entry, 0):
                self.tiers[old].entries.remove(entry)
                self.counts.moved += 1
        return True

    def pin(self, now, key):
        """Return a ticket for what is found, or None."""
        return None if self._find(now, key) is None else self.tickets.give(key)

    def release(self, now, ticket):
        """Take a ticket back."""
        self.clock.to(now)
        self.tickets.release(ticket)

    def drop(self, now, key):
        """Tell whether there was something to be found; it is not found any more."""
        entry = self._find(now, key)
        if entry is not None:
            self._remove(entry)
        return entry is not None

    def resize(self, now, tier, capacity):
        """Give a tier another capacity."""
        self.clock.to(now)
        self.tiers[tier].capacity = capacity
        self._lower(tier, 0)

    def next_expiry(self, now):
        """Return when something comes to its time, or None."""
        self.clock.to(now)
        return min((entry.ends for entry in self.entries.values() if entry.ends is not None), default=None)

    def used(self, now):
        """Return what is used of each tier."""
        self.clock.to(now)
        return [tier.used for tier in self.tiers]

    def keys(self, now):
        """Return the keys that are found in each tier, the least recently used first."""
        self.clock.to(now)
        return [[entry.key for entry in tier.in_order()] for tier in self.tiers]

    def _find(self, now, key):
        self.clock.to(now)
        entry = self.entries.get(key)
        if entry is not None and entry.over(now):
            self._remove(entry)
            self.counts.expired += 1
            return None
        return entry

    def _use(self, entry):
        self._uses += 1
        entry.use = self._uses

    def _remove(self, entry):
        del self.entries[entry.key]
        self.tiers[entry.tier].entries.remove(entry)

    def _lay(self, entry, first):
        """Lay an entry into a tier from a first one on; tell whether there is one."""
        for number in range(first, len(self.tiers)):
            if self.tiers[number].fits(entry):
                self._lower(number, entry.size)
                self.tiers[number].entries.append(entry)
                entry.tier = number
                return True
        return False

    def _lower(self, number, size):
        """Move entries out of a tier until so much has room."""
        tier = self.tiers[number]
        for entry in tier.in_order():
            if tier.used + size <= tier.capacity:
                break
            if not self.tickets.hold(entry.key):
                tier.entries.remove(entry)
                if self._lay(entry, number + 1):
                    self.counts.moved += 1
                else:
                    self.counts.evicted += 1
                    del self.entries[entry.key]
