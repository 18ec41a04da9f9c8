import unittest

from plait import Fault, parse, write
from plait.values import value_of


class Texts(unittest.TestCase):
    def test_what_is_written_is_read(self):
        text = 'colour = "r\\n"\nsize:\n  deep:\n    x = true\nrooms[]:\n  - "bath"\n    y = null\n  - "hall"\n'
        self.assertEqual(write(parse(text)), text)
        self.assertEqual([each.key for each in parse(text).entries], ["colour", "size", "rooms"])

    def test_values_mean_something(self):
        self.assertEqual(value_of("15e-1"), value_of("1.50"))
        self.assertEqual(value_of('"\\u0061"'), value_of('"a"'))
        self.assertNotEqual(value_of("[1, 2]"), value_of("[2, 1]"))

    def test_faults_name_lines(self):
        for text, line in (("a = 1\na = 2\n", 2), ("a:\n   b = 1\n", 2), ("a = 1x\n", 1), ("a = 1\n  b = 1\n", 2), ("a[]:\n  - 1\n  - 1.0\n", 3), ("a[]:\n  b = 1\n", 2)):
            with self.assertRaises(Fault) as caught:
                parse(text)
            self.assertEqual(caught.exception.line, line)
