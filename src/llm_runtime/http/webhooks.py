"""Webhooks: signed, never followed elsewhere, never in the way.

An address is https, or http on this machine; its name is resolved once, every address it has must be public (or
loopback, for loopback), and the connection goes to the address that was checked. Redirects are failures.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import http.client
import ipaddress
import json
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from llm_runtime.addresses import is_public
from llm_runtime.errors import ConfigurationError

SECONDS = 5.0
Resolve: TypeAlias = Callable[[str, int], list[str]]


class WebhookRefused(ConfigurationError):
    """An address that no notification goes to; one line says why."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """A checked address: where to connect, and under which name."""

    host: str
    address: str
    port: int
    path: str
    tls: bool


def resolved(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as the system finds them."""
    return [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def check_endpoint(url: str, resolve: Resolve = resolved) -> Webhook:
    """Tell where a webhook may go.

    Raises:
        WebhookRefused: not https (or http on loopback), without an address, or with one that is not public.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise WebhookRefused("the webhook's address cannot be read") from None
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.password or "%" in host:
        raise WebhookRefused("a webhook's address is https://HOST/PATH, without user or password")
    port = port or (443 if parts.scheme == "https" else 80)
    try:
        addresses = resolve(host, port)
    except OSError:
        raise WebhookRefused(f"the webhook's host {host} has no address") from None
    kinds = {_kind(address) for address in addresses}
    if kinds == {"loopback"} or (kinds == {"public"} and parts.scheme == "https"):
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return Webhook(host, addresses[0], port, path, parts.scheme == "https")
    raise WebhookRefused(f"the webhook's host {host} is not public over https, nor this machine: nothing is sent")


def _kind(text: str) -> str:
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None) or address
    return "loopback" if mapped.is_loopback else "public" if is_public(address) else "private"


def post(endpoint: Webhook, body: bytes, headers: Mapping[str, str], seconds: float = SECONDS) -> int:
    """Send; returns the status. Nothing is followed, and no more than a line of the answer is read.

    Raises:
        OSError, http.client.HTTPException: it did not arrive.
    """
    raw = socket.create_connection((endpoint.address, endpoint.port), timeout=seconds)
    try:
        if endpoint.tls:
            raw = ssl.create_default_context().wrap_socket(raw, server_hostname=endpoint.host)
        connection = http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=seconds)
        connection.sock = raw
        connection.request("POST", endpoint.path, body=body, headers=dict(headers))
        return connection.getresponse().status
    finally:
        raw.close()


async def deliver(
    url: str,
    payload: Mapping[str, Any],
    sender: str,
    secret: str = "",
    *,
    seconds: float = SECONDS,
    resolve: Resolve = resolved,
) -> str:
    """Send a payload as JSON, once, and return what came of it in words: ``"sent"`` where it was taken.

    Args:
        url: of the webhook; see :func:`check_endpoint`.
        sender: who sends, in lower case; names the header of the signature, ``X-SENDER-Signature``.
        secret: signs the body (HMAC with SHA-256), where there is one.
        seconds: for all of it, above 0.
        resolve: finds the addresses of a host.
    """
    body = json.dumps(payload, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json", "User-Agent": sender}
    if secret:
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers[f"X-{sender.capitalize()}-Signature"] = f"sha256={signature}"
    try:
        async with asyncio.timeout(seconds):
            endpoint = await asyncio.to_thread(check_endpoint, url, resolve)
            status = await asyncio.to_thread(post, endpoint, body, headers, seconds)
    except (OSError, http.client.HTTPException, TimeoutError, ConfigurationError) as fault:
        return f"failed: {fault or type(fault).__name__}"
    return "sent" if 200 <= status < 300 else f"refused with HTTP {status}"
