import unittest

from trove import TroveError, Unresolvable, parse, resolve, why

INDEX = "tool 1.2: lib >=1 <3, log ^2\ntool 1.1: lib\nlib 2.0\nlib 3.0\nlog 2.4 yanked\nlog 2.3: lib? >=2\n"


class Resolves(unittest.TestCase):
    def test_what_is_needed_comes_along(self):
        self.assertEqual(resolve(parse(INDEX), ["tool"]), {"tool": "1.2", "lib": "2.0", "log": "2.3"})

    def test_what_is_preferred_comes_first(self):
        self.assertEqual(resolve(parse(INDEX), ["lib"], prefer={"lib": "<3"}), {"lib": "2.0"})

    def test_what_is_excluded_does_not_come(self):
        self.assertEqual(resolve(parse(INDEX), ["lib"], exclude=["lib =3.0"]), {"lib": "2.0"})

    def test_what_cannot_be_had_is_told(self):
        with self.assertRaises(Unresolvable) as caught:
            resolve(parse(INDEX), ["lib >=4"])
        self.assertEqual(caught.exception.wants, ["lib >=4"])

    def test_how_a_package_came_in(self):
        index = parse(INDEX)
        self.assertEqual(why(index, ["tool"], resolve(index, ["tool"]), "log"), ["tool", "log"])


class Reads(unittest.TestCase):
    def test_faults_name_their_lines(self):
        for text, line in (("lib\n", 1), ("lib 1\nLib 2\n", 2)):
            with self.assertRaises(TroveError) as caught:
                parse(text)
            self.assertEqual(caught.exception.line, line)
