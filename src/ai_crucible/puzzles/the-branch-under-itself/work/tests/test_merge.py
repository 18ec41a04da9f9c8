import unittest

from outline import Conflict, merge, parse, write

BASE = "- a One\n  @due=1\n- b Two\n  - c Three\n"


def merged(ours, theirs, base=BASE):
    found = merge(parse(base), parse(ours), parse(theirs))
    return write(found.tree), found.conflicts


class Merges(unittest.TestCase):
    def test_changes_of_both_sides_come_together(self):
        text, conflicts = merged(BASE.replace("One", "Uno"), BASE.replace("@due=1", "@due=2"))
        self.assertEqual(text, "- a Uno\n  @due=2\n- b Two\n  - c Three\n")
        self.assertEqual(conflicts, [])

    def test_what_both_changed_is_a_conflict(self):
        text, conflicts = merged(BASE.replace("One", "Uno"), BASE.replace("One", "Eins"))
        self.assertIn("- a Uno", text)
        self.assertEqual(conflicts, [Conflict("a", "field", "title")])

    def test_new_items_stand_behind_those_before_them(self):
        text, _ = merged(BASE + "- d\n", BASE.replace("- b", "- e\n- b"))
        self.assertEqual([line[2] for line in text.splitlines() if line.startswith("-")], ["a", "e", "b", "d"])

    def test_what_one_side_deleted_is_gone(self):
        text, _ = merged(BASE, "- a One\n  @due=1\n")
        self.assertEqual(text, "- a One\n  @due=1\n")
