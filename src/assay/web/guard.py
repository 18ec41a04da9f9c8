"""Who may speak to the application: names, origins, tokens, passwords, before any route; and the page of entry.

Another web page must not be able to drive it: not by a form or a script (the origin is checked, and the cookie is
``SameSite=Strict``), and not by a name that was made to point here (DNS rebinding: only known host names are
served). Browsers send a cookie to every port of a host, so that of a session holds for one secret path of this
launch alone: who serves another port cannot lead a browser there. Every answer carries a content policy without
inline scripts or styles.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
import secrets
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.web.people import SEVERAL, WHO, People, Person
from assay.web.templating import ROOT, render
from llm_runtime.errors import ConfigurationError
from llm_runtime.toml import own_table

T = TypeVar("T")

#: Hashes that are made at one time, and passwords that wait for their turn: of one address, and in all.
_AT_ONCE, _MOST_OF_ONE, _MOST = 2, 16, 256
#: Seconds for which a wrong one counts; how many are free, for a name from an address and of an address.
_COUNTS_S, _FREE_OF_NAME, _FREE_OF_ADDRESS = 60.0, 5, 30
_LONGEST_S, _OF_ADDRESS_S = 5.0, 1.0


class PasswordQueue:
    """Where passwords wait.

    Args:
        clock: seconds.
        sleep: waits so many.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._tries: deque[tuple[float, str, str]] = deque()
        self._waiting = Counter[str]()
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def tried(self, address: str, name: str, look: Callable[[], T | None]) -> T | None:
        """Return what ``look`` does, which is called in a thread once it is its turn; ``None`` counts as wrong.

        Raises:
            ConfigurationError: too many of this address, or of all, wait at this moment.
        """
        if self._waiting[address] >= _MOST_OF_ONE or self._waiting.total() >= _MOST:
            raise ConfigurationError("too many sign in at this moment; try again")
        self._waiting[address] += 1
        pause = self._pause(address, name)
        # Counted before it is looked at: who sends many at once waits as long.
        attempt = (self._clock(), address, name)
        self._tries.append(attempt)
        try:
            if pause:
                await self._sleep(pause)
            async with self._turn:
                found = await asyncio.to_thread(look)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]
        if found is not None and attempt in self._tries:
            self._tries.remove(attempt)
        return found

    def _pause(self, address: str, name: str) -> float:
        """Return for how long an attempt waits after those of before."""
        while self._tries and self._clock() - self._tries[0][0] > _COUNTS_S:
            self._tries.popleft()
        named = sum((where, who) == (address, name) for _, where, who in self._tries)
        here = sum(where == address for _, where, _ in self._tries)
        own = min(_LONGEST_S, max(0.0, named - _FREE_OF_NAME + 1.0))
        return max(own, _OF_ADDRESS_S if here >= _FREE_OF_ADDRESS else 0.0)


def entrance(why: str = "", *, people: bool = False, way: str = "") -> str:
    """Return the page.

    Args:
        why: what happened, where something did.
        people: whether there is a form for them.
        way: the address that was asked for. A browser that is signed in goes on to it below the launch's path, which
            its script has kept; others do once they have come in. Of views of runs and batches alone: these change
            nothing, and so may be asked for by whoever made a link.
    """
    ROOT.set("")  # nothing below this launch's path is served to whoever sees this page
    return render("entrance.html", why=why, people=people, way=way if _VIEWS.fullmatch(way) else "")


_OF_ONE = r"/(runs|batches)/[\w.-]{1,120}(/(cases|timeline|(events|calls)(/\d{1,16})?))?"
_VIEWS = re.compile(rf"(/(runs|batches|compare)|{_OF_ONE})(\?[^\s#]{{0,4000}})?")


_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HEADERS: Mapping[str, str] = own_table("assay.web", "headers.toml")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
#: Doors for programs, which ask for keys of their own, and pages whose address ends with a key: each shows one run
#: to whoever was given the link. No cookie opens them.
_OWN_KEYS = re.compile(r"/v1/.*|/mcp|/part/[^/]+/[\w-]{20,}")
_COOKIE = "assay"
_ROOTED = re.compile(r"^/s/[^/]+")
_NO_TOKEN = "403: this application answers only to whom it knows."


