import unittest

from sift import QueryError, Shelf, parse
from sift.terms import And, Column, Compare, Literal, Not, Null


class Parses(unittest.TestCase):
    def test_conditions(self):
        query = parse("select * from a where not a.x = -1 and a.y is not null")
        self.assertEqual(query.where, And((Not(Compare("=", Column("a", "x"), Literal(-1))), Null(Column("a", "y"), True))))

    def test_faults(self):
        for text in ("", "select a.x", "select * from a limit -1", "select * from a left b on a.x = b.x", "select * from a where a.x in ()", "select * from a where a.x = 'b"):
            with self.assertRaises(QueryError):
                parse(text)


class Shelves(unittest.TestCase):
    def test_rows_are_counted(self):
        shelf = Shelf(("x", "y"), [(1, 2), (None, 3), (1, 4)], {"x"})
        self.assertEqual(list(shelf.find("x", 1)), [(0, (1, 2)), (2, (1, 4))])
        self.assertEqual((shelf.size, shelf.count("x", 1), shelf.count("x", None), shelf.handed), (3, 2, 0, 2))
