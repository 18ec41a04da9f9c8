import unittest

from trove.ranges import Range
from trove.versions import Version


class Versions(unittest.TestCase):
    def test_numbers_are_numbers(self):
        self.assertTrue(Version("1.9") < Version("1.10"))

    def test_ranges_have_versions(self):
        for text, version, there in (("", "1", True), (">=1 <2", "1.5", True), (">=1 <2", "2", False), ("^1.2", "1.9", True), ("!=1.2", "1.2", False)):
            self.assertEqual(Range(text).has(Version(version)), there)
