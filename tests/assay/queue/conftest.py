"""A queue in a PostgreSQL of the tests' own, and the command line over it."""

from tests.assay.batch.conftest import postgres, postgres_url, server, shell

__all__ = ["postgres", "postgres_url", "server", "shell"]
