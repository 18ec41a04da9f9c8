"""The five fields of a schedule, and the moments that they mean."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime, timedelta

from wheel.fields import DAY, KINDS, WEEKDAY, FieldError, read_field

SHORT = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
#: After so many years the same days of the week fall on the same dates.
_CYCLE = 400


@dataclass(frozen=True)
class Schedule:
    """When something is due."""

    minutes: frozenset
    hours: frozenset
    days: frozenset
    months: frozenset
    weekdays: frozenset
    any_day: bool
    any_weekday: bool

    @classmethod
    def read(cls, text):
        """Read five fields, or what is short for them."""
        words = SHORT.get(text.strip().lower(), text).split()
        if len(words) != len(KINDS):
            raise FieldError(f"{text.strip()!r} has {len(words)} fields and not {len(KINDS)}")
        numbers = [read_field(word, kind) for word, kind in zip(words, KINDS)]
        return cls(*numbers, words[KINDS.index(DAY)] == "*", words[KINDS.index(WEEKDAY)] == "*")

    def falls_on(self, day):
        """Whether something is due on a day at all."""
        if day.month not in self.months:
            return False
        by_date = day.day in self.days
        by_weekday = day.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return by_date and by_weekday
        return by_date or by_weekday

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
        for year in range(moment.year, min(moment.year + _CYCLE, 9999) + 1):
            for month in sorted(self.months):
                for day in range(1, monthrange(year, month)[1] + 1):
                    found = datetime(year, month, day, min(self.hours), min(self.minutes))
                    if found > moment and self.falls_on(found):
                        return found
        return None
