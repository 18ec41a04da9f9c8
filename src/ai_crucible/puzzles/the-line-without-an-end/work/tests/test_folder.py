"""Patches on a folder."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from patchwork import Conflict, apply_to_folder, read_patch, table
from patchwork.__main__ import main

DIFF = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n--- /dev/null\n+++ b/n/y\n@@ -0,0 +1,2 @@\n+1\n+2\n--- a/z\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n"


class Folders(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.folder = Path(room.name)
        (self.folder / "x").write_text("a\n")
        (self.folder / "z").write_text("z\n")

    def test_changed_made_and_taken_away(self):
        self.assertEqual(apply_to_folder(read_patch(DIFF), self.folder), ["n/y", "x", "z"])
        self.assertEqual((self.folder / "x").read_text() + (self.folder / "n/y").read_text(), "A\n1\n2\n")
        self.assertFalse((self.folder / "z").exists())

    def test_a_file_that_is_not_there(self):
        with self.assertRaises(Conflict):
            apply_to_folder(read_patch(DIFF.replace("a/x", "a/q").replace("b/x", "b/q")), self.folder)

    def test_nothing_outside(self):
        with self.assertRaises(ValueError):
            apply_to_folder(read_patch(DIFF.replace("b/n/y", "b/../y")), self.folder)

    def test_the_command_line(self):
        patch = self.folder / "p.diff"
        patch.write_text(DIFF)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(main([str(patch), "--table"]), 0)
            self.assertEqual(main([str(patch), "-C", str(self.folder)]), 0)
            self.assertEqual(main([str(patch), "-C", str(self.folder), "-R"]), 0)
        self.assertEqual((self.folder / "z").read_text(), "z\n")
        self.assertIn(" 3 files, 3 gained, 2 lost\nn/y\nx\nz\n", out.getvalue())
        self.assertEqual(table([]), " 0 files, 0 gained, 0 lost\n")


if __name__ == "__main__":
    unittest.main()
