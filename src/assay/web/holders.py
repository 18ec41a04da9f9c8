"""Who has a purse of their own on a server: a person, or the key of a program."""

from __future__ import annotations

import re
import secrets
from typing import ClassVar

from pydantic import Field

from assay.batch.spending import Period
from llm_runtime.clock import now_ms
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


class Holder(Model):
    """Who has a purse of their own: a person, or the key of a program.

    Args:
        what: they are, in words.
        name: for people.
        budget: dollars that their runs may spend together in a period; ``None`` is no bound.
        per: the period, in UTC.
        id: drawn when they are added; their runs and their purse go by it. One without goes by its name.
        since: when they were added, in milliseconds since 1970.
    """

    what: ClassVar[str]
    name: str
    budget: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    per: Period = "day"
    id: str = ""
    since: int = 0

    @property
    def whose(self) -> str:
        """By what runs and purse are known as theirs."""
        return self.id or self.name

    def drawn(self) -> dict[str, str | int]:
        """Return their id and since when, for who is added now.

        Raises:
            ConfigurationError: the name is none.
        """
        if not _NAME.fullmatch(self.name):
            raise ConfigurationError(
                f"{self.name[:60]} is no name of a {self.what}; use a-z 0-9 . _ -, 40 at the most"
            )
        # No name has such a sign.
        return {"id": f"{self.name}~{secrets.token_hex(8)}", "since": now_ms()}
