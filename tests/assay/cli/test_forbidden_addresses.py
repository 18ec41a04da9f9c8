"""Every door that opens addresses which others name: no spelling of an inward address reaches a server that listens
there, and no redirect leads to one."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ai_crucible.witness import WitnessFailed, ask_witness
from assay.protocols.crux.people import fetched
from assay.protocols.fire_circle.gating.cases import Case
from assay.protocols.fire_circle.gating.targets import Target, answered
from crucible.attaching import read_attachments
from crux.personas.store import PersonaStore
from crux.watch_file import Watched, gathered
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError, ConfigurationError
from llm_runtime.http import Http
from llm_runtime.http.public import read_page
from llm_runtime.http.webhooks import deliver
from llm_runtime.store.anchor import Head, SignedHead

#: Hosts, as a URL may spell this machine.
HERE = [
    # other forms of the same four bytes
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7F.0.0.1", "0x7f.1", "0177.0.0.1",
    "017700000001", "127.000.000.001", "127.0.0.01", "127.0.0.1.", "127.0.0.2", "127.255.255.254", "0",
    "0.0.0.0", "0x0", "000.0.0.0",
    # names; to the resolver of this test every name is this machine
    "localhost", "LOCALHOST", "localhost.", "localhost.localdomain", "ip6-localhost", "a.localhost",
    "rebound.example", "127.0.0.1.nip.example", "xn--localhost", "localhost%00.example",
    "127.0.0.1%2e", "%31%32%37.0.0.1",
    # IPv6, with IPv4 inside: mapped, translated, compatible, NAT64, 6to4, Teredo; zones
    "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:0:127.0.0.1]",
    "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
    "[2001::80ff:fffe]", "[::1%25lo]", "[::1%lo]", "[fe80::1%25lo]",
    # other digits, dots and letters
    "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "①②⑦.⓪.⓪.①", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "١٢٧.٠.٠.١",
    "ｌｏｃａｌｈｏｓｔ", "ⅼocalhost", "loc\u00adalhost", "lo\u200bcalhost", "0\u066b0\u066b0\u066b0",
    # what stands before the host, or only seems to
    "user@127.0.0.1", "user:pass@127.0.0.1", "example.org@127.0.0.1", "example.org:80@127.0.0.1",
    "example.org\\@127.0.0.1", "127.0.0.1\\@example.org", "example.org%40127.0.0.1",
    "127.0.\n0.1", " 127.0.0.1", "127.0.0.1\t",
]  # fmt: skip
#: Hosts of a network behind this machine. A connection to one fails the test (tests/conftest.py).
NEAR = [
    "10.0.0.1", "167772161", "0x0a.1", "192.168.0.1", "172.16.0.1", "100.64.0.1", "198.18.0.1", "192.0.0.1",
    "224.0.0.1", "255.255.255.255", "169.254.169.254", "2852039166", "0xA9FEA9FE", "１69.254.169.254",
    "[fd00::1]", "[fe80::1]", "[fec0::1]", "[ff02::1]", "[100::1]", "[2001:db8::1]", "[::ffff:10.0.0.1]",
    "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a00:1]", "[2002:a9fe:a9fe::]", "[::10.0.0.1]",
]  # fmt: skip


@dataclass
class Canary:
    """A server of this machine that nothing may reach: keeps who connected, until ``last`` does."""

    port: int
    last: int = 0
    reached: list[Any] = field(default_factory=list[Any])


@pytest.fixture
def canary() -> Iterator[Canary]:
    both = socket.has_dualstack_ipv6()
    address, family = ("::", socket.AF_INET6) if both else ("", socket.AF_INET)
    with socket.create_server((address, 0), family=family, dualstack_ipv6=both) as listening:
        canary = Canary(listening.getsockname()[1])

        def listen() -> None:
            while True:
                connection, sender = listening.accept()
                connection.close()
                if sender[1] == canary.last:
                    return
                canary.reached.append(sender)

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield canary
        # Whoever connected before stands before this one, which is known by its port.
        with closing(socket.socket()) as knocking:
            knocking.bind(("127.0.0.1", 0))
            canary.last = knocking.getsockname()[1]
            knocking.connect(("127.0.0.1", canary.port))
            thread.join()
        assert canary.reached == []


@pytest.fixture
def names_lead_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile resolver: what is no address in figures is this machine."""
    real = socket.getaddrinfo

    def resolve(host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> Any:
        try:
            return real(host, port, family, type, proto, socket.AI_NUMERICHOST)
        except (socket.gaierror, UnicodeError):
            return real("127.0.0.1", port, family, type, proto, flags)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def attached(url: str, folder: Path) -> None:
    read_attachments([url])


def imported(url: str, folder: Path) -> None:
    fetched(url, folder, fetch=True)


def watched(url: str, folder: Path) -> None:
    gathered(Watched(name="Ann", places=[url]), folder, PersonaStore(folder), {})


def fetched_plainly(url: str, folder: Path) -> None:
    asyncio.run(read_page(url.replace("https:", "http:"), schemes=frozenset({"http"})))


@pytest.mark.usefixtures("names_lead_here")
@pytest.mark.parametrize("door", [attached, imported, watched, fetched_plainly])
def test_no_spelling_of_an_inward_address_reaches_it(
    door: Callable[[str, Path], None], canary: Canary, tmp_path: Path
) -> None:
    assert len(HERE) + len(NEAR) >= 60
    for host in (*HERE, *NEAR):
        with pytest.raises(ConfigurationError) as refused:
            door(f"https://{host}:{canary.port}/x", tmp_path)
        assert len(str(refused.value).splitlines()) == 1, host
        assert canary.reached == [], host


@pytest.mark.usefixtures("names_lead_here")
async def test_a_webhook_goes_to_this_machine_or_the_public_internet_never_to_what_is_near(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[Any] = []

    def connect(self: socket.socket, address: Any) -> None:
        tried.append(address[0])
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(socket.socket, "connect", connect)
    for host in NEAR:
        assert (await deliver(f"https://{host}/x", {}, "assay")).startswith("failed"), host
    assert tried == []
    for host in HERE:
        assert (await deliver(f"https://{host}/x", {}, "assay")).startswith("failed"), host
    # Criticality's specification lets hooks go to this machine: then to nowhere else.
    assert tried
    assert {at for at in tried if not at.startswith("127.")} <= {"::1", "::ffff:127.0.0.1", "::ffff:7f00:1"}


def test_a_name_that_changes_its_mind_is_asked_once(monkeypatch: pytest.MonkeyPatch, canary: Canary) -> None:
    """The address that was judged is the one that is connected to (DNS rebinding)."""
    tried: list[str] = []
    resolved: list[str] = []

    def resolve(host: Any, port: Any, *_: Any, **__: Any) -> Any:
        if not str(host)[0].isdigit():
            resolved.append(host)
        address = "127.0.0.1" if len(resolved) > 1 else "93.184.216.34"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    def connect(self: socket.socket, address: Any) -> None:
        tried.append(address[0])
        raise ConnectionRefusedError(111, "refused")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", resolve)
        patch.setattr(socket.socket, "connect", connect)
        with pytest.raises(ConfigurationError):
            read_attachments([f"https://rebinding.example:{canary.port}/"])
        assert tried == ["93.184.216.34"]
        resolved.clear()
        assert "failed" in asyncio.run(deliver(f"https://rebinding.example:{canary.port}/", {}, "assay"))
    assert tried == ["93.184.216.34"] * 2


class Redirecting(BaseHTTPRequestHandler):
    """Sends whoever asks to another address."""

    status: ClassVar[int]
    target: ClassVar[str]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.status)
        self.send_header("Location", self.target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        return


async def by_target(url: str) -> None:
    _, [failed] = await answered([Case(id="a", user="Why?")], Target(url=url), 1)
    assert failed.code == 1


async def by_base_url(url: str) -> None:
    http = Http()
    with pytest.raises(CallError):
        await http.post_json(Endpoint("own", url), "/chat/completions", {}, model="m")
    await http.aclose()


async def by_witness(url: str) -> None:
    pytest.importorskip("rfc3161_client", reason="rfc3161-client is not installed; make test installs it")
    with pytest.raises(WitnessFailed):
        await asyncio.to_thread(ask_witness, url, HEAD)


async def by_webhook(url: str) -> None:
    assert (await deliver(url, {}, "assay")).startswith("refused with HTTP 3")


HEAD = SignedHead(Head("r", 1, bytes(32)), b"s" * 64, b"k" * 32)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("door", [by_target, by_base_url, by_witness, by_webhook])
async def test_no_redirect_of_a_server_that_may_be_asked_is_followed(
    door: Callable[[str], Awaitable[None]], status: int, canary: Canary
) -> None:
    handler = type("Handler", (Redirecting,), {"status": status, "target": f"http://127.0.0.1:{canary.port}/in"})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        await door(f"http://127.0.0.1:{server.server_port}/out")
        server.shutdown()
        thread.join()
