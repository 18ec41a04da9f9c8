"""Functions that stand in a Python package already: read, never run but in the sealed process."""
