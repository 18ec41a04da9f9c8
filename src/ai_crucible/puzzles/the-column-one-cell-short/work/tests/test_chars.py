import contextlib
import io
import unittest

from galley.__main__ import main
from galley.chars import BREAK, JOINER, SOFT, cells, is_mark


class Chars(unittest.TestCase):
    def test_cells_of_single_characters(self):
        self.assertEqual([cells(char) for char in "a漢가！"], [1, 2, 2, 2])
        self.assertEqual([cells(char) for char in ("\u0301", BREAK, SOFT, JOINER)], [0, 0, 0, 0])

    def test_joiners_are_marks(self):
        self.assertEqual([is_mark(char) for char in (JOINER, "\u0301", SOFT, "a")], [True, True, False, False])


class Commands(unittest.TestCase):
    def test_a_text_is_printed_in_lines(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(main(["5"], "one two\n"), 0)
        self.assertEqual(out.getvalue(), "one\ntwo\n")
