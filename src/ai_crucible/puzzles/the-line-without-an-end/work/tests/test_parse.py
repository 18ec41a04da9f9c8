"""Patches as they are read."""

import unittest

from patchwork import PatchError, read_patch

DIFF = """\
diff --git a/x b/x
--- a/x\t2026-01-01
+++ b/x
@@ -1,2 +1,2 @@ a title
-one
+ONE
 two
@@ -9 +9,0 @@
-nine
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+here
"""


class Reading(unittest.TestCase):
    def test_files_and_hunks(self):
        files = read_patch(DIFF)
        self.assertEqual([(one.old_name, one.new_name) for one in files], [("a/x", "b/x"), ("/dev/null", "b/new")])
        first, second = files[0].hunks
        self.assertEqual(first.edits, [("-", "one\n"), ("+", "ONE\n"), (" ", "two\n")])
        self.assertEqual((first.index, second.index, files[1].hunks[0].index), (0, 8, 0))

    def test_a_hunk_has_as_many_lines_as_it_says(self):
        for text, line in (("@@ -1 +1 @@\n-a\n", 3), ("@@ -1 +1 @@\n-a\n-b\n+c\n", 3), ("@@ -1,2 +1,2 @@\n a\nb\n", 5)):
            with self.assertRaises(PatchError) as caught:
                read_patch("--- a/x\n+++ b/x\n" + text)
            self.assertEqual(caught.exception.line, line)

    def test_a_hunk_belongs_to_a_file(self):
        with self.assertRaises(PatchError):
            read_patch("@@ -1 +1 @@\n-a\n+b\n")


if __name__ == "__main__":
    unittest.main()
