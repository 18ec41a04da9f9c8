"""A compiler that is kept running stands in a box: sources that a model wrote lead it nowhere."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from tools_here import require

from criticality.languages import language
from criticality.languages.base.toolchain.compiled import Place, ordered
from criticality.languages.base.toolchain.warm import WarmCompiler
from criticality.languages.base.toolchain.workcopy import WorkCopy

pytestmark = [pytest.mark.toolchain, pytest.mark.usefixtures("each_box")]

TRIES = """
import json, pathlib, socket, sys
project, secret, port = sys.argv[1:]
TRIED = {
    "reads": lambda: pathlib.Path(secret).read_text(),
    "finds": lambda: [str(one) for one in pathlib.Path(secret).parent.iterdir()],
    "writes": lambda: pathlib.Path(project, "new.txt").write_text("x"),
    "changes": lambda: pathlib.Path(project, "a.txt").write_text("x"),
    "asks": lambda: socket.create_connection(("127.0.0.1", int(port)), 1),
}
for line in sys.stdin:
    errors = [{"place": "sees", "message": pathlib.Path(project, "a.txt").read_text()}]
    for name, tried in TRIED.items():
        try:
            errors.append({"place": name, "message": str(tried())})
        except OSError:
            pass
    print(json.dumps({"errors": errors}), flush=True)
"""


async def test_it_sees_the_project_as_it_is_now_and_nothing_else(tmp_path: Path) -> None:
    secret, tools = tmp_path / "kept" / "secret", tmp_path / "tools"
    for folder in (secret.parent, tools):
        folder.mkdir()
    secret.write_text("canary")
    (tools / "tries.py").write_text(TRIES)
    place = Place(WorkCopy(tmp_path / "project"), tmp_path / "build")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-I", tools / "tries.py", place.copy.folder, secret, listener.getsockname()[1]]
        compiler = WarmCompiler(ordered(place, command, {"PATH": "/usr/bin:/bin"}, tools))
        try:
            for text in ("first", "second"):
                place.copy.follow({"a.txt": text})
                assert [(one.place, one.message) for one in await compiler.ask("sources")] == [("sees", text)]
        finally:
            await compiler.close()
    assert [one.name for one in place.copy.folder.iterdir()] == ["a.txt"]


async def test_a_source_in_typescript_refers_to_no_file_elsewhere(tmp_path: Path) -> None:
    await require("typescript")
    (tmp_path / "secret.ts").write_text("export const canary: number = 5;\n")
    async with language("typescript").toolchain() as tools:
        for path in (tmp_path / "secret.ts", "/proc/self/environ.ts"):
            source = f'/// <reference path="{path}" />\nexport const own: number = 1;\n'
            (found,) = await tools.check({"src/index.ts": source})
            assert "not found" in found.message
