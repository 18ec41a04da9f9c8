import unittest
from datetime import datetime

from rota import catch_up, due, next_run, read_table

TABLE = """
zone mid +60
job backup mid daily 02:30,14:00
job watch mid weekly sun every 30 from 22:00 to 23:30
"""


def told(runs):
    return [f"{run.at:%d %H:%M} {run.job.name}" for run in runs]


class Plans(unittest.TestCase):
    def setUp(self):
        self.jobs = read_table(TABLE)

    def test_runs_are_in_order(self):
        runs = due(self.jobs, datetime(2026, 3, 1), datetime(2026, 3, 2))
        expected = ["01 01:30 backup", "01 13:00 backup", "01 21:00 watch", "01 21:30 watch", "01 22:00 watch"]
        self.assertEqual(told(runs), expected)

    def test_the_next_run_is_later(self):
        self.assertEqual(next_run(self.jobs[0], datetime(2026, 3, 1, 1, 30)), datetime(2026, 3, 1, 13))
        self.assertEqual(next_run(self.jobs[1], datetime(2026, 3, 1, 22)), datetime(2026, 3, 8, 21))

    def test_all_that_was_missed_is_run(self):
        runs = catch_up(self.jobs, datetime(2026, 3, 1, 1, 30), datetime(2026, 3, 1, 21))
        self.assertEqual(told(runs), ["01 13:00 backup", "01 21:00 watch"])
