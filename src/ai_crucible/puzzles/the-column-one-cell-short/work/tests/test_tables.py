import unittest

from galley import Cell, columns, table


class Tables(unittest.TestCase):
    def test_columns_are_as_wide_as_their_cells(self):
        self.assertEqual(columns([[Cell("abc"), Cell("d")], [Cell("e"), Cell("fg")]], 40), [3, 2])

    def test_cells_stand_below_each_other(self):
        rows = [[Cell("abc"), Cell("d")], [Cell("e", align="right"), Cell("fg")]]
        self.assertEqual([line.rstrip() for line in table(rows, 40)], ["abc | d", "  e | fg"])
