"""Out-of-band grading: the programs that run in the grading box and beside it."""
