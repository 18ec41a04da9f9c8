"""The base of our pydantic models, and the one sentence that a refused value becomes."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError


class Model(BaseModel):
    """Data that cannot be changed and has no fields but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def first_fault(fault: ValidationError) -> str:
    """Return the first thing wrong as ``where: what``, or ``what`` alone where it is the whole value."""
    first = fault.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]
