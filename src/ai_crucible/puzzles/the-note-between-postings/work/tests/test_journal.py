import unittest

from ledgerbook import JournalError, read_journal, write_journal

TEXT = """
2026-03-02 Food ; at the market
    expenses:food         12.30 EUR
    assets:cash

2026-03-01 Rent
    expenses:rent        900.00 EUR
    assets:bank         -900.00 EUR
"""


class Journals(unittest.TestCase):
    def test_a_missing_amount_is_what_is_left(self):
        food, rent = read_journal(TEXT)
        self.assertEqual(str(food.postings[1].amount), "-12.30 EUR")
        self.assertEqual(rent.text, "Rent")

    def test_it_is_written_by_day_and_reads_the_same(self):
        food, rent = read_journal(TEXT)
        self.assertEqual(read_journal(write_journal([food, rent])), [rent, food])

    def test_what_does_not_add_up_names_its_line(self):
        with self.assertRaises(JournalError) as caught:
            read_journal("2026-01-01 x\n    assets:a 1.00 EUR\n    assets:b -2.00 EUR\n")
        self.assertEqual(caught.exception.line, 1)
