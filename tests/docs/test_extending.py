"""What `docs/extending.md` shows works, and the two guests import nothing that it does not list."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest
from tests.docs.pages import ROOT, files_of, install, write_files

from assay.seat_tools.answering import beside
from assay.seat_tools.offered import offered
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers.scripted import scripted

PAGE = "extending.md"
PUBLIC = files_of(PAGE)["public"].split()
OF_OTHERS = ("assay", "llm_runtime", "sandbox", "criticality", "crucible", "crux", "fire_circle", "ai_crucible")
GUESTS = sorted((ROOT / "tests" / "guests").rglob("*.py"))


def imported(source: str) -> set[str]:
    """The modules of this repository that a source imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or ".")
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return {name for name in found if name.split(".")[0] in OF_OTHERS}


@pytest.mark.parametrize("path", GUESTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_guest_imports_what_is_public_and_nothing_else(path: Path) -> None:
    assert imported(path.read_text()) <= set(PUBLIC)


def test_the_pages_that_build_packages_import_what_is_public() -> None:
    for page in ("add-a-protocol.md", "add-a-provider.md", PAGE):
        for name, text in files_of(page).items():
            if name.endswith(".py"):
                assert imported(text) <= set(PUBLIC), (page, name)


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_is_there(name: str) -> None:
    if name.startswith("assay.web"):
        pytest.importorskip("starlette", reason="the web extra is not installed")
        pytest.importorskip("jinja2", reason="the web extra is not installed")
    assert import_module(name).__doc__


async def test_the_tool_of_the_page_throws_dice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(PAGE, tmp_path / "written")
    install(tmp_path / "written" / "dice", tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert offered(("dice:6",))[0].name == "dice"
    generate = beside(scripted("x"), ("dice:6",))
    texts: list[str] = []
    for arguments in ('{"times": 9}', '{"times": 10}'):
        request = Request("tool:dice", (Message("user", arguments),), CallLabel("docs", "throw"))
        texts.append((await generate(request)).text)
    assert all(1 <= int(one) <= 6 for one in texts[0].split()) and len(texts[0].split()) == 9
    assert texts[1] == "error: times must be 1 to 9"
