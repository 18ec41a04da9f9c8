"""The base of states and queries as they are written down: camel-case wire keys."""

from __future__ import annotations

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from llm_runtime.models import Model


class CamelCase(Model):
    """Data whose keys on disk are the camel-case ones of the specification's TypeScript types."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
