import unittest

from stash import ScriptError, follow, read_script


class Scripts(unittest.TestCase):
    def test_scripts_are_read(self):
        capacities, requests = read_script("# x\ntiers 10 20\n\n0 put a 5 for 7 again\n1 get a\n2 resize 0 5\n")
        self.assertEqual(capacities, [10, 20])
        self.assertEqual(requests, [(0, "put", ("a", 5, 7, True)), (1, "get", ("a",)), (2, "resize", (0, 5))])

    def test_scripts_are_followed(self):
        lines = list(follow("tiers 10\n0 put a 5\n1 get b\n2 pin a\n2 put b 11\n"))
        self.assertEqual(lines[:4], ["0 put a: done", "1 get b: nothing", "2 pin a: ticket 1", "2 put b: refused"])

    def test_faults_name_their_lines(self):
        for text in ("", "put\n", "tiers 1\n0 put a\n", "tiers 1\n\n0 get a b\n", "tiers 1 x\n"):
            with self.assertRaises(ScriptError) as caught:
                read_script(text)
            self.assertEqual(caught.exception.line, max(1, text.count("\n")))
