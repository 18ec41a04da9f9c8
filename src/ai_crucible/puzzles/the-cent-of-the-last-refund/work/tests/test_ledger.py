import unittest

from till import Ledger, Line, Order, RefundError, audit


class Refunds(unittest.TestCase):
    def setUp(self):
        self.order = Order((Line(2, 600, 200), Line(1, 1200, 200)))
        self.ledger = Ledger(self.order)

    def test_units_are_refunded_with_their_tax(self):
        entry = self.ledger.refund_units(0, 1)
        self.assertEqual((entry.amount, entry.shares, entry.taxes), (600, (600, 0), (100, 0)))
        self.assertEqual(self.ledger.left[0].units, 1)

    def test_an_amount_is_shared(self):
        self.assertEqual(self.ledger.refund_amount(200).shares, (100, 100))

    def test_no_more_than_what_is_left(self):
        with self.assertRaises(RefundError):
            self.ledger.refund_amount(2401)

    def test_an_audit_finds_what_is_wrong(self):
        self.ledger.refund_units(0, 2)
        self.ledger.void(1)
        self.assertEqual(audit(self.order, self.ledger.entries), 0)
        self.assertEqual(audit(Order((Line(2, 500, 200), Line(1, 1200, 200))), self.ledger.entries), 1)
