import unittest
from datetime import datetime, timedelta

from rota import TableError, read_table

TABLE = """
# all of them
zone mid +60 2026-03-29T01:00 +120
job backup mid daily 02:30,14:00
job bills mid monthly 1,31 00:00 missed skip
job watch mid weekly mon every 20 from 22:00 to 03:00 missed once 30
"""


class Tables(unittest.TestCase):
    def test_jobs_come_in_their_order(self):
        backup, bills, watch = read_table(TABLE)
        self.assertEqual(backup.times, (timedelta(hours=2, minutes=30), timedelta(hours=14)))
        self.assertEqual((bills.missed, bills.grace), ("skip", 0))
        self.assertEqual((watch.window.step, watch.missed, watch.grace), (20, "once", 30))

    def test_zones_change(self):
        zone = read_table(TABLE)[0].zone
        self.assertEqual(zone.local(datetime(2026, 1, 1)), datetime(2026, 1, 1, 1))
        self.assertEqual(zone.local(datetime(2026, 7, 1)), datetime(2026, 7, 1, 2))

    def test_faults_name_their_lines(self):
        for text in ("x\n", "zone a\n", "zone a +0\njob b c daily 00:00\n", "zone a +0\njob b a daily 24:00\n", "zone a +1440\n"):
            with self.assertRaises(TableError) as caught:
                read_table(text)
            self.assertEqual(caught.exception.line, text.count("\n"))
