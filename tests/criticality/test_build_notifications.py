"""Webhooks go where they may, signed, and never hold anything up; reminders come by the schedule."""

from __future__ import annotations

import hashlib
import hmac
import http.server
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from turnstile_system import clock

from criticality.config import ChannelConfig, NotificationsConfig
from criticality.machine.states import Blocked, Completed, HumanQuery, QueryOption, beginning
from criticality.notifications import MESSAGE, Notifier
from llm_runtime.errors import ConfigurationError
from llm_runtime.http.webhooks import deliver

BLOCKED = Blocked(
    reason="circuit_breaker",
    query=HumanQuery(id="q_1", category="c", question="How?", options=(QueryOption(id="retry", label="Again"),)),
    prior_phase="ignition",
    prior_sub_state="interviewing",
    prior=beginning(),
)
NOW = clock()


class Hooks(http.server.BaseHTTPRequestHandler):
    """Remembers what came; ``/away`` answers with a redirect inward."""

    seen: list[tuple[str, dict[str, str], bytes]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Hooks.seen.append((self.path, dict(self.headers), body))
        self.send_response(302 if self.path == "/away" else 204)
        if self.path == "/away":
            self.send_header("Location", "/inside")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture
def hook() -> Iterator[str]:
    Hooks.seen = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hooks)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def notifier(root: Path, *endpoints: str, events: Any = ("block",), **more: Any) -> Notifier:
    channels = [ChannelConfig(endpoint=e, events=list(events), secret_env="HOOK_KEY") for e in endpoints]
    config = NotificationsConfig(channels=channels, reminder_schedule=more.pop("schedule", "0 9 * * *"))
    return Notifier(root, config, more.pop("clock", clock), secrets={"HOOK_KEY": "k"}, **more)


def outcomes(root: Path) -> list[str]:
    state = json.loads((root / ".criticality/notification-state.json").read_text())
    return [channel["outcome"] for channel in state["channels"]]


async def test_a_block_is_told_with_its_query_and_a_signature(tmp_path: Path, hook: str) -> None:
    await notifier(tmp_path, f"{hook}/x")("block", BLOCKED)
    ((_, headers, body),) = Hooks.seen
    payload = json.loads(body)
    assert payload["event"] == "block" and payload["message"] == MESSAGE
    assert payload["blocking_record"]["options"] == ["Again"]
    assert headers["X-Criticality-Signature"] == "sha256=" + hmac.new(b"k", body, hashlib.sha256).hexdigest()


async def test_a_channel_hears_only_what_it_asked_for(tmp_path: Path, hook: str) -> None:
    await notifier(tmp_path, f"{hook}/x")("complete", Completed())
    assert Hooks.seen == []


async def test_a_redirect_is_not_followed_and_others_are_still_told(tmp_path: Path, hook: str) -> None:
    await notifier(tmp_path, f"{hook}/away", "https://10.0.0.1/x", f"{hook}/x")("block", BLOCKED)
    assert [path for path, _, _ in Hooks.seen] in (["/away", "/x"], ["/x", "/away"])
    first, second, third = outcomes(tmp_path)
    assert "302" in first and "failed" in second and third == "sent"


async def test_an_endpoint_that_hangs_holds_nothing_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        await notifier(tmp_path, f"http://127.0.0.1:{port}/", seconds=0.2)("block", BLOCKED)
    assert outcomes(tmp_path)[0].startswith("failed")


FORBIDDEN = [
    "http://example.com/", "https://10.0.0.1/", "https://192.168.1.1/", "https://169.254.169.254/latest", "https://[fd00::1]/",
    "https://[::ffff:10.0.0.1]/", "https://[2002:a00:1::]/", "https://0.0.0.0/", "https://224.0.0.1/", "ftp://example.com/",
    "https://user:pw@example.com/", "https://", "file:///etc/passwd", "https://[fe80::1%25eth0]/",
]  # fmt: skip


@pytest.mark.parametrize("url", FORBIDDEN)
async def test_addresses_that_nothing_is_sent_to(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []

    def connect(self: socket.socket, address: Any) -> None:
        tried.append(address)
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(socket.socket, "connect", connect)
    public = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 80))]
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *more, **named: public if str(host) == "example.com" else real(host, *more, **named),
    )
    assert (await deliver(url, {}, "criticality")).startswith("failed")
    assert tried == []


async def test_a_reminder_comes_once_when_the_schedule_has_passed(tmp_path: Path, hook: str) -> None:
    pytest.importorskip("cronsim", reason="the `code` extra is not installed")
    times = [NOW]
    told = notifier(tmp_path, f"{hook}/x", schedule="0 * * * *", clock=lambda: times[0])
    await told("block", BLOCKED)
    assert not await told.remind(BLOCKED)
    times[0] += 3_600_000
    assert await told.remind(BLOCKED)
    assert not await told.remind(BLOCKED)
    assert not await told.remind(Completed())
    assert len(Hooks.seen) == 2


async def test_a_schedule_that_is_none_is_one_line(tmp_path: Path, hook: str) -> None:
    pytest.importorskip("cronsim", reason="the `code` extra is not installed")
    with pytest.raises(ConfigurationError, match="five fields"):
        notifier(tmp_path, hook, schedule="at nine").due(BLOCKED)
