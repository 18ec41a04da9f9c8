"""Which days a job runs on."""

from calendar import monthrange

WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Days:
    """Every day, days of the week, or days of the month by number."""

    def __init__(self, kind, members=()):
        self.kind = kind
        self.members = frozenset(members)

    @classmethod
    def read(cls, kind, text=""):
        """Return the days of ``weekly`` and ``monthly``; ValueError where they are none."""
        words = text.split(",")
        if kind == "weekly":
            if unknown := [word for word in words if word not in WEEK]:
                raise ValueError(f"{unknown[0]!r} is no day of the week")
            return cls(kind, map(WEEK.index, words))
        if wrong := [word for word in words if not (word.isascii() and word.isdigit() and 1 <= int(word) <= 31)]:
            raise ValueError(f"{wrong[0]!r} is no day of a month")
        return cls(kind, map(int, words))

    def __contains__(self, day):
        if self.kind == "weekly":
            return day.weekday() in self.members
        if self.kind == "monthly":
            return day.day in self.members
        return True
