import unittest

from larder import Disk, LarderError, Record, load, put


class Formats(unittest.TestCase):
    def test_what_is_put_is_loaded(self):
        disk = Disk()
        put(disk, "salt", {"shelf": "2", "note": "two bags"})
        self.assertEqual(disk.files, {"salt.rec": "rev=1\nnote=two bags\nshelf=2\nend\n"})
        self.assertEqual(load(disk), {"salt": Record("salt", 1, {"shelf": "2", "note": "two bags"})})

    def test_revisions_go_up(self):
        disk = Disk()
        put(disk, "salt", {})
        self.assertEqual(put(disk, "salt", {"shelf": "3"}).revision, 2)

    def test_a_record_that_is_not_whole_is_not_there(self):
        self.assertEqual(load(Disk({"salt.rec": "rev=1\nshelf=2\n"})), {})

    def test_a_key_has_letters_digits_and_dashes(self):
        with self.assertRaises(LarderError):
            put(Disk(), "a b", {})
