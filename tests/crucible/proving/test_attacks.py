"""What a witness may try from within: nothing of it leaves the box, and none of it goes unseen.

The rules of words refuse all of this before it runs; here a witness is run as if they had not.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crucible.proving.shop import Shop

from crucible.proving import BoxRequest, Ran, States

pytestmark = pytest.mark.box
PLACE = "tests/test_assay_witness.py"


async def _run(shop: Shop, body: str, **asked: object) -> Ran:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    change = shop.change("shop/prices.py", ("total(prices: list[float])", "total(prices)"))
    test = f"import gc, os, pathlib, socket, subprocess, sys\nfrom shop import prices\n\n\ndef test_it():\n{lines}"
    watch = ["shop/prices.py"]
    with States(change, at=shop.folder) as run:
        return await run(BoxRequest(tree=change.head, files={PLACE: test}, select=[PLACE], watch=watch, **asked))


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("pathlib.Path(prices.__file__).read_text()", "open shop/prices.py"),
        ("os.listdir('.')", "os.listdir"),
        ("open('README.md').read()", "open README.md"),
        ("gc.get_objects()", "gc.get_objects"),
    ],
)
async def test_what_it_looks_at_is_seen(shop: Shop, body: str, seen: str) -> None:
    ran = await _run(shop, body)
    assert any(one.startswith(seen) for one in ran.audit), ran


async def test_what_asyncio_does_by_itself_is_no_doing_of_the_witness(shop: Shop) -> None:
    ran = await _run(shop, "import asyncio\nasync def one():\n    return 1\nassert asyncio.run(one()) == 1")
    assert ran.audit == [] and ran.tests[0].outcome == "passed", ran


@pytest.mark.parametrize(
    "body", ["os.fork()", "subprocess.run(['true'])", "socket.create_connection(('192.0.2.1', 80))"]
)
async def test_it_starts_and_reaches_nothing(shop: Shop, body: str) -> None:
    ran = await _run(shop, body)
    assert ran.audit and ran.tests[0].outcome == "failed", ran


async def test_it_writes_nothing_and_sees_no_home(shop: Shop) -> None:
    secret = Path.home() / "secret"
    secret.write_text("key")
    ran = await _run(shop, f"assert not os.path.exists({str(secret)!r})\nopen('shop/prices.py', 'w')")
    assert ran.tests[0].failure and ran.tests[0].failure.type == "OSError", ran
    assert "total(prices)" in (shop.folder / "shop/prices.py").read_text()


@pytest.mark.parametrize(
    "body",
    [
        "os._exit(0)",
        "os._exit(1)",
        "os.kill(os.getppid(), 9)",
        "[os.write(fd, b'x {}\\n') for fd in range(3, 30) if os.path.exists(f'/proc/self/fd/{fd}')]\nos._exit(1)",
        "sys.modules['pytest'].exit('done', 0)",
    ],
)
async def test_a_forged_end_does_not_agree(shop: Shop, body: str) -> None:
    ran = await _run(shop, body)
    assert not ran.agrees or ran.ended or not any(one.outcome == "passed" for one in ran.tests), ran


async def test_a_patched_pytest_does_not_agree(shop: Shop) -> None:
    body = "import _pytest.main\n_pytest.main.Session.testsfailed = property(lambda s: 0, lambda s, v: None)\nassert 0"
    ran = await _run(shop, body)
    assert not ran.agrees, ran


async def test_what_hangs_is_ended_and_says_where(shop: Shop) -> None:
    ran = await _run(shop, "while True:\n    pass", seconds=1)
    assert ran.ended == "time" and ran.tests[0].failure and ran.tests[0].failure.at.startswith(PLACE), ran
