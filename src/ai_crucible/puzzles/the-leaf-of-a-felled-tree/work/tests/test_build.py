import unittest

from kiln import Disk, build

RULES = "# two rules\nsrc/*.txt -> out/*.up : upper\nsrc/*.md -> out/*.html : head lib/head.txt\n"
FILES = {"kiln.txt": RULES, "src/a.txt": "a\n", "src/b.md": "b\n", "lib/head.txt": "top\n"}


class Builds(unittest.TestCase):
    def test_files_are_made_by_rules(self):
        disk = Disk(FILES)
        result = build(disk)
        self.assertEqual(disk.read("out/a.up"), "A\n")
        self.assertEqual(disk.read("out/b.html"), "top\nb\n")
        self.assertEqual(result.ran, [(2, "src/a.txt"), (3, "src/b.md")])
        self.assertEqual(result.written, ["out/a.up", "out/b.html"])

    def test_nothing_is_made_again(self):
        disk = Disk(FILES)
        build(disk)
        self.assertEqual(build(disk).ran, [])

    def test_what_changed_is_made_again(self):
        disk = Disk(FILES)
        build(disk)
        disk.write("src/a.txt", "c\n")
        self.assertEqual(build(disk).ran, [(2, "src/a.txt")])
        self.assertEqual(disk.read("out/a.up"), "C\n")

    def test_what_cannot_be_made_is_told(self):
        disk = Disk({"kiln.txt": "src/*.txt -> out/*/ : parts\n", "src/a.txt": "x\n", "src/b.txt": "= one\nx\n"})
        self.assertEqual(build(disk).failed, [(1, "src/a.txt")])
        self.assertEqual(disk.read("out/b/one"), "x\n")
