import unittest

from foreman import Outcome, read_table, simulate

TABLE = """
slots 2
user ann 1
user bob 1
job low ann 2 10 save 2
job high bob 1 3 priority 5 at 4
job next ann 1 2 after high
"""


def told(report):
    return [(run.start, run.end, run.job.name) for run in report.runs]


class Simulations(unittest.TestCase):
    def test_a_higher_job_goes_first(self):
        report = simulate(read_table(TABLE))
        self.assertEqual(told(report)[:2], [(0, 4, "low"), (4, 7, "high")])
        self.assertEqual(report.outcomes["high"], Outcome("done", 7, 0))

    def test_jobs_wait_for_others(self):
        report = simulate(read_table("slots 2\nuser ann 1\njob a ann 1 3\njob b ann 1 2 after a\n"))
        self.assertEqual(told(report), [(0, 3, "a"), (3, 5, "b")])
        self.assertEqual(report.used, {"ann": 5})

    def test_what_is_too_late_is_dropped(self):
        report = simulate(read_table("slots 1\nuser ann 1\njob a ann 1 9 until 4\njob b ann 1 2\n"))
        self.assertEqual(report.outcomes, {"a": Outcome("dropped", 4, 4), "b": Outcome("done", 6, 0)})
