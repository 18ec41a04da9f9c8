import unittest

from plait import Conflict, Fault, merge

BASE = 'colour = "red"\nsize:\n  area = 12\n  depth = 3\nrooms[]:\n  - "bath"\n    doors = 1\n'


class Merges(unittest.TestCase):
    def test_changes_of_both_are_there(self):
        merged = merge(BASE, BASE.replace("red", "blue"), BASE.replace("  depth", "  warm = true\n  depth"))
        self.assertEqual(merged.conflicts, [])
        for part in ('colour = "blue"', "warm = true"):
            self.assertIn(part, merged.text)

    def test_conflicts_have_paths(self):
        merged = merge(BASE, BASE.replace("12", "13"), BASE.replace("12", "14"))
        self.assertEqual(merged.conflicts, [Conflict("value", "/size/area")])
        self.assertEqual(str(merged.conflicts[0]), "value /size/area")

    def test_items_are_known_by_their_keys(self):
        merged = merge(BASE, BASE.replace("doors = 1", "doors = 1\n    tub = true"), BASE + '  - "hall"\n')
        self.assertIn('- "hall"', merged.text)
        self.assertIn("tub = true", merged.text)

    def test_what_both_deleted_is_gone(self):
        merged = merge(BASE, 'colour = "red"\n', 'colour = "red"\n')
        self.assertEqual(merged.text, 'colour = "red"\n')

    def test_faults_name_version_and_line(self):
        with self.assertRaises(Fault) as caught:
            merge(BASE, BASE, BASE + "x\n")
        self.assertEqual((caught.exception.version, caught.exception.line), ("theirs", 8))
