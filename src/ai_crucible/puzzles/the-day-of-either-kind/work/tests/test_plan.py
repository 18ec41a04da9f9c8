"""Tables of jobs: what is read, written, due and told on the command line."""

import contextlib
import io
import tempfile
import unittest
from datetime import datetime
from pathlib import Path

from wheel import TableError, due, read_table, write_table
from wheel.__main__ import main

TABLE = "# jobs\nbackup | 0 2 * * * | run backup | tee log\n\nreport | */30 8-9 * * MON | run report\n"


class Plans(unittest.TestCase):
    def test_in_order_of_time(self):
        runs = due(read_table(TABLE), datetime(2026, 3, 2), datetime(2026, 3, 3))
        self.assertEqual([(run.at.hour, run.at.minute, run.job.name) for run in runs], [(2, 0, "backup"), (8, 0, "report"), (8, 30, "report"), (9, 0, "report"), (9, 30, "report")])
        self.assertEqual(len(due(read_table(TABLE), datetime(2026, 3, 2), datetime(2026, 3, 3), most=2)), 2)

    def test_from_the_first_moment_until_before_the_last(self):
        runs = due(read_table(TABLE), datetime(2026, 3, 3, 2), datetime(2026, 3, 4, 2))
        self.assertEqual([run.at for run in runs], [datetime(2026, 3, 3, 2)])

    def test_what_is_no_table(self):
        for text, line in (("x | * * * * *\n", 1), ("\nX | * * * * * | run\n", 2), ("x | * * * * | run\n", 1), ("x | @daily | a\n#\nx | @daily | b\n", 3)):
            with self.assertRaises(TableError) as caught:
                read_table(text)
            self.assertEqual(caught.exception.line, line)

    def test_written_and_read(self):
        self.assertEqual(read_table(write_table(read_table(TABLE))), read_table(TABLE))

    def test_the_command_line(self):
        with tempfile.TemporaryDirectory() as room:
            path = Path(room, "t")
            path.write_text(TABLE)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                self.assertEqual(main([str(path), "--from", "2026-03-02", "--days", "2"]), 0)
                self.assertEqual(main([str(path), "--from", "2026-03-02", "--counts"]), 0)
                self.assertEqual(main(["--next", "0 0 30 2 *", "--from", "2026-03-02"]), 0)
            self.assertEqual(main_quietly(["--next", "x"]), 1)
        self.assertTrue(out.getvalue().startswith("2026-03-02 Mon\n  02:00  backup  run backup | tee log\n"))
        self.assertTrue(out.getvalue().endswith("    4  report\n    1  backup\nnever\n"))


def main_quietly(words):
    with contextlib.redirect_stderr(io.StringIO()):
        return main(words)


if __name__ == "__main__":
    unittest.main()
