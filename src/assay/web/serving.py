"""Serving the application: the address it listens at, what is printed, and how it ends."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Sequence

import uvicorn

from assay.web.app import Doors, application, no_doors
from assay.web.app_state import AppState
from assay.web.guard import Gate
from assay.web.people import People
from llm_runtime.errors import ConfigurationError
from llm_runtime.store import RunStore

_GRACE_S = 2
"""Seconds that open answers have to end, once the server is to stop."""


class _Server(uvicorn.Server):
    """Says when it answers, and ends open streams before it waits for them."""

    def __init__(self, config: uvicorn.Config, site: AppState, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._site = site
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the server."""
        self._site.end_streams()
        await super().shutdown(sockets)


def serve(
    store: RunStore,
    *,
    host: str,
    port: int,
    token: str | None,
    hosts: Sequence[str],
    ready: Callable[[str, Gate], object],
    doors: Doors = no_doors,
    people: People | None = None,
    proxies: Sequence[str] = (),
) -> None:
    """Serve until a signal ends it.

    Args:
        store: whose runs are shown.
        host: the address to listen at.
        port: 0 takes any that is free.
        token: what programs send, and what opens further browsers; drawn where left out.
        hosts: further names that the application may be called by.
        ready: takes the one-time address, once it is answered.
        doors: opens further addresses.
        people: who else may sign in.
        proxies: addresses whose word is taken for where a request came from, and over what.

    Raises:
        ConfigurationError: the address is taken, or is none of this machine.
    """
    gate = Gate(host, token, hosts, people)
    with listening(host, port) as listener:
        number = listener.getsockname()[1]
        name = "127.0.0.1" if host in ("0.0.0.0", "") else "[::1]" if host == "::" else host
        name = f"[{name}]" if ":" in name and not name.startswith("[") else name
        address = f"http://{name}:{number}/open?key={gate.key}"
        site = AppState(store, gate)
        # asyncio warns of every page that goes away while its stream writes; that is how pages end.
        logging.getLogger("asyncio").setLevel(logging.ERROR)
        config = configuration(site, doors, proxies)
        _Server(config, site, lambda: ready(address, gate)).run(sockets=[listener])


def configuration(site: AppState, doors: Doors, proxies: Sequence[str] = ()) -> uvicorn.Config:
    """Return how the application is served; ``proxies`` as for :func:`serve`."""
    return uvicorn.Config(
        application(site, doors),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        timeout_graceful_shutdown=_GRACE_S,
    )


def listening(host: str, port: int) -> socket.socket:
    """Open the socket that the application answers on.

    Raises:
        ConfigurationError: the address is taken, or is none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once on connections that name their protocol: else the text of each page waits 40 ms for the
    # reader to acknowledge its head.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as fault:
        listener.close()
        raise ConfigurationError(
            f"cannot listen at {host} port {port}: {fault.strerror}; choose another with --port"
        ) from None
    return listener
