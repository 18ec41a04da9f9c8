"""Pages of the public web: over https alone, from no private address, within a size and a time.

An address is judged where the connection is made, after its name was resolved, and so is that of every redirect: a
page cannot lead to what only this machine or its network can reach (server-side request forgery).
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from llm_runtime.addresses import Address, is_public
from llm_runtime.errors import ConfigurationError
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    import aiohttp

MAX_BYTES, SECONDS, _REDIRECTS = 20 * 2**20, 20.0, 5


class PageRefused(ConfigurationError):
    """A page cannot be had, or must not be; one line with its address. Exit code 2."""


class Page(Struct):
    """What an address gave: ``kind`` is its media type, ``etag`` is for the next time, ``url`` where it was."""

    url: str
    body: bytes
    kind: str = ""
    etag: str = ""


async def read_page(
    url: str, etag: str = "", *, max_bytes: int = MAX_BYTES, seconds: float = SECONDS,
    schemes: frozenset[str] = frozenset({"https"}), allowed: Callable[[Address], bool] = is_public,
    other_hosts: bool = True,
) -> Page | None:  # fmt: skip
    """Fetch a page; None where the server says that it is still the one of ``etag``.

    Args:
        url: its address.
        etag: what an earlier page had; empty asks for it whatever it is.
        max_bytes: of the body, after decompression.
        seconds: for all of it, redirects included.
        schemes: that may be used; tests may add ``http``.
        allowed: whether an address may be connected to.
        other_hosts: whether a redirect may lead to another host.

    Raises:
        PageRefused: it is not https, leads to a private address, is too large, too slow, not there.
    """
    import aiohttp

    try:
        async with asyncio.timeout(seconds):
            timeout = aiohttp.ClientTimeout(total=seconds)
            connector = connector_to(allowed)
            async with aiohttp.ClientSession(connector=connector, timeout=timeout, trust_env=False) as session:
                hosts = None if other_hosts else urlsplit(url).hostname
                return await _followed(session, url, etag, max_bytes, schemes, hosts)
    except TimeoutError:
        raise PageRefused(f"{url[:200]} took longer than {seconds:.0f} s; try again later") from None
    except (aiohttp.ClientError, OSError, ValueError) as fault:
        reason = " ".join(str(fault).split())[:160] or type(fault).__name__
        raise PageRefused(f"{url[:200]} cannot be fetched: {reason}") from None


async def _followed(
    session: aiohttp.ClientSession, url: str, etag: str, max_bytes: int, schemes: frozenset[str], host: str | None
) -> Page | None:
    here = url
    for _ in range(_REDIRECTS + 1):
        _check(here, schemes)
        async with session.get(here, headers={"If-None-Match": etag} if etag else {}, allow_redirects=False) as answer:
            if answer.status == 304:
                return None
            if answer.status in (301, 302, 303, 307, 308) and (target := answer.headers.get("Location")):
                here = urljoin(here, target)
                if host is not None and urlsplit(here).hostname != host:
                    raise PageRefused(f"{url[:200]} leads to another host; give the address that is meant")
                continue
            if answer.status in (401, 403, 407):
                raise PageRefused(f"{url[:200]} wants a login ({answer.status}); save the page and import the file")
            if answer.status != 200:
                raise PageRefused(f"{url[:200]} answered {answer.status}; open it in a browser to see why")
            body = bytearray()
            async for piece in answer.content.iter_chunked(2**16):
                body += piece
                if len(body) > max_bytes:
                    raise PageRefused(f"{url[:200]} is larger than {max_bytes / 2**20:.0f} MiB; save a part of it")
            return Page(here, bytes(body), answer.content_type, answer.headers.get("ETag", ""))
    raise PageRefused(f"{url[:200]} leads on more than {_REDIRECTS} times; give the address where it ends")


def _check(url: str, schemes: frozenset[str]) -> None:
    """Refuse an address by its looks; where it leads is judged where the connection is made."""
    parts = urlsplit(url)
    if parts.scheme.lower() not in schemes:
        raise PageRefused(f"{url[:200]}: only https is fetched; save the page and import the file")
    if parts.username or parts.password or not parts.hostname:
        raise PageRefused(f"{url[:200]} is no plain address of a page")


def connector_to(allowed: Callable[[Address], bool]) -> aiohttp.TCPConnector:
    """Return what connects to allowed addresses alone. A URL may spell one in many ways, and a name may lead to
    any; a socket is told the one that counts."""
    import aiohttp

    return aiohttp.TCPConnector(socket_factory=partial(judged, allowed=allowed))


def judged(info: tuple[Any, ...], *, allowed: Callable[[Address], bool] = is_public) -> socket.socket:
    """Return the socket for an address that may be connected to.

    Raises:
        PageRefused: it is one of this machine or its network.
    """
    family, kind, protocol, _, where = info
    host = str(where[0])
    if not allowed(ipaddress.ip_address(host.partition("%")[0])):
        raise PageRefused(f"{host[:100]} is an address of this machine or its network; only public pages are fetched")
    return socket.socket(family, kind, protocol)
