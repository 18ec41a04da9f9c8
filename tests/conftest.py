"""What every test may rely on: a bare machine, no model, no key, no configuration of the person who runs it."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import re
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.commands import Commands
from tests.extent import EXAMPLES, FUZZ
from tests.machine import Machine
from tests.meter import Meter
from tests.virtual_time import HastenedClock

settings.register_profile(
    "assay",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=EXAMPLES,
    derandomize=not FUZZ,
    print_blob=FUZZ,
)
settings.load_profile("assay")

#: What a test needs is known by its fixtures; a test that needs it without one carries the mark itself.
MARKS = {"commands": "process", "postgres": "postgres", "boxes": "box", "box": "box"}
SLOW = frozenset((Path(__file__).parent / "slow.txt").read_text("utf-8").splitlines())
MARKS |= dict.fromkeys(("tools", "cargo", "gxx"), "toolchain")

# A shell that starts the tests in the background has Ctrl-C ignored, and processes inherit that: what a test
# interrupts would not hear it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


#: A port on which nothing listens.
NOWHERE = 1


_machine: Machine | None = None
_numbers = itertools.count()
#: Where the real corpora are. Read here, for no test sees the caller's variables.
SHARED = Path(os.environ.get("ASSAY_SHARED") or Path(__file__).parents[2] / "shared")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer to write down what the tests cost."""
    parser.addoption("--costs", metavar="FILE", help="write what each test took of a processor, the dearest first")


def pytest_configure(config: pytest.Config) -> None:
    """Weigh the tests; leave the caller's environment before a module of tests is imported."""
    global _machine
    config.pluginmanager.register(Meter(config.getoption("costs")))
    # With workers this process runs no test; they take from it the PATH on which programs are found.
    if hasattr(config, "workerinput") or not config.getoption("tx", None):
        _machine = Machine()
        _machine.enter()
        gc.disable()  # until all tests are collected
        config.add_cleanup(_machine.leave)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what is marked with a box in each sandbox that this machine has."""
    if _machine is not None and any(metafunc.definition.iter_markers("box")):
        metafunc.fixturenames.append("in_box")
        metafunc.parametrize("in_box", _machine.sandboxes or [""])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Show the test the bare machine, with what its marks add; skip it where that is not here."""
    assert _machine is not None
    _machine.enter(item)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by the resources that it needs, and the slow ones."""
    for item in items:
        needs = {MARKS[name] for name in getattr(item, "fixturenames", ()) if name in MARKS}
        # Which of the two stores a test has, its parameters say.
        if "postgresql" in getattr(getattr(item, "callspec", None), "params", {}).values():
            needs.add("postgres")
        if item.nodeid in SLOW:
            needs.add("slow")
        for mark in sorted(needs):
            item.add_marker(mark)


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Return the loop of a test: one whose waits are short, where the mark ``hastened`` asks for it."""
    return {"loop": HastenedClock if item.get_closest_marker("hastened") else asyncio.new_event_loop}


def pytest_collection_finish() -> None:
    """Take what was collected for what stays: who looks for garbage need not look through it, nor so often."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder of the test's own. For each of its own pytest looks through those of all tests before."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(_numbers)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def _own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """No test sees the runs or the servers of others."""
    monkeypatch.setenv("ASSAY_LOCAL_SERVERS", "")
    monkeypatch.setenv("ASSAY_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ASSAY_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture(autouse=True, scope="session")
def _only_own_ports() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """A connection to anything but a port that the tests have opened fails the test that tried it."""
    bind, connect, connect_ex = socket.socket.bind, socket.socket.connect, socket.socket.connect_ex
    own = {NOWHERE}

    def remembered(self: socket.socket, address: Any) -> None:
        bind(self, address)
        if self.family in (socket.AF_INET, socket.AF_INET6):
            own.add(self.getsockname()[1])

    def guard(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host, port = str(address[0]), address[1]
            if not (host.startswith("127.") or host in ("::1", "localhost")) or port not in own:
                raise AssertionError(f"a test tried to reach {host}:{port}")

    def guarded(self: socket.socket, address: Any) -> None:
        guard(self, address)
        connect(self, address)

    def guarded_ex(self: socket.socket, address: Any) -> int:
        guard(self, address)
        return connect_ex(self, address)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "bind", remembered)
    patch.setattr(socket.socket, "connect", guarded)
    patch.setattr(socket.socket, "connect_ex", guarded_ex)
    yield
    patch.undo()


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """Runs `assay`, each time as a process of its own."""
    running = Commands()
    yield running
    running.close()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real corpora and data sets; tests that want it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the shared corpora and data sets are not on this machine (set ASSAY_SHARED)")
    return SHARED
