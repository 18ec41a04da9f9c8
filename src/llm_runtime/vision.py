"""Which models see pictures, and how many tokens a picture takes: the families of ``vision.toml``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from math import ceil, inf

from pydantic import TypeAdapter

from llm_runtime.messages import Picture
from llm_runtime.structs import Struct
from llm_runtime.toml import own_table


class Family(Struct):
    """Models that see in one way; ``vision.toml`` says what the fields mean."""

    match: str = ""
    sees: bool | None = None
    cell: int = 28
    longest: float = inf
    shortest: float = inf
    most: int = 4_784
    base: int = 0
    each: float = 1.0

    def tokens(self, width: int, height: int) -> int:
        """Return what a picture of so many pixels takes.

        >>> Family(cell=32, most=1536).tokens(1024, 1024)
        1024
        """
        scale = min(1.0, self.longest / max(width, height, 1), self.shortest / max(min(width, height), 1))
        cells = ceil(width * scale / self.cell) * ceil(height * scale / self.cell)
        return self.base + ceil(min(cells, self.most) * self.each)


@cache
def family_of(model: str) -> Family:
    """Return the family of a model by its name; one that may or may not see where it is of none."""
    return next((one for one in _families() if re.search(one.match, model.lower())), Family())


@cache
def _families() -> tuple[Family, ...]:
    return TypeAdapter(tuple[Family, ...]).validate_python(own_table("llm_runtime", "vision.toml")["family"])


def picture_tokens(model: str, pictures: Iterable[Picture]) -> int:
    """Return what pictures take of a model's prompt, by its vendor's rule; of unknown models, about the most."""
    return sum([family_of(model).tokens(one.width, one.height) for one in pictures])
