import unittest

from porter import Group, PolicyError, Rule, read_policy


class Texts(unittest.TestCase):
    def test_policies_are_read(self):
        policy = read_policy("# x\naction read\ngroup a ann @b -cid -@c\ngroup b\ngroup c\nfinal deny @a read /x/*/y\n")
        self.assertEqual(policy.groups["a"], Group("a", 3, ("ann",), ("b",), ("cid",), ("c",)))
        self.assertEqual(policy.rules, (Rule(6, False, "@a", "read", ("x", "*", "y"), True),))

    def test_faults_name_their_lines(self):
        for text in ("x\n", "action\n", "action a implies b\n", "action a\nallow @g a /\n", "action a\nallow u a x\n", "group g @h\n"):
            with self.assertRaises(PolicyError) as caught:
                read_policy(text)
            self.assertEqual(caught.exception.line, text.count("\n"))
