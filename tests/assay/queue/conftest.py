"""A queue in a PostgreSQL of the tests' own, and the command line over it."""

from tests.assay.batch.conftest import postgres, postgres_url, server, shell
from tests.assay.trial.conftest import boxes, inspect

__all__ = ["boxes", "inspect", "postgres", "postgres_url", "server", "shell"]
