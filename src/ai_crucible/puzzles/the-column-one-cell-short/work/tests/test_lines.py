import unittest

from galley import clusters, fit, width, wrap


class Lines(unittest.TestCase):
    def test_marks_belong_to_letters(self):
        self.assertEqual(clusters("ae\u0301x"), ["a", "e\u0301", "x"])
        self.assertEqual(width("ae\u0301x"), 3)

    def test_texts_are_wrapped(self):
        self.assertEqual(wrap("one two three", 7), ["one two", "three"])
        self.assertEqual(wrap("a\n\nb", 5), ["a", "", "b"])
        self.assertEqual(wrap("over\u00adstated", 6), ["over-", "stated"])
        self.assertEqual(wrap("abcdef", 4), ["abcd", "ef"])
        with self.assertRaises(ValueError):
            wrap("a", 0)

    def test_lines_fit(self):
        self.assertEqual([fit("ab", 4), fit("ab", 4, "right"), fit("ab", 4, "centre")], ["ab  ", "  ab", " ab "])
        self.assertEqual(fit("abcdef", 4), "abc…")
