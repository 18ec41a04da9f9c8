"""`assay serve` beside installed protocols of which a part is broken: it starts, and names them."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import aiohttp
import pytest
from tests.commands import Commands, bare_world

TOKEN = "a-token-for-tests-0123"
PROTOCOL = """
from assay.protocol import Protocol, RunType

RUN = RunType("{name}.run", "Do {name}", "Does it.", "thing", hooks="{hooks}")
PROTOCOL = Protocol(
    "{name}", "{name}", "About it.", "It works.", ("{name}", "{name}.commands:GO"), "Does it.", (RUN,),
    pages="{pages}",
)
"""
PAGES = """
from assay.web.endpoints import Endpoint
from starlette.responses import Response

async def show(request):
    return Response("shown")

PAGES = {pages}
"""
SOUND = 'Endpoint("/{name}", show, need="known", title="{name}"),'
HOOKS = "assay.protocols.compare.direct:DirectHooks"
#: What is broken, and what is said of it.
BROKEN = {
    "absent": ({"pages": "absent.nowhere:PAGES"}, "absent.nowhere"),
    "raising": ({"source": "raise RuntimeError('no disk')"}, "no disk"),
    "leaving": ({"source": "raise SystemExit('two\\nlines')"}, "two lines"),
    "wordy": ({"tuple": '("/wordy",)'}, "str"),
    "lone": ({"tuple": 'Endpoint("/lone", show)'}, "Endpoint"),
    "astray": ({"tuple": '(Endpoint("astray", show, title="astray"),)'}, "astray"),
    "twice": ({"tuple": '(Endpoint("/twice/{a}/{a}", show),)'}, "twice"),
    "wordless": ({"glossary.toml": "[words\n"}, "glossary.toml"),
    "latin": ({"glossary.toml": b'[words]\n"x" = "\xe9"\n'}, "glossary.toml"),
    "hookless": ({"hooks": "hookless.task:NONE"}, "hookless.task"),
    "listed": ({"hooks": "hookless.commands:GO"}, "hookless.commands:GO"),
}


def install(site: Path, name: str, broken: dict[str, str | bytes]) -> None:
    package, info = site / name, site / f"{name}-1.0.dist-info"
    package.mkdir(parents=True)
    info.mkdir()
    given = {"name": name, "hooks": broken.get("hooks", HOOKS), "pages": broken.get("pages", f"{name}.pages:PAGES")}
    (package / "__init__.py").write_text(PROTOCOL.format(**given))
    (package / "commands.py").write_text("GO = None\n")
    pages = broken.get("tuple", f"({SOUND.format(name=name)})")
    (package / "pages.py").write_text(str(broken.get("source", PAGES.format(pages=pages))))
    if words := broken.get("glossary.toml"):
        (package / "glossary.toml").write_bytes(words if isinstance(words, bytes) else words.encode())
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[assay.protocols]\n{name} = {name}:PROTOCOL\n")


@pytest.mark.long
@pytest.mark.process
async def test_what_is_broken_stops_nobody_and_is_named(commands: Commands, tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the web extra is not installed")
    site = tmp_path / "site"
    install(site, "sound", {})
    for name, (broken, _) in BROKEN.items():
        install(site, name, broken)
    world = bare_world(tmp_path)
    place = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    world |= {"PYTHONPATH": os.pathsep.join(place), "PYTHONDONTWRITEBYTECODE": "1", "ASSAY_TOKEN": TOKEN}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assay", "serve", "--port", str(port)),
        cwd=tmp_path,
        env=world,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert serving.stdout is not None
        assert f":{port}/" in (await serving.stdout.readline()).decode()
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=headers) as client:
            for path in ("/", "/runs", "/sound", "/new?kind=crucible.council", "/openapi.json", "/v1/models"):
                async with client.get(path) as response:
                    assert response.status == 200, path
                    assert path != "/" or 'href="/sound"' in await response.text()
    finally:
        serving.send_signal(signal.SIGINT)
        said = (await serving.communicate())[1]
    assert serving.returncode == 0 and said.endswith(b"\nstopped\n"), "a server that is stopped is in order"
    lines = said.decode().splitlines()
    checked = await commands.run("doctor", cwd=tmp_path, env=world)
    assert checked.code == 1
    for name, (_, words) in BROKEN.items():
        (line,) = [line for line in lines if line.startswith(f"protocol {name}")]
        assert words in line
        assert any(name in row and words in row for row in checked.out.splitlines()), name
