"""Records that go up and down through the versions of their schema."""

from strata.crossing import to_version
from strata.errors import RecordError, SchemaError
from strata.schema import Schema, fields_of, read_schema
from strata.store import migrate
from strata.update import update

__all__ = ["RecordError", "Schema", "SchemaError", "fields_of", "migrate", "read_schema", "to_version", "update"]
