"""What an expression may name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef


@dataclass(frozen=True, slots=True)
class Scope:
    """What an invariant may name: the types of a specification and a record's fields."""

    spec: Spec
    variables: Mapping[str, TypeRef]
