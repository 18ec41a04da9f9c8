import unittest

from parley import Message, Reader, frames


class Writes(unittest.TestCase):
    def test_a_message_is_cut_into_frames(self):
        self.assertEqual(frames(3, "abcde", 2), b"DATA 3 2 +\nab\nDATA 3 2 +\ncd\nDATA 3 1\ne\n")

    def test_what_is_written_is_read(self):
        self.assertEqual(Reader().feed(frames(3, "one\ntwo", 4)), [Message(3, "one\ntwo")])
