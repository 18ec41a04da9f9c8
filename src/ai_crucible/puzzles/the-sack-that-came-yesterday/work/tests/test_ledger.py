import unittest

from granary import LogError, read, short, stock, taken

LOG = "1 in barn oats 10 250\n2 in barn oats 5 240\n# a comment\n\n3 out barn oats 12\n4 move barn oats 2 mill\n"


class Ledgers(unittest.TestCase):
    def test_the_oldest_goes_first(self):
        self.assertEqual(taken(read(LOG), 3), [(1, 10, 250), (2, 2, 240)])

    def test_what_is_left_lies_in_stores(self):
        self.assertEqual(stock(read(LOG), 2), {("barn", "oats"): (15, 3700)})
        self.assertEqual(stock(read(LOG), 4), {("barn", "oats"): (1, 240), ("mill", "oats"): (2, 480)})

    def test_what_is_missing_is_told(self):
        self.assertEqual(short(read(LOG + "5 out mill oats 3\n")), {5: 1})

    def test_what_is_void_was_not(self):
        self.assertEqual(stock(read(LOG + "void 3\n"), 3), {("barn", "oats"): (15, 3700)})

    def test_faults_name_their_lines(self):
        for text, line in (("x\n", 1), ("\n1 in barn oats 0 5\n", 2), ("1 move barn oats 1 barn\n", 1), ("void x\n", 1)):
            with self.assertRaises(LogError) as caught:
                read(text)
            self.assertEqual(caught.exception.line, line)