class Gate:
    """The names that are served, the token of this launch, and the key of its one-time address.

    Args:
        host: the address that is listened at.
        token: what a program sends as ``Authorization: Bearer``; drawn where left out.
        hosts: further names that the application may be called by.
        people: who else may sign in, by name and password.
        line: where passwords wait to be tried.
    """

    def __init__(
        self, host: str = "127.0.0.1", token: str | None = None, hosts: Iterable[str] = (),
        people: People | None = None, line: PasswordQueue | None = None,
    ) -> None:  # fmt: skip
        self.token = token or secrets.token_urlsafe(32)
        self.key: str | None = secrets.token_urlsafe(24)
        self.root = f"/s/{secrets.token_urlsafe(16)}"
        self.people = people
        self._line = line or PasswordQueue()
        self._sessions: dict[str, tuple[str, str]] = {}
        self._everywhere = host in ("0.0.0.0", "::", "")
        self._names = {name.lower() for name in (*_LOOPBACK, *hosts)} | {host.lower()}

    def admit(self, key: str) -> bool:
        """Tell whether ``key`` opens the door: the one-time key, which then is used up, or the token itself."""
        if self.key is not None and hmac.compare_digest(key.encode(), self.key.encode()):
            self.key = None
            return True
        return hmac.compare_digest(key.encode(), self.token.encode())

    async def enter(self, name: str, secret: str, password: str, address: str) -> Person | None:
        """Return who signs in with a name and a password; ``None`` where the two do not fit.

        Args:
            name: as it was typed.
            secret: the password, or the one-time secret of a link.
            password: the one from then on, with a one-time secret.
            address: where the request came from.

        Raises:
            ConfigurationError: too many wait at this moment; or as for :meth:`People.enter`.
        """
        if (people := self.people) is None:
            return None
        return await self._line.tried(address, name[:60], lambda: people.enter(name, secret, password))

    def way(self, asked: str) -> str:
        """Return where whoever has come in goes: to the view that was asked for, else to the start."""
        return self.root + (asked if _VIEWS.fullmatch(asked) else "/")

    def sign_in(self, response: Response, person: Person | None = None) -> None:
        """Begin a session, and let the browser that gets this response keep it, for this launch's path alone."""
        session = secrets.token_urlsafe(32)
        self._sessions[session] = (person.name, person.secret) if person else ("", "")
        response.set_cookie(_COOKIE, session, httponly=True, samesite="strict", path=self.root)

    def sign_out(self, headers: Headers, response: Response) -> None:
        """End the session that a request came with."""
        self._sessions.pop(_cookie(headers), None)
        response.delete_cookie(_COOKIE, httponly=True, samesite="strict", path=self.root)

    def sign_out_person(self, name: str) -> None:
        """End every session of a person."""
        for session, (whose, _) in list(self._sessions.items()):
            if whose == name:
                del self._sessions[session]

    def sessions_of(self, name: str) -> int:
        """Return in how many browsers a person is signed in."""
        return sum(whose == name for whose, _ in self._sessions.values())

    def who(self, headers: Headers) -> Person | None:
        """Return the person of a request's session; ``None`` for whoever started the server, and for nobody.

        Raises:
            ConfigurationError: the file of people cannot be read.
        """
        name, secret = self._sessions.get(_cookie(headers), ("", ""))
        if not name or self.people is None or self._bears_token(headers):
            return None
        person = self.people.all().get(name)
        # Who has a new secret, or came back under an old name, signs in anew.
        return person if person is not None and person.secret == secret else None

    def _known(self, headers: Headers) -> bool:
        session = self._sessions.get(_cookie(headers))
        return session is not None and (not session[0] or self.who(headers) is not None)

    def root_of(self, path: str) -> str:
        """Return the secret path where ``path`` lies below it; else nothing."""
        first, _, _ = path.removeprefix("/s/").partition("/")
        below = path.startswith("/s/") and hmac.compare_digest(f"/s/{first}".encode(), self.root.encode())
        return self.root if below else ""

    def objection(self, method: str, path: str, headers: Headers) -> str | None:
        """Return why a request is refused; ``None`` where it is not."""
        host = headers.get("host", "")
        if not self._serves(host):
            return "403: this application is not served under that name."
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
            return "403: a request from another page."
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            # A link elsewhere leads to the entrance, which knows nothing of whoever follows it.
            followed = method == "GET" and headers.get("sec-fetch-mode") == "navigate" and _VIEWS.fullmatch(path)
            return _NO_TOKEN if followed else "403: a request from another site."
        if self._bears_token(headers) or _OWN_KEYS.fullmatch(path):
            return None
        root = self.root_of(path)
        if not root and (path == "/open" or path.startswith("/static/")) and (method in _SAFE or origin):
            return None  # the route itself asks for the key; what lies in the folder everybody may read
        if not root or not self._known(headers):
            return _NO_TOKEN
        if method not in _SAFE and origin is None:
            return "403: a request that changes something must say where it comes from (Origin)."
        return None

    def _serves(self, host: str) -> bool:
        name, _ = _split(host)
        return name in self._names or (self._everywhere and _is_address(name))

    def _bears_token(self, headers: Headers) -> bool:
        kind, _, token = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self.token.encode())


class GuardMiddleware:
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

        headers = Headers(scope=scope)
        try:
            why = self._gate.objection(scope["method"], scope["path"], headers)
            WHO.set(self._gate.who(headers))
        except ConfigurationError:
            # What the file is called is nobody's business here; whoever runs the server sees why.
            why = "503: this server cannot read its file of people; whoever runs it sees why with: assay people list"
        SEVERAL.set(self._gate.people is not None)
        root = self._gate.root_of(scope["path"])
        ROOT.set(root)
        answer: ASGIApp = self._app
        if why == _NO_TOKEN and "text/html" in headers.get("accept", ""):
            query = scope["query_string"].decode("latin-1")
            way = _ROOTED.sub("", scope["path"]) + (f"?{query}" if query else "")
            answer = HTMLResponse(entrance(people=self._gate.people is not None, way=way), 403)
        elif why is not None:
            answer = PlainTextResponse(f"{why}\n", int(why[:3]))
        await answer({**scope, "root_path": root}, receive, send_guarded)


def _cookie(headers: Headers) -> str:
    return cookie_parser(headers.get("cookie", "")).get(_COOKIE, "")


def _split(host: str) -> tuple[str, int | None]:
    """Name and port of a ``Host`` header; an empty name where it is none."""
    try:
        parts = urlsplit(f"//{host}")
        plain = parts.netloc == host and "@" not in host
        return (parts.hostname or "" if plain else ""), parts.port
    except ValueError:
        return "", None


def _is_address(name: str) -> bool:
    """Tell whether a name is an IP address: no foreign name server can make that point elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
