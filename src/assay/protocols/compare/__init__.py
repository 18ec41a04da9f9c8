"""The same tasks by several methods at equal spend: single, self-consistency, council; with intervals."""
