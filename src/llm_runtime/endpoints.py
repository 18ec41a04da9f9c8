"""Where a provider listens: its address, its key, and the protocol that it speaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from llm_runtime.addresses import is_loopback
from llm_runtime.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a provider listens, and what it wants to see.

    Args:
        name: what errors, prices and limits call it: ``"openrouter"``, ``"ollama"``.
        base_url: ``http://`` or ``https://``, without a query; a trailing slash does not matter.
        key: sent in the one header of its kind and shown nowhere.
        kind: the protocol it speaks, which decides the header that carries the key.
        headers: further headers of every request; treated as secrets in everything shown.

    Raises:
        ConfigurationError: an address that is none, a key that would travel unencrypted beyond this machine,
            or one that no header can carry.
    """

    name: str
    base_url: str
    key: SecretStr | None = None
    kind: Literal["openai", "anthropic"] = "openai"
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
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
        if self.key is not None and parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            raise ConfigurationError(
                f"{self.name} has a key and an http:// base URL that is not this machine: use https://"
            )

    @property
    def local(self) -> bool:
        """Whether it is a server on this machine, where models are slow and cost nothing."""
        return is_loopback(urlsplit(self.base_url).hostname or "")


def _can_be_sent(secret: SecretStr | None) -> bool:
    # Here and not where it is raised, whose locals a traceback may show.
    return secret is None or (secret.get_secret_value().isascii() and secret.get_secret_value().isprintable())
