"""A supervised box: one command after the other, files in and out; how it is opened, and tried first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path

from sandbox.backends import Order, backend, started
from sandbox.channel import Box, Channel
from sandbox.errors import Gone, NoIsolation
from sandbox.limits import BoxLimits
from sandbox.root import Root

HOME = "/home/agent"
WORK = f"{HOME}/work"
#: By its name, for an image may have it in another folder.
PYTHON = "python3"

_SUPERVISOR = "/run/supervisor.py"
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, "LANG": "C.UTF-8", "TMPDIR": "/tmp"}
# What cannot start ends at once; a busy machine may take long over what can.
_START_S = 120.0


async def open_box(
    limits: BoxLimits | None = None, *, root: Root | None = None, mounts: Mapping[str, Path] | None = None,
    shared: Mapping[str, Path] | None = None, hidden: Sequence[Path] = (), by: str = "",
) -> Box:  # fmt: skip
    """Start a box. The caller closes it.

    Args:
        limits: what it may use.
        root: what it is made of; the host's programs where left out.
        mounts: host folders, by the place at which they are read. A box with any runs nothing that others wrote.
        shared: host folders that anybody may read, by the place at which they are read: pipes to other boxes.
        hidden: folders that must not be seen inside.
        by: the backend; the one for this machine where left out.

    Raises:
        NoIsolation: there is no backend, or it fails; the message carries its reason.
        BadRoot: a hidden folder holds what the box is made of.
    """
    limits = limits or BoxLimits()
    orders = {**limits.model_dump(), "each": limits.of_a_process(), "home": HOME, "work": WORK}
    orders["environment"] = _ENVIRONMENT
    order = Order(
        (PYTHON, "-I", "-S", _SUPERVISOR, json.dumps(orders)), limits, HOME, root or Root(),
        environment={"PATH": _ENVIRONMENT["PATH"]}, mounts=mounts or {}, shared=shared or {},
        texts={_SUPERVISOR: _supervisor()}, hidden=tuple(hidden), scratch=(HOME, "/tmp"), supervised=True,
    )  # fmt: skip
    with started(order, backend(by).name) as (chosen, start, stack):
        channel = await Channel.to(start, stack, cap=limits.archive + limits.output)
    try:
        await channel.hear(_START_S)
    except BaseException as fault:
        await channel.close()
        if isinstance(fault, Gone):
            raise NoIsolation(f"{chosen.name} gives no box here: {fault}") from None
        raise
    return Box(channel, limits, chosen.enclose(channel.pid, limits, channel.held))


@cache
def _supervisor() -> bytes:
    return resources.files("sandbox").joinpath("supervisor.py").read_bytes()


_PROBE = """
import ctypes, glob, json, os, socket
def can(act, *given):
    try:
        act(*given).close()
        return True
    except OSError:
        return False
with open("/proc/self/status") as status:
    fields = dict(line.split(":\\t", 1) for line in status.read().splitlines() if ":\\t" in line)
print(json.dumps({
    "network": can(socket.create_connection, ("192.0.2.1", 80), 0.2) or glob.glob("/sys/class/net/*"),
    "root": sorted(set(os.listdir("/")) - set(%s)),
    "writable": [p for p in ("/usr/.probe", "/.probe", "/etc/.probe", "/dev/.probe") if can(open, p, "w")],
    "capabilities": int(fields["CapEff"].strip(), 16) | int(fields["CapBnd"].strip(), 16),
    "namespaces": ctypes.CDLL(None).unshare(0x10000000) == 0,
    "unfiltered": fields["Seccomp"].strip() != "2",
    "processes": sorted(int(n) for n in os.listdir("/proc") if n.isdigit() and int(n) not in (1, os.getpid())),
}))
"""
_LIBRARIES = ("lib", "lib32", "lib64", "libx32")
#: What may stand at the top of a box.
_EXPECTED = {"bin", "dev", "etc", "home", "proc", "run", "sbin", "sys", "tmp", "usr", *_LIBRARIES}


_probed: set[tuple[str, Root]] = set()


async def probe(root: Root | None = None, *, by: str = "") -> None:
    """Open a box and look around in it, once for each process and root.

    Raises:
        NoIsolation: something of the host can be seen, reached or changed from inside; says what.
    """
    root = root or Root()
    key = backend(by).name, root
    if key in _probed:
        return
    expected = _EXPECTED | {entry.name for entry in root.folder.iterdir()} if root.folder else _EXPECTED
    box = await open_box(root=root, by=by)
    try:
        seen = await box.run([PYTHON, "-I", "-c", _PROBE % json.dumps(sorted(expected))])
    finally:
        await box.close()
    findings: dict[str, object] = {}
    with suppress(ValueError):
        findings = json.loads(seen.stdout)
    if not findings:
        raise NoIsolation(f"the box runs nothing: {seen.stderr[-300:].decode('utf-8', 'replace').strip()}")
    leaks = [f"{name}: {value}" for name, value in findings.items() if value]
    if leaks:
        raise NoIsolation(f"the box leaks ({'; '.join(leaks)}); nothing was run")
    _probed.add(key)
