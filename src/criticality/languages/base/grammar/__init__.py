"""Source operations on tree-sitter: for every language by one table."""
