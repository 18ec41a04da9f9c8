import json
import unittest

from strata import RecordError, migrate, read_schema, to_version, update

SCHEMA = """
fields title colour price note
version 2
rename colour color
add tags []
version 3
scale price 100
map color {"red": "warm", "blue": "cold"}
drop note ""
"""


class Records(unittest.TestCase):
    def setUp(self):
        self.schema = read_schema(SCHEMA)
        self.record = {"version": 1, "fields": {"title": "x", "colour": "red", "price": 3}}

    def test_records_go_up(self):
        fields = to_version(self.schema, self.record, 3)["fields"]
        self.assertEqual(fields, {"title": "x", "color": "warm", "price": 300, "tags": []})

    def test_there_is_no_such_version(self):
        with self.assertRaises(RecordError):
            to_version(self.schema, self.record, 4)

    def test_another_version_writes(self):
        new = {"version": 2, "fields": {"title": "x", "color": "red", "price": 3, "tags": []}}
        self.assertEqual(update(self.schema, new, 1, {"colour": "blue"})["fields"]["color"], "blue")

    def test_a_text_of_records(self):
        text, faults = migrate(self.schema, json.dumps(self.record) + "\n", 2)
        self.assertEqual(json.loads(text)["fields"], {"title": "x", "color": "red", "price": 3, "tags": []})
        self.assertEqual(faults, [])
        self.assertEqual([line for line, _ in migrate(self.schema, "x\n", 2)[1]], [1])
