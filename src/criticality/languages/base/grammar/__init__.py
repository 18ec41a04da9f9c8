"""Source operations on tree-sitter: what Python does with its own parser, for every other language by one table."""
