"""Where a provider listens: its address, its key, and the dialect that it speaks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from llm_runtime.addresses import is_loopback
from llm_runtime.dialects import GENERIC, Dialect
from llm_runtime.errors import ConfigurationError
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from llm_runtime.programs import AgentProgram

_SECRET_NAME = re.compile(r"auth|key|token|secret|password|cookie|signature", re.IGNORECASE)


class Endpoint(Struct):
    """Where a provider listens, and what it wants to see.

    Args:
        name: what errors, prices and limits call it: ``"openrouter"``, ``"ollama"``.
        base_url: ``http://`` or ``https://``, without a query; a trailing slash does not matter.
        key: sent in the one header of its kind and shown nowhere.
        dialect: what it speaks, which decides the wire and the header that carries the key.
        headers: further headers of every request; treated as secrets in everything shown.
        query: further parameters of every address, e.g. an API's version.
        context: tokens that its models can read and write in one call, where it is known; 1 or more.
        in_flight: calls that it takes at the same time; 1 or more.
        body: further fields of every request, over those that the dialect makes.
        key_command: prints the key, in place of :attr:`key`; see :mod:`llm_runtime.keys`.
        judged: whether it may only be at a public address, which is looked at where the connection is made.
        vision: whether its models see pictures; ``None`` leaves that to its list and to their names.
        program: answers in place of an address, in what is passed on of ``environment``.

    Raises:
        ConfigurationError: an address that is none, a key that would travel unencrypted beyond this machine,
            or one that no header can carry.
    """

    # Every call looks up what is kept for its endpoint, and few endpoints share these two: no more of it is hashed.
    name: str
    base_url: str
    key: SecretStr | None = field(default=None, hash=False)
    dialect: Dialect = field(default=GENERIC, hash=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False, hash=False)
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False, hash=False)
    context: int | None = field(default=None, hash=False)
    in_flight: int | None = field(default=None, hash=False)
    body: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, hash=False)
    judged: bool = field(default=False, hash=False)
    key_command: str = field(default="", repr=False, hash=False)
    vision: bool | None = field(default=None, hash=False)
    program: AgentProgram | None = field(default=None, repr=False, hash=False)
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, hash=False)

    def __post_init__(self) -> None:
        if self.program is not None:
            return
        try:
            parts = urlsplit(self.base_url)
            usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
        except ValueError:
            usable, parts = False, urlsplit("")
        if not usable or "@" in parts.netloc or parts.query or parts.fragment:
            raise ConfigurationError(
                f"the base URL of {self.name} must look like https://host/path, without user, query or fragment"
            )
        if not (_can_be_sent(self.key) and all(_can_be_sent(SecretStr(value)) for _, value in self.headers)):
            raise ConfigurationError(f"the key or a header of {self.name} holds a character that cannot be sent")
        if any(self.secrets()) and parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            raise ConfigurationError(
                f"{self.name} has a key and an http:// base URL that is not this machine: use https://"
            )

    def secrets(self) -> tuple[str, ...]:
        """Return the key, and what headers and parameters hold whose names say that it is secret."""
        key = () if self.key is None else (self.key.get_secret_value(),)
        return (*key, *(value for name, value in (*self.headers, *self.query) if _SECRET_NAME.search(name)))

    def with_header(self, name: str, value: str) -> Endpoint:
        """Return the same with a further header, unless it has one of that name."""
        has = any(own.lower() == name.lower() for own, _ in self.headers)
        return self if has else replace(self, headers=(*self.headers, (name, value)))

    @property
    def local(self) -> bool:
        """Whether it is a server of the user's own, where models are slow and cost nothing."""
        return self.dialect.local or is_loopback(urlsplit(self.base_url).hostname or "")


def _can_be_sent(secret: SecretStr | None) -> bool:
    # Here and not where it is raised, whose locals a traceback may show.
    return secret is None or (secret.get_secret_value().isascii() and secret.get_secret_value().isprintable())
