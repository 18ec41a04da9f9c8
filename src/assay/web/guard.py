"""Who may speak to the application: names, origins and the launch's token, checked before any route is reached.

Another web page must not be able to drive it: not by a form or a script (the origin is checked, and the cookie is
``SameSite=Strict``), and not by a name that was made to point here (DNS rebinding: only known host names are
served). Every answer carries a content policy without inline scripts or styles.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    # With no-referrer a browser would say "Origin: null" of our own forms too.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
#: Doors for programs, which ask for keys of their own. No cookie opens them.
_OWN_KEYS = ("/v1/", "/mcp")
_NO_TOKEN = (
    "403: this application answers only to whom it knows.\n\n"
    "Open the address that `assay serve` printed when it started. If that was used already, or the server has "
    "been started anew since, start it again, or give it a token of your own (assay serve --token ...) and open "
    "/open?key=TOKEN.\n"
)


class Gate:
    """The names that are served, the token of this launch, and the key of its one-time address.

    Args:
        host: the address that is listened at.
        token: what a program sends as ``Authorization: Bearer``; drawn where left out.
        hosts: further names that the application may be called by.
    """

    def __init__(self, host: str = "127.0.0.1", token: str | None = None, hosts: Iterable[str] = ()) -> None:
        self.token = token or secrets.token_urlsafe(32)
        self.key: str | None = secrets.token_urlsafe(24)
        # The same token gives the same session, so a browser stays known when the server is started again.
        self.session = hashlib.sha256(b"assay session\0" + self.token.encode()).hexdigest()
        self._everywhere = host in ("0.0.0.0", "::", "")
        self._names = {name.lower() for name in (*_LOOPBACK, *hosts)} | {host.lower()}

    def cookie_name(self, host: str) -> str:
        """Return the name of the session's cookie: browsers share cookies between the ports of a host."""
        return f"assay_{_split(host)[1] or 80}"

    def admit(self, key: str) -> bool:
        """Tell whether ``key`` opens the door: the one-time key, which then is used up, or the token itself."""
        if self.key is not None and hmac.compare_digest(key.encode(), self.key.encode()):
            self.key = None
            return True
        return hmac.compare_digest(key.encode(), self.token.encode())

    def objection(self, method: str, path: str, headers: Headers) -> str | None:
        """Return why a request is refused; ``None`` where it is not."""
        host = headers.get("host", "")
        if not self._serves(host):
            return "403: this application is not served under that name.\n"
        origin = headers.get("origin")
        if origin is not None and not _same(origin, host):
            return "403: a request from another page.\n"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "403: a request from another site.\n"
        if self._bears_token(headers) or path.startswith(_OWN_KEYS):
            return None
        if path == "/open" and method in _SAFE:
            return None  # the route itself asks for the key
        if not self._knows(headers, host):
            return _NO_TOKEN
        if method not in _SAFE and origin is None:
            return "403: a request that changes something must say where it comes from (Origin).\n"
        return None

    def _serves(self, host: str) -> bool:
        name, _ = _split(host)
        return name in self._names or (self._everywhere and _is_address(name))

    def _bears_token(self, headers: Headers) -> bool:
        kind, _, token = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self.token.encode())

    def _knows(self, headers: Headers, host: str) -> bool:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self.cookie_name(host))
        except CookieError:
            return False
        return morsel is not None and hmac.compare_digest(morsel.value.encode(), self.session.encode())


class Guard:
    """ASGI middleware: refuses what the gate objects to, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        why = self._gate.objection(scope["method"], scope["path"], Headers(scope=scope))
        answer: ASGIApp = self._app if why is None else PlainTextResponse(why, 403)
        await answer(scope, receive, send_guarded)


def _split(host: str) -> tuple[str, int | None]:
    """Name and port of a ``Host`` header; an empty name where it is none."""
    try:
        parts = urlsplit(f"//{host}")
        plain = parts.netloc == host and "@" not in host
        return (parts.hostname or "" if plain else ""), parts.port
    except ValueError:
        return "", None


def _same(origin: str, host: str) -> bool:
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _is_address(name: str) -> bool:
    """Tell whether a name is an IP address: no foreign name server can make that point elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
