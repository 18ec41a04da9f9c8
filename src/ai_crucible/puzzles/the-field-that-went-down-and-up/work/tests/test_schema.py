import unittest

from strata import SchemaError, fields_of, read_schema


class Schemas(unittest.TestCase):
    def test_versions_know_their_fields(self):
        schema = read_schema('# x\nfields a b\nversion 2\njoin a b c " "\nlist c\nversion 3\nadd d {"x": 1}\n')
        self.assertEqual(schema.latest, 3)
        self.assertEqual([fields_of(schema, version) for version in (1, 2, 3)], [["a", "b"], ["c"], ["c", "d"]])

    def test_faults_name_their_lines(self):
        for text in ("", "x\n", "fields a a\n", "fields a\nadd b 1\n", "fields a\nversion 3\n", "fields a\nversion 2\nlist b\n"):
            with self.assertRaises(SchemaError) as caught:
                read_schema(text)
            self.assertEqual(caught.exception.line, max(1, text.count("\n")))
