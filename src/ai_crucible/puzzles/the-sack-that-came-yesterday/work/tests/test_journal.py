import unittest

from granary import Posting, journal, read

LOG = "1 in barn oats 10 250\n2 out barn oats 3\n3 out barn oats 1\n"


class Journals(unittest.TestCase):
    def test_outs_cost_what_came_in(self):
        self.assertEqual(journal(read(LOG)), [Posting(2, 2, "oats", 750), Posting(3, 3, "oats", 250)])

    def test_what_was_known_before(self):
        self.assertEqual(journal(read(LOG), known=2), [Posting(2, 2, "oats", 750)])

    def test_what_comes_late_stands_on_the_first_open_day(self):
        self.assertEqual(journal(read("1 in barn oats 1 5\nclose 4\n2 out barn oats 1\n")), [Posting(5, 3, "oats", 5)])
