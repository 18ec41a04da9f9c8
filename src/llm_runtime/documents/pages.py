"""A page or file of the public web, fetched once: https, no private addresses, no other hosts, bounded."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from llm_runtime.documents.reading import Document, DocumentError, read_document

if TYPE_CHECKING:
    import aiohttp

MOST_BYTES, MOST_SECONDS, MOST_REDIRECTS = 20 * 2**20, 20.0, 5
_ENDINGS = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/epub+zip": ".epub",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "text/plain": ".txt",
}


def is_public(address: str) -> bool:
    """Tell whether a network address is one of the public internet."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    inner = getattr(parsed, "ipv4_mapped", None) or getattr(parsed, "sixtofour", None)
    return parsed.is_global and not parsed.is_multicast and (inner is None or inner.is_global)


async def read_page(
    url: str,
    *,
    admits: Callable[[str], bool] = is_public,
    schemes: tuple[str, ...] = ("https",),
    seconds: float = MOST_SECONDS,
    most: int = MOST_BYTES,
) -> Document:
    """Fetch an address and return what stands there.

    Args:
        url: with one of ``schemes``, no user name and no password.
        admits: whether an IP address may be asked; it is asked of the very address that is connected to.
        seconds: for all of it.
        most: bytes.

    Raises:
        DocumentError: the address is refused, nothing answers in time, a login is wanted, it leads to another host,
            it is too large, or cannot be read.
    """
    name = url.partition("?")[0][:200]
    try:
        async with asyncio.timeout(seconds):
            kind, data = await _fetched(url, name, admits, schemes, most)
    except TimeoutError:
        raise DocumentError(f"{name} gave no whole page within {seconds:g} s; save it, and give the file") from None
    ending = _ENDINGS.get(kind) or PurePosixPath(urlsplit(url).path).suffix.lower()
    return read_document(name, data, ending)


async def _fetched(
    url: str, name: str, admits: Callable[[str], bool], schemes: tuple[str, ...], most: int
) -> tuple[str, bytes]:
    import aiohttp

    connector = aiohttp.TCPConnector(resolver=_resolver(admits), use_dns_cache=False)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        host = urlsplit(url).hostname
        for _ in range(MOST_REDIRECTS):
            _check(url, name, admits, schemes)
            try:
                async with session.get(url, allow_redirects=False) as answer:
                    if answer.status in (301, 302, 303, 307, 308):
                        url = urljoin(url, answer.headers.get("Location", ""))
                        if urlsplit(url).hostname != host:
                            raise DocumentError(f"{name} leads to another host; give the address that is meant")
                        continue
                    return answer.content_type, await _body(answer, name, most)
            except (aiohttp.ClientError, OSError, ValueError) as fault:
                reason = " ".join(str(fault).split())[:160] or type(fault).__name__
                raise DocumentError(f"{name} cannot be fetched: {reason}") from None
    raise DocumentError(f"{name} leads from page to page without an end; it wants a login, or is broken")


async def _body(answer: aiohttp.ClientResponse, name: str, most: int) -> bytes:
    if answer.status in (401, 403, 407):
        raise DocumentError(f"{name} wants a login (HTTP {answer.status}); save the page, and give the file")
    if answer.status != 200:
        raise DocumentError(f"{name} answers with HTTP {answer.status}; is the address right?")
    data = bytearray()
    async for piece in answer.content.iter_any():
        data += piece
        if len(data) > most:
            raise DocumentError(f"{name} is larger than {most / 2**20:.0f} MiB; save the part that matters")
    return bytes(data)


def _check(url: str, name: str, admits: Callable[[str], bool], schemes: tuple[str, ...]) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise DocumentError(f"{name} is no address that can be fetched") from None
    if parts.scheme not in schemes or not host:
        raise DocumentError(f"{name}: only {' or '.join(schemes)} addresses are fetched")
    if parts.username or parts.password:
        raise DocumentError(
            "an address with a user name or password is not fetched; save the page, and give the file"
        )
    try:
        literal = str(ipaddress.ip_address(host))
    except ValueError:
        return
    if not admits(literal):
        raise DocumentError(f"{name} is an address of a private network; save the page, and give the file")


def _resolver(admits: Callable[[str], bool]) -> Any:
    from aiohttp.abc import AbstractResolver, ResolveResult
    from aiohttp.resolver import ThreadedResolver

    class Admitted(AbstractResolver):
        """Resolves names to admitted addresses alone: what is connected to is what was checked."""

        def __init__(self) -> None:
            self._names = ThreadedResolver()

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            found = await self._names.resolve(host, port, family)
            if refused := [one for one in found if not admits(one["host"])]:
                address = refused[0]["host"]
                raise OSError(errno.EACCES, f"{host} is {address}, an address of a private network")
            return found

        async def close(self) -> None:
            await self._names.close()

    return Admitted()
