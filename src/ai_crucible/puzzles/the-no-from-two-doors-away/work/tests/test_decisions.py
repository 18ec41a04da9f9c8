import unittest

from porter import Reason, idle, members, read_policy, who, why

POLICY = """
action read
action write implies read
group staff ann bob @temps -eve
group temps cid eve
allow @staff read /docs
allow ann write /docs/plans
deny cid read /docs/plans
allow * read /public
"""


class Decisions(unittest.TestCase):
    def setUp(self):
        self.policy = read_policy(POLICY)

    def test_groups_have_members(self):
        self.assertEqual(members(self.policy, "staff"), {"ann", "bob", "cid"})

    def test_reasons(self):
        self.assertEqual(why(self.policy, "bob", "read", "/docs"), Reason(True, 6, ("staff",)))
        self.assertEqual(why(self.policy, "cid", "read", "/docs/x"), Reason(True, 6, ("staff", "temps")))
        self.assertEqual(why(self.policy, "cid", "read", "/docs/plans"), Reason(False, 8))
        self.assertEqual(why(self.policy, "ann", "read", "/docs/plans/x"), Reason(True, 7))
        self.assertEqual(why(self.policy, "eve", "read", "/docs"), Reason(False))

    def test_reports(self):
        self.assertEqual(who(self.policy, "write", "/docs/plans")[0], ["ann"])
        self.assertEqual(who(self.policy, "read", "/public")[1], True)
        self.assertEqual(idle(self.policy), [])
