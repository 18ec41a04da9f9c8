"""What runs outside a box is told, and what was brought into one reaches nothing of the machine."""

from __future__ import annotations

import ast
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from criticality.audits import audited

ROOT = Path(__file__).parents[2]
TOLD = (ROOT / "docs/sandbox.md").read_text("utf-8").partition("## What runs outside")[2]
STARTS = {"create_subprocess_exec", "create_subprocess_shell", "Popen", "system", "popen", "execvp", "execv", "eval"}
CANARY = "q7canary"


def starting(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        of = ast.unparse(node.func)
        if of.rpartition(".")[2] in STARTS or of in ("exec", "subprocess.run", "subprocess.check_output"):
            yield of
        if any(word.arg == "by" and "NONE" in ast.unparse(word.value) for word in node.keywords):
            yield "by=NONE"


def test_what_runs_outside_a_box_stands_in_the_documentation() -> None:
    found = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src").rglob("*.py")
        if "puzzles" not in path.parts and list(starting(ast.parse(path.read_text("utf-8"))))
    }
    assert len(found) > 10
    assert [one for one in sorted(found) if f"`{one}`" not in TOLD and not one.startswith("sandbox/")] == []


TRIES = """#!{python} -I
import os, socket, sys
done = []
for name, act in dict(
    read=lambda: open({secret!r}).read(), listed=lambda: os.listdir({folder!r}), wrote=lambda: open({new!r}, "w"),
    asked=lambda: socket.create_connection(("127.0.0.1", {port}), 1),
).items():
    try:
        act()
        done.append(name)
    except OSError:
        pass
print("severity:", *done, *sorted(os.listdir(".")))
sys.exit(1)
"""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.mark.box
async def test_a_scanner_of_sources_sees_them_and_one_that_asks_the_network_sees_manifests(
    tmp_path: Path, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, kept = tmp_path / "own" / "bin", tmp_path / "kept"
    for folder in (programs, kept):
        folder.mkdir(parents=True)
    (kept / "secret").write_text(CANARY)
    facts = {"secret": str(kept / "secret"), "folder": str(kept), "new": str(kept / "new")}
    for name in ("flawfinder", "npm"):
        text = TRIES.format(python=sys.executable, port=listener.getsockname()[1], **facts)
        (programs / name).write_text(text if name == "flawfinder" else text.replace("act()", "pass"))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    said = await audited([("flawfinder",), ("npm",)], {"body.py": "x = 1"}, {"package.json": "{}"})
    assert said["flawfinder"] == "findings: severity: body.py package.json"
    assert said["npm"].endswith(" package.json") and "body.py" not in said["npm"]
    assert [one.name for one in kept.iterdir()] == ["secret"]
