"""Each language's own compiler and test framework, over a tree of one function, in the box they will have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tiny_trees import TINY, Tiny
from tools_here import require

from criticality.languages import language, languages
from criticality.languages.base.toolchain.compiled import CompiledToolchain
from criticality.languages.base.toolchain.dependencies import CommandFailed, NotInstallable, Pinned
from criticality.languages.base.toolchain.programs import Program

LANGUAGES = [name for name in languages() if name != "python"]


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=LANGUAGES)
async def tools(request: pytest.FixtureRequest) -> AsyncIterator[tuple[CompiledToolchain, Tiny]]:
    """A language's tools and its tiny tree."""
    await require(request.param)
    async with language(request.param).toolchain() as tools:
        yield tools, TINY[request.param]


shared_loop = pytest.mark.asyncio(loop_scope="module")


@shared_loop
async def test_a_sound_tree_has_no_errors_and_a_broken_one_has_its_own(tools: tuple[CompiledToolchain, Tiny]) -> None:
    compiler, tiny = tools
    assert await compiler.check(tiny.tree(tiny.source)) == []
    errors = await compiler.check(tiny.tree(tiny.broken))
    assert errors
    assert errors[0].place.startswith(tiny.path)
    assert tiny.error in errors[0].message
    assert await compiler.check(tiny.tree(tiny.source)) == []


async def test_packages_are_installed_once_by_however_many_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRITICALITY_CACHE", str(tmp_path))
    made: list[Path] = []

    async def install(folder: Path) -> None:
        made.append(folder)
        (folder / "package").write_text((folder / "manifest").read_text())

    wanted = Pinned("Tiny", "tiny", {"manifest": "one"}, "1", install)
    folders = await asyncio.gather(wanted.ensure(), wanted.ensure(), wanted.ensure())
    assert made == [folders[0]]
    assert set(folders) == {wanted.folder}
    assert await Pinned("Tiny", "tiny", {"manifest": "two"}, "1", install).ensure() != wanted.folder


async def test_an_installation_that_fails_says_why_and_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRITICALITY_CACHE", str(tmp_path))
    broken = True

    async def install(folder: Path) -> None:
        (folder / "half").touch(exist_ok=False)
        if broken:
            raise CommandFailed("npm: error: no route to host")

    wanted = Pinned("Tiny", "tiny", {}, "1", install)
    with pytest.raises(NotInstallable, match="no route to host"):
        await wanted.ensure()
    assert not wanted.there
    broken = False
    assert (await wanted.ensure() / "half").is_file()


def test_a_program_that_is_not_here_or_too_old_has_no_version() -> None:
    assert Program("no-such-compiler", ("--version",), "write one").version is None
    assert Program("python3", ("--version",), "", at_least=(3, 0)).version is not None
    assert Program("python3", ("--version",), "", at_least=(99,)).version is None


@pytest.mark.parametrize("name", LANGUAGES)
def test_project_files_carry_the_name_and_the_sentence_and_nothing_unfilled(name: str) -> None:
    files = language(name).tools.project("ledger", 'Accounts & "money", moved safely.')
    text = "\n".join(files.values())
    assert "ledger" in text
    assert "{{" not in text
    assert "registry" not in text
