import unittest

from outline import OutlineError, parse, write

TEXT = """- shop Go shopping
  @due=2026-03-01
  - milk Two bottles
  - bread
- call Call the plumber
"""


class Texts(unittest.TestCase):
    def test_what_is_read_is_written(self):
        self.assertEqual(write(parse(TEXT)), TEXT)

    def test_a_tree_has_parents_and_order(self):
        tree = parse(TEXT)
        self.assertEqual(tree["milk"].parent, "shop")
        self.assertEqual(tree.below["shop"], ["milk", "bread"])
        self.assertEqual(tree["bread"].fields, {"title": ""})

    def test_faults_name_their_lines(self):
        for text, line in (("- a\n   - b\n", 2), ("- a\n    - b\n", 2), ("- a\n- a\n", 2), ("x\n", 1), ("- a\n@k=v\n", 2)):
            with self.assertRaises(OutlineError) as caught:
                parse(text)
            self.assertEqual(caught.exception.line, line)
