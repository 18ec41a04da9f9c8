"""Pages of the web: https alone, no address of this machine or its network, wherever a redirect leads."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial

import pytest

from llm_runtime.addresses import is_public
from llm_runtime.http.public import PageRefused, read_page


def _here(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return address.is_loopback


#: As for a public page, with a server of this test in its place.
read = partial(read_page, schemes=frozenset({"http"}), allowed=_here)


@asynccontextmanager
async def server(answer: Callable[[str, dict[str, str]], bytes]) -> AsyncGenerator[str]:
    """A web server on loopback; the function gets a path and headers and gives the whole answer."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
        writer.write(answer(head[0].split()[1], headers))
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"


def reply(status: str, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def test_a_page_is_read_and_not_again_while_it_stays_the_same() -> None:
    def answer(path: str, headers: dict[str, str]) -> bytes:
        if path == "/old":
            return reply("301 Moved", location="/essay")
        if headers.get("if-none-match") == '"one"':
            return reply("304 Not Modified")
        return reply("200 OK", b"<p>Words</p>", content_type="text/html; charset=utf-8", etag='"one"')

    async with server(answer) as url:
        page = await read(f"{url}/old")
        assert page is not None and page.body == b"<p>Words</p>" and page.kind == "text/html"
        assert page.url == f"{url}/essay" and await read(f"{url}/essay", page.etag) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "file:///etc/passwd",
        "ftp://example.org/x",
        "https://127.0.0.1/x",
        "https://10.0.0.8/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[::ffff:192.168.0.1]/",
        "https://[64:ff9b::10.1.2.3]/",
        "https://localhost/",
        "https://user:secret@example.org/",
        "https:///nowhere",
    ],
)
async def test_what_is_not_public_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(PageRefused) as caught:
        await read_page(url)
    assert "\n" not in str(caught.value) and "secret" not in str(caught.value).partition("@")[2]


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:9/", "https://192.168.1.1/", "http://[::1]/", "file:///etc/passwd"]
)
async def test_a_redirect_that_leads_inward_is_refused(target: str) -> None:
    """The first address may be reached, as a public one; where it leads may not."""
    seen: list[str] = []

    def first_only(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
        seen.append(str(address))
        return len(seen) == 1

    async with server(lambda path, headers: reply("302 Found", location=target)) as url:
        with pytest.raises(PageRefused, match=r"only public pages|only https"):
            await read_page(url, schemes=frozenset({"http", "https"}), allowed=first_only)


async def test_a_page_that_is_too_large_too_slow_or_leads_in_circles_is_refused() -> None:
    bomb = gzip.compress(b"0" * 5_000_000)

    def answer(path: str, headers: dict[str, str]) -> bytes:
        if path == "/bomb":
            return reply("200 OK", bomb, content_encoding="gzip", content_type="text/plain")
        return reply("302 Found", location="/round") if path == "/round" else reply("404 Not Found")

    async with server(answer) as url:
        with pytest.raises(PageRefused, match="larger than"):
            await read(f"{url}/bomb", max_bytes=1_000_000)
        with pytest.raises(PageRefused, match="more than 5 times"):
            await read(f"{url}/round")
        with pytest.raises(PageRefused, match="answered 404"):
            await read(f"{url}/gone")


def test_public_addresses_are_told_from_others() -> None:
    public = ("93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822")
    inward = ("0.0.0.0", "100.64.0.1", "224.0.0.1", "fe80::1", "fd00::1", "2002:7f00:1::", "::", "198.18.0.1")
    assert all(is_public(ipaddress.ip_address(each)) for each in public)
    assert not any(is_public(ipaddress.ip_address(each)) for each in inward)


async def test_a_redirect_to_another_host_and_a_login_are_refused_where_that_is_asked_for() -> None:
    def answer(path: str, headers: dict[str, str]) -> bytes:
        if path == "/away":
            return reply("302 Found", location="http://127.0.0.2:9/x")
        if path == "/near":
            return reply("302 Found", location="/essay")
        return reply("200 OK", b"Words") if path == "/essay" else reply("401 Unauthorized")

    async with server(answer) as url:
        with pytest.raises(PageRefused, match="leads to another host"):
            await read(f"{url}/away", other_hosts=False)
        page = await read(f"{url}/near", other_hosts=False)
        assert page is not None and page.body == b"Words"
        with pytest.raises(PageRefused, match="wants a login"):
            await read(f"{url}/private")
