import unittest

from loom import run


class Documents(unittest.TestCase):
    def test_a_document_is_its_lines(self):
        self.assertEqual(run('w = "you"\na = <<END + "!"\nDear ${w},\n "x"\nEND\nb = a\n')["b"], 'Dear you,\n "x"\n!')

    def test_indentation_is_taken_off(self):
        self.assertEqual(run("a = <<~END\n    x\n      y\n    END\n")["a"], "x\n  y\n")

    def test_a_raw_document_is_as_it_stands(self):
        self.assertEqual(run("a = <<'END'\n${b} \\n 'x'\nEND\n")["a"], "${b} \\n 'x'\n")
