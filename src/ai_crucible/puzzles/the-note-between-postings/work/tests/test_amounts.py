import unittest

from ledgerbook import Amount, Money


class Amounts(unittest.TestCase):
    def test_decimals_are_those_of_the_currency(self):
        self.assertEqual(str(Amount.parse("-3.5", "EUR")), "-3.50 EUR")
        self.assertEqual(str(Amount.parse("7", "JPY")), "7 JPY")
        with self.assertRaises(ValueError):
            Amount.parse("0.001", "EUR")

    def test_money_keeps_currencies_apart(self):
        both = Money([Amount(5, "EUR"), Amount(7, "USD"), Amount(-5, "EUR")])
        self.assertEqual(both, Money([Amount(7, "USD")]))
        self.assertEqual(str(both + -both), "0")
