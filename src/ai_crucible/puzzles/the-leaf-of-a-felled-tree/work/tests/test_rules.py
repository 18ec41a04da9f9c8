import unittest

from kiln import TOOLS, KilnError
from kiln.rules import rules_of


class Rules(unittest.TestCase):
    def test_a_star_stands_for_a_stem(self):
        rule = rules_of("src/*.txt -> out/*.up : upper\n", TOOLS)[0]
        self.assertEqual([rule.stem(path) for path in ("src/a.txt", "src/a.md", "lib/a.txt")], ["a", "", ""])

    def test_arguments_are_words(self):
        self.assertEqual(rules_of("a* -> out/* : head x y", TOOLS)[0].arguments, ("x", "y"))

    def test_faults_name_their_lines(self):
        for text, line in (("x\n", 1), ("\n# x\nsrc/a -> out/b : upper\n", 3), ("a* -> out/*\n", 1)):
            with self.assertRaises(KilnError) as caught:
                rules_of(text, TOOLS)
            self.assertEqual(caught.exception.line, line)
