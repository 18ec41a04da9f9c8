"""Which network addresses are this machine, and which are the public internet."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
#: All that is routed between networks (RFC 4291), and IPv4 addresses in IPv6 clothes beside it (RFC 6052).
_GLOBAL, _NAT64 = ipaddress.ip_network("2000::/3"), ipaddress.ip_network("64:ff9b::/96")


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Tell whether a host name or address is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_public(address: Address) -> bool:
    """Tell whether an address is one of the public internet; one that carries another is judged by that."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address not in _GLOBAL:
            return False
    return address.is_global and not address.is_multicast
