import unittest

from larder import Disk, LarderError, load, migrate, put


class Migrations(unittest.TestCase):
    def setUp(self):
        self.disk = Disk()
        for number in range(1, 6):
            put(self.disk, f"jar-{number}", {"shelf": str(number)})

    def test_a_book_has_parts_of_four(self):
        migrate(self.disk)
        self.assertEqual(self.disk.names(), ["BOOK", "part-0001", "part-0002"])
        self.assertEqual(self.disk.read("BOOK"), "part-0001 jar-1 4\npart-0002 jar-5 1\nend\n")
        self.assertEqual(self.disk.read("part-0002"), "record jar-5 1\n shelf=5\n")

    def test_records_are_the_same_after_it(self):
        before = load(self.disk)
        migrate(self.disk)
        self.assertEqual(load(self.disk), before)

    def test_a_book_is_never_changed(self):
        migrate(self.disk)
        with self.assertRaises(LarderError):
            put(self.disk, "jar-9", {})
