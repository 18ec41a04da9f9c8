"""Webhooks: signed, never followed elsewhere, never in the way.

An address is https, or http on this machine. What its name leads to is judged where the connection is made: it must
be public, or this machine. Redirects are failures.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from llm_runtime.addresses import Address, is_public
from llm_runtime.errors import ConfigurationError
from llm_runtime.http.public import connector_to

SECONDS = 5.0


async def deliver(
    url: str, payload: Mapping[str, Any], sender: str, secret: str = "", *, seconds: float = SECONDS
) -> str:
    """Send a payload as JSON, once, and return what came of it in words: ``"sent"`` where it was taken.

    Args:
        url: of the webhook.
        sender: who sends, in lower case; names the header of the signature, ``X-SENDER-Signature``.
        secret: signs the body (HMAC with SHA-256), where there is one.
        seconds: for all of it, above 0.
    """
    import aiohttp

    body = json.dumps(payload, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json", "User-Agent": sender}
    if secret:
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers[f"X-{sender.capitalize()}-Signature"] = f"sha256={signature}"
    try:
        async with (
            asyncio.timeout(seconds),
            aiohttp.ClientSession(connector=connector_to(_allowed(url)), trust_env=False) as session,
            session.post(url, data=body, headers=headers, allow_redirects=False) as answer,
        ):
            status = answer.status
    except (OSError, aiohttp.ClientError, ValueError, ConfigurationError) as fault:
        return f"failed: {' '.join(str(fault).split()) or type(fault).__name__}"
    return "sent" if 200 <= status < 300 else f"refused with HTTP {status}"


def _allowed(url: str) -> Callable[[Address], bool]:
    """Return which addresses a webhook may lead to.

    Raises:
        ConfigurationError: it is not https or http, or holds a user or a password.
        ValueError: it is no address.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise ConfigurationError("a webhook's address is https://HOST/PATH, without user or password")

    def allowed(address: Address) -> bool:
        here = (getattr(address, "ipv4_mapped", None) or address).is_loopback
        return here or (parts.scheme == "https" and is_public(address))

    return allowed
