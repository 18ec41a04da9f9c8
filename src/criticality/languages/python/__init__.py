"""The first target language: how a lattice becomes Python, and what Python's own tools say of it."""
