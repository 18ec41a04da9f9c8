import unittest

from loom import LoomError, run


class Programs(unittest.TestCase):
    def test_strings_have_escapes_and_names(self):
        texts = run('who = "world"  # a comment\nhi = "Hello ${upper(who)}!\\n\\$"\n')
        self.assertEqual(texts, {"who": "world", "hi": "Hello WORLD!\n$"})

    def test_raw_strings_have_neither(self):
        self.assertEqual(run("a = 'it''s ${b} \\n'")["a"], "it's ${b} \\n")

    def test_brackets_go_on_over_lines(self):
        self.assertEqual(run('a = join(", ",  # between\n  "x",\n  "y")\n')["a"], "x, y")

    def test_faults_name_the_line_of_the_definition(self):
        for text, line in (("a = b\n", 1), ('a = ""\n\nb = "\\x"\n', 3), ("\nA = 'x'\n", 2), ("a = upper('x',\n'y')\n", 1)):
            with self.assertRaises(LoomError) as caught:
                run(text)
            self.assertEqual(caught.exception.line, line)
