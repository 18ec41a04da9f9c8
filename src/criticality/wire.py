"""The base of everything that is written down: frozen, strict, with the specification's camel-case wire keys."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Strict(BaseModel):
    """Frozen data that refuses unknown keys: what files and models hand in."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Wire(BaseModel):
    """Frozen data whose keys on disk are the camel-case ones of the specification's TypeScript types."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")
