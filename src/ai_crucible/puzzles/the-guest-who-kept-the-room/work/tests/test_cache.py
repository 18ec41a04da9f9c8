import unittest

from stash import Stash, StashError


class Caches(unittest.TestCase):
    def setUp(self):
        self.stash = Stash([100, 200])

    def test_what_was_used_least_recently_moves_down(self):
        for now, key in enumerate("abc"):
            self.stash.put(now, key, 40)
        self.assertEqual(self.stash.keys(3), [["b", "c"], ["a"]])
        self.assertEqual(self.stash.used(3), [80, 40])
        self.assertEqual(self.stash.counts.moved, 1)

    def test_what_is_found_moves_up(self):
        for now, key in enumerate("abc"):
            self.stash.put(now, key, 40)
        self.assertTrue(self.stash.get(4, "a"))
        self.assertEqual(self.stash.keys(5), [["c", "a"], ["b"]])

    def test_time_goes_by(self):
        self.stash.put(0, "a", 10, 5)
        self.assertTrue(self.stash.get(4, "a"))
        self.assertFalse(self.stash.get(6, "a"))
        self.assertEqual((self.stash.counts.hits, self.stash.counts.misses), (1, 1))
        with self.assertRaises(StashError):
            self.stash.get(5, "a")

    def test_what_is_pinned_stays(self):
        self.stash.put(0, "a", 60)
        self.assertEqual(self.stash.pin(0, "a"), 1)
        self.assertIsNone(self.stash.pin(0, "b"))
        self.stash.put(1, "b", 30)
        self.stash.put(2, "c", 30)
        self.assertEqual(self.stash.keys(2), [["a", "c"], ["b"]])
        self.stash.release(2, 1)
        with self.assertRaises(StashError):
            self.stash.release(2, 2)
