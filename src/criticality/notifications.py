"""Webhooks and reminders (CT18): signed, never followed elsewhere, never in the way.

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
import os
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from criticality.config import ChannelConfig, NotificationsConfig
from criticality.machine.states import Blocked, ProtocolState
from criticality.project.files import write_atomic
from criticality.project.journal import Clock, iso
from llm_runtime.addresses import is_public
from llm_runtime.errors import ConfigurationError
from llm_runtime.tasks import gather

STATE = ".criticality/notification-state.json"
MESSAGE = "Criticality blocked. Run `criticality status` for details."
_SECONDS = 5.0
Resolve = Callable[[str, int], list[str]]


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


def _resolve(host: str, port: int) -> list[str]:
    return [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def check_endpoint(url: str, resolve: Resolve = _resolve) -> Webhook:
    """Tell where a webhook may go.

    Raises:
        Refused: not https (or http on loopback), a name that does not resolve, or an address that is not public.
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


def post(endpoint: Webhook, body: bytes, headers: Mapping[str, str], seconds: float = _SECONDS) -> int:
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


@dataclass(slots=True)
class Notifier:
    """Sends to every channel that wants an event; what goes wrong is written down and nothing else.

    Args:
        secrets: where signing keys are looked up, by the channel's ``secret_env``.
    """

    root: Path
    config: NotificationsConfig
    clock: Clock
    resolve: Resolve = _resolve
    secrets: Mapping[str, str] = field(default_factory=lambda: os.environ)
    seconds: float = _SECONDS

    async def __call__(self, event: str, state: ProtocolState) -> None:
        """Notify of ``event``; returns when every channel has answered or had its time."""
        channels = [c for c in self.config.channels if c.enabled and event in c.events]
        if not self.config.enabled or not channels:
            return
        outcomes = await gather(self._send(channel, event, state) for channel in channels)
        self._note({"last_event": event, "at": iso(self.clock()), "channels": list(outcomes)})

    def due(self, state: ProtocolState) -> bool:
        """Tell whether a reminder is due: blocked, and the schedule has passed since the last one or the block."""
        from cronsim import CronSim, CronSimError

        if not isinstance(state, Blocked) or not self.config.enabled:
            return False
        seen = self._noted()
        last = datetime.fromisoformat(str(seen.get("last_sent") or seen.get("at") or iso(0)))
        try:
            upcoming = next(CronSim(self.config.reminder_schedule, last.astimezone(UTC)))
        except CronSimError:
            raise ConfigurationError(
                f"reminder_schedule {self.config.reminder_schedule!r} is no schedule of five fields"
            ) from None
        return upcoming <= datetime.fromtimestamp(self.clock() / 1000, UTC)

    async def remind(self, state: ProtocolState) -> bool:
        """Send a reminder if one is due."""
        if not self.due(state):
            return False
        await self("block", state)
        self._note({"last_sent": iso(self.clock())})
        return True

    async def _send(self, channel: ChannelConfig, event: str, state: ProtocolState) -> dict[str, Any]:
        payload: dict[str, Any] = {
            "event": event,
            "timestamp": iso(self.clock()),
            "message": MESSAGE if event == "block" else "",
            "protocol_state": state.model_dump(mode="json", by_alias=True, exclude={"prior"}),
        }
        if isinstance(state, Blocked):
            payload["blocking_record"] = {
                "id": state.query.id,
                "phase": state.prior_phase,
                "query": state.query.question,
                "options": [option.label for option in state.query.options],
                "resolved": False,
            }
        body = json.dumps(payload, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "criticality"}
        secret = self.secrets.get(channel.secret_env, "") if channel.secret_env else ""
        if secret:
            headers["X-Criticality-Signature"] = (
                "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
            )
        try:
            async with asyncio.timeout(self.seconds):
                endpoint = await asyncio.to_thread(check_endpoint, channel.endpoint, self.resolve)
                status = await asyncio.to_thread(post, endpoint, body, headers, self.seconds)
            outcome = "sent" if 200 <= status < 300 else f"refused with HTTP {status}"
        except (OSError, http.client.HTTPException, TimeoutError, ConfigurationError) as fault:
            outcome = f"failed: {fault or type(fault).__name__}"
        return {"endpoint": urlsplit(channel.endpoint).hostname or "?", "event": event, "outcome": outcome}

    def _noted(self) -> dict[str, Any]:
        try:
            return json.loads((self.root / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def _note(self, news: dict[str, Any]) -> None:
        write_atomic(self.root / STATE, json.dumps({**self._noted(), **news}, indent=2) + "\n")
