"""What is kept."""

from dataclasses import dataclass


@dataclass(eq=False)
class Entry:
    """A key's value, of which the size alone is of interest."""

    key: str
    size: int
    ttl: int | None = None
    again: bool = False
    ends: int | None = None
    use: int = 0
    tier: int = 0
    tickets: int = 0

    def begin(self, now):
        """Count its time from now on."""
        self.ends = None if self.ttl is None else now + self.ttl

    def over(self, now):
        """Tell whether its time has come."""
        return self.ends is not None and now >= self.ends
