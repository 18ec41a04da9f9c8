"""Schedules: what is read, and which moments they name."""

import unittest
from datetime import datetime

from wheel import FieldError, Schedule


def after(words, moment):
    found = Schedule.read(words).after(datetime.fromisoformat(moment))
    return found and found.isoformat(" ", "minutes")


class Schedules(unittest.TestCase):
    def test_the_next_minute_that_fits(self):
        self.assertEqual(after("* * * * *", "2026-03-01 10:00"), "2026-03-01 10:01")
        self.assertEqual(after("*/15 8-17 * * MON-FRI", "2026-03-06 17:45"), "2026-03-09 08:00")
        self.assertEqual(after("30 4 1,15 * *", "2026-03-01 04:30"), "2026-03-15 04:30")
        self.assertEqual(after("@yearly", "2026-03-01 04:30"), "2027-01-01 00:00")
        self.assertEqual(after("0 0 * feb 0", "2026-01-31 00:00"), "2026-02-01 00:00")

    def test_seconds_are_passed_over(self):
        self.assertEqual(after("5 * * * *", "2026-03-01 10:04:59"), "2026-03-01 10:05")

    def test_what_never_comes(self):
        self.assertIsNone(after("0 0 30 2 *", "2026-01-01 00:00"))

    def test_what_is_no_schedule(self):
        for words in ("* * * *", "60 * * * *", "5-1 * * * *", "* * 0 * *", "*/0 * * * *", "a * * * *", "* * * * 8", ", * * * *", "@often"):
            with self.assertRaises(FieldError):
                Schedule.read(words)


if __name__ == "__main__":
    unittest.main()
