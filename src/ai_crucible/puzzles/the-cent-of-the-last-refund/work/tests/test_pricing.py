import unittest

from till import Discount, Line, Order, OrderError, price, read_order, split


class Prices(unittest.TestCase):
    def test_shares_add_up(self):
        self.assertEqual(split(10, [1, 1]), [5, 5])
        self.assertEqual(sum(split(1001, [1, 2, 3])), 1001)

    def test_a_discount_is_shared_by_what_lines_cost(self):
        order = Order((Line(1, 1000, 200), Line(2, 1500, 200)), (Discount(amount=400),))
        self.assertEqual(price(order).totals, (900, 2700))

    def test_tax_is_in_the_price(self):
        bill = price(Order((Line(1, 1200, 200), Line(1, 1050, 50)), shipping=120))
        self.assertEqual((bill.taxes, bill.shipping_tax), ((200, 50), 20))
        self.assertEqual((bill.total, bill.tax), (2370, 270))

    def test_orders_are_read(self):
        order = read_order("line 3 4.99 200 books\ndiscount 100 thousandths books\ndiscount 1.00 off\nshipping 4.90\n")
        self.assertEqual(order.lines, (Line(3, 499, 200, "books"),))
        self.assertEqual(order.discounts, (Discount(100, 0, "books"), Discount(0, 100)))
        with self.assertRaises(OrderError):
            read_order("line 0 4.99 200 books\n")
