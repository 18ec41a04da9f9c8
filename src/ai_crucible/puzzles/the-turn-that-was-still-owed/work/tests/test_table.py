import unittest

from foreman import Job, TableError, read_table


class Tables(unittest.TestCase):
    def test_tables_are_read(self):
        table = read_table("# x\nslots 3\nuser u 2\njob a u 3 4 until 9 after b priority -1\njob b u 1 1 save 5 at 2\n")
        self.assertEqual((table.slots, table.weights), (3, {"u": 2}))
        self.assertEqual(table.jobs["a"], Job("a", "u", 3, 4, -1, 0, ("b",), None, 9))
        self.assertEqual(table.jobs["b"], Job("b", "u", 1, 1, 0, 2, (), 5))

    def test_faults_name_their_lines(self):
        for text in ("", "slots 0\n", "slots 1\nuser u 0\n", "slots 1\njob a u 1 1\n", "slots 1\nuser u 1\njob a u 2 1\n", "slots 1\nuser u 1\njob a u 1 1 after b\n"):
            with self.assertRaises(TableError) as caught:
                read_table(text)
            self.assertEqual(caught.exception.line, max(1, text.count("\n")))
