"""A suite of cases as a gate: where its cases come from, what is called live, what is locked, what came of it."""
