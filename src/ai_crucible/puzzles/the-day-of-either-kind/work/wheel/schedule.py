"""The five fields of a schedule, and the moments that they mean."""

from dataclasses import dataclass
from datetime import timedelta

from wheel.fields import KINDS, FieldError, read_field

SHORT = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
#: So many days are looked at.
_REACH = 366


@dataclass(frozen=True)
class Schedule:
    """When something is due."""

    minutes: frozenset
    hours: frozenset
    days: frozenset
    months: frozenset
    weekdays: frozenset

    @classmethod
    def read(cls, text):
        """Read five fields, or what is short for them."""
        words = SHORT.get(text.strip().lower(), text).split()
        if len(words) != len(KINDS):
            raise FieldError(f"{text.strip()!r} has {len(words)} fields and not {len(KINDS)}")
        return cls(*(read_field(word, kind) for word, kind in zip(words, KINDS)))

    def falls_on(self, day):
        """Whether something is due on a day at all."""
        if day.month not in self.months:
            return False
        return day.day in self.days and day.isoweekday() % 7 in self.weekdays

    def includes(self, moment):
        """Whether something is due in the minute that begins at a moment."""
        return moment.minute in self.minutes and moment.hour in self.hours and self.falls_on(moment)

    def after(self, moment):
        """Return the first moment later than this one at which something is due; ``None`` where it never is."""
        moment = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        if self.falls_on(moment):
            for hour in sorted(self.hours):
                for minute in sorted(self.minutes):
                    if (hour, minute) >= (moment.hour, moment.minute):
                        return moment.replace(hour=hour, minute=minute)
        day = moment.replace(hour=min(self.hours), minute=min(self.minutes))
        for _ in range(_REACH):
            day += timedelta(days=1)
            if self.falls_on(day):
                return day
        return None
