import unittest

from abacus import Error, Sheet
from abacus.__main__ import run
from abacus.show import table


class Sheets(unittest.TestCase):
    def test_a_change_is_seen_by_what_reads_it(self):
        sheet = Sheet()
        sheet.set("A1", "1")
        sheet.set("B1", "=A1+1")
        sheet.set("C1", "=B1*2")
        self.assertEqual(sheet.value("C1"), 4)
        sheet.set("a1", "5")
        self.assertEqual(sheet.value("C1"), 12)

    def test_what_was_computed_is_not_computed_again(self):
        sheet = Sheet()
        sheet.set("A1", "1")
        sheet.set("B1", "=A1+1")
        self.assertEqual(sheet.value("B1"), 2)
        self.assertEqual(sheet.evaluated, ["B1"])
        self.assertEqual(sheet.value("B1"), 2)
        self.assertEqual(sheet.evaluated, [])

    def test_a_cell_that_reads_itself_is_a_circle(self):
        sheet = Sheet()
        sheet.set("A1", "=A1+1")
        self.assertEqual(sheet.value("A1"), Error("#CYCLE"))

    def test_a_table_lines_up(self):
        sheet = run(["A1 = x", "B1 = 10", "B2 = =B1*10"], print)
        self.assertEqual(table(sheet), "   A  B\n1  x   10\n2     100\n")

    def test_a_command_that_is_none_names_its_line(self):
        with self.assertRaisesRegex(ValueError, "line 2"):
            run(["A1 = 1", "A0 = 1"], print)
