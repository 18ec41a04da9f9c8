import unittest

from sift import QueryError, Shelf, answer

ORDERS = [(1, 7, 30), (2, None, 5), (3, 8, 12), (4, 7, 12)]
PEOPLE = [(7, "Ada"), (8, "Bo"), (9, "Cy")]


def shelves():
    return {"orders": Shelf(("id", "who", "sum"), ORDERS, {"who"}), "people": Shelf(("id", "name"), PEOPLE, {"id"})}


class Answers(unittest.TestCase):
    def test_joins(self):
        found = answer(shelves(), "select o.id, p.name from orders o join people p on p.id = o.who where o.sum < 30")
        self.assertEqual(found, [(3, "Bo"), (4, "Ada")])

    def test_left_joins(self):
        found = answer(shelves(), "select p.id, o.id from people p left join orders o on o.who = p.id")
        self.assertEqual(found, [(7, 1), (7, 4), (8, 3), (9, None)])

    def test_order_and_limit(self):
        found = answer(shelves(), "select o.id from orders o order by o.sum desc, o.id limit 3")
        self.assertEqual(found, [(1,), (3,), (4,)])

    def test_all_columns(self):
        self.assertEqual(answer(shelves(), "select * from people where people.name in ('Cy', 'It''s')"), [(9, "Cy")])

    def test_what_is_not_there_is_refused(self):
        for text in ("select o.x from orders o", "select o.id from order o", "select * from orders o where", "select * from orders where p.id = 1"):
            with self.assertRaises(QueryError):
                answer(shelves(), text)
