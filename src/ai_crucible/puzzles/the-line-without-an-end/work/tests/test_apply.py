"""Hunks on a text."""

import unittest

from patchwork import Conflict, apply_hunks, read_patch, turned

HEAD = "--- a/x\n+++ b/x\n"


def hunks(text):
    return read_patch(HEAD + text)[0].hunks


class Applying(unittest.TestCase):
    def test_where_it_says(self):
        self.assertEqual(apply_hunks(hunks("@@ -2 +2 @@\n-b\n+B\n"), "a\nb\nc\n"), "a\nB\nc\n")

    def test_somewhere_near(self):
        self.assertEqual(apply_hunks(hunks("@@ -1 +1 @@\n-b\n+B\n"), "a\na\nb\nc\n"), "a\na\nB\nc\n")

    def test_nowhere(self):
        with self.assertRaises(Conflict) as caught:
            apply_hunks(hunks("@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-z\n+Z\n"), "a\nb\nc\n")
        self.assertEqual(caught.exception.number, 2)

    def test_only_added(self):
        self.assertEqual(apply_hunks(hunks("@@ -1,0 +2 @@\n+x\n"), "a\nb\n"), "a\nx\nb\n")

    def test_back_again(self):
        patch = read_patch(HEAD + "@@ -1,3 +1,2 @@\n a\n-b\n-c\n+C\n")
        self.assertEqual(apply_hunks(turned(patch)[0].hunks, "a\nC\n"), "a\nb\nc\n")


if __name__ == "__main__":
    unittest.main()
