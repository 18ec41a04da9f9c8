"""A standing service: runs that wait in PostgreSQL, and the workers that carry them out."""
