import unittest
from datetime import date

from ledgerbook import Book, read_journal
from ledgerbook.reports import profit, table, tree

TEXT = """
2026-01-05 Pay
    assets:bank           2000.00 EUR
    income:work

2026-01-01 Begin
    assets:bank            100.00 EUR
    equity:begin

2026-01-09 Rent
    expenses:rent          900.00 EUR
    assets:bank
"""


class Books(unittest.TestCase):
    def setUp(self):
        self.book = Book(read_journal(TEXT))

    def test_balances_include_what_lies_below(self):
        self.assertEqual(str(self.book.balance("assets")), "1200.00 EUR")
        self.assertEqual(str(self.book.balance("assets", date(2026, 1, 5))), "2100.00 EUR")

    def test_running_balances_are_by_day(self):
        totals = [str(total) for _, _, total in self.book.running("assets:bank")]
        self.assertEqual(totals, ["100.00 EUR", "2100.00 EUR", "1200.00 EUR"])

    def test_a_closed_day_takes_nothing(self):
        self.book.close(date(2026, 1, 31))
        with self.assertRaises(ValueError):
            self.book.add(read_journal(TEXT)[0])

    def test_profit_is_of_the_days_that_are_asked_for(self):
        self.assertEqual(str(profit(self.book, date(2026, 1, 1), date(2026, 1, 5))), "2000.00 EUR")

    def test_tables_line_up(self):
        self.assertEqual(
            table(tree(self.book, depth=1)),
            "assets     1200.00 EUR\nequity     -100.00 EUR\nincome    -2000.00 EUR\nexpenses    900.00 EUR\n",
        )
