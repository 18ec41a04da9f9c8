import unittest

from abacus import Error, Sheet


def value(text, **cells):
    sheet = Sheet()
    for name, other in cells.items():
        sheet.set(name, other)
    sheet.set("Z9", text)
    return sheet.value("Z9")


class Formulas(unittest.TestCase):
    def test_operators_bind_as_in_arithmetic(self):
        self.assertEqual(value("=1+2*3"), 7)
        self.assertEqual(value("=(1+2)*-3"), -9)
        self.assertEqual(value("=7/2-1"), 2)
        self.assertEqual(value('=1+1&"x"'), "2x")
        self.assertEqual(value("=1+1=2"), 1)

    def test_errors_are_values(self):
        self.assertEqual(value("=1/0"), Error("#DIV"))
        self.assertEqual(value('=1+"x"'), Error("#TYPE"))
        self.assertEqual(value("=NONE(1)"), Error("#NAME"))
        self.assertEqual(value("=1+"), Error("#PARSE"))
        self.assertEqual(value("=IFERROR(1/0, 5)"), 5)

    def test_ranges_are_summed(self):
        self.assertEqual(value("=SUM(A1:B2, 10)", A1="1", B1="x", A2="2", B2="=A1+A2"), 16)
        self.assertEqual(value("=COUNT(B2:A1)", A1="1", B1="x", A2="=1/0"), 1)

    def test_nothing_is_nought(self):
        self.assertEqual(value("=A1"), 0)
        self.assertEqual(value('=A1=""'), 1)
