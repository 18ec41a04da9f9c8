"""The base of our pydantic models, and the one sentence that a refused value becomes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from pydantic import BaseModel, ConfigDict, ValidationError

from llm_runtime.errors import ConfigurationError, LlmRuntimeError


class Model(BaseModel):
    """Data that cannot be changed and has no fields but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


# Of those that follow: it has no fields itself, and to look for their texts in its source takes 15 ms.
Model.model_config["use_attribute_docstrings"] = True


#: What people meet most often, in plain words and none of Python's.
PLAIN = {
    **{"missing": "missing", "extra_forbidden": "there is no such field", "dict_type": "Input should be a table"},
    **dict.fromkeys(("tuple_type", "list_type", "set_type", "frozen_set_type"), "Input should be a list"),
    **{"float_parsing": "Input should be a valid number", "int_parsing": "Input should be a valid integer"},
}


def first_fault(fault: ValidationError, whole: str = "", *, plain: bool = False) -> str:
    """Return the first thing wrong as ``where: what``.

    Args:
        fault: what pydantic raised.
        whole: names the place where the whole value is wrong; without a name there is ``what`` alone.
        plain: it is for a person. Models are told pydantic's own words, which logs hold.
    """
    first = fault.errors(include_url=False, include_input=False)[0]
    where, what = ".".join(map(str, first["loc"])) or whole, first["msg"]
    if plain:
        what = PLAIN.get(first["type"], what.removeprefix("Value error, "))
    return f"{where}: {what}" if where else what


@contextmanager
def fits(where: str, kind: type[LlmRuntimeError] = ConfigurationError, end: str = "") -> Generator[None]:
    """Say of what does not fit a model where it does not: ``where``, the first fault, the end of the sentence."""
    try:
        yield
    except ValidationError as fault:
        raise kind(f"{where}{first_fault(fault, plain=True)}{end}") from None
