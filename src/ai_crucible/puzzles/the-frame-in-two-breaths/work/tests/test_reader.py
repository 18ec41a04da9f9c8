import unittest

from parley import Fault, Lost, Message, Ping, Reader, Stopped


class Reads(unittest.TestCase):
    def test_a_message_is_put_together(self):
        reader = Reader()
        self.assertEqual(reader.feed(b"DATA 7 5 +\nHello\n"), [])
        self.assertEqual(reader.feed(b"DATA 7 6\n world\n"), [Message(7, "Hello world")])

    def test_a_ping_may_come_between(self):
        reader = Reader()
        self.assertEqual(reader.feed(b"DATA 7 1 +\r\na\r\nPING 3 0\n\nDATA 7 0\n\n"), [Ping(3), Message(7, "a")])

    def test_what_is_stopped_is_told(self):
        self.assertEqual(Reader().feed(b"DATA 7 1 +\na\nSTOP 7 0\n\n"), [Stopped(7)])

    def test_what_does_not_go_on_is_lost(self):
        reader = Reader(patience=2)
        reader.feed(b"DATA 7 1 +\na\n")
        self.assertEqual(reader.tick(), [])
        self.assertEqual(reader.tick(), [Lost(7)])

    def test_no_head(self):
        self.assertEqual(Reader().feed(b"HELLO\nPING 1 0\n\n"), [Fault("head"), Ping(1)])

    def test_a_closed_reader_reads_nothing(self):
        reader = Reader()
        reader.feed(b"DATA 7 1 +\na\n")
        self.assertEqual(reader.close(), [Lost(7)])
        self.assertRaises(ValueError, reader.feed, b"")
