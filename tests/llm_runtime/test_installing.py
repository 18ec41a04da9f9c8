"""What installs a missing part, for each way in which a copy of Assay comes to be on a machine."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_runtime.errors import MissingExtraError
from llm_runtime.extras import needing
from llm_runtime.installing import how_to_install, requirements

ROOT = Path(__file__).parents[2]
PYTHON = shlex.quote(sys.executable)
NEEDS = (
    "Requires-Dist: pydantic>=2.12\n"
    "Requires-Dist: nowhere-to-be-found[fast]<2,>=1.1; extra == 'eval'\n"
    'Requires-Dist: PyYAML>=6; extra == "eval"\n'
    "Requires-Dist: nowhere-else==1; python_version < '4' and extra == 'web'\n"
)
Installed = Callable[..., None]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """Put the metadata of an installed Assay before all others."""
    monkeypatch.delenv("ASSAY_EXTRAS", raising=False)

    def put(origin: dict[str, Any] | None = None, *, text: str = "", installer: str = "pip") -> None:
        info = tmp_path / "site" / "assay-9.9.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: assay\nVersion: 9.9\n{NEEDS}", encoding="utf-8")
        (info / "INSTALLER").write_text(f"{installer}\n", encoding="utf-8")
        if origin or text:
            (info / "direct_url.json").write_text(text or json.dumps(origin), encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        importlib.invalidate_caches()

    return put


@pytest.mark.parametrize("editable", [True, False])
def test_a_checkout_is_installed_again_from_where_it_lies(installed: Installed, tmp_path: Path, editable: bool) -> None:
    checkout = tmp_path / "my work" / "assay"
    checkout.mkdir(parents=True)
    installed({"url": checkout.as_uri(), "dir_info": {"editable": True} if editable else {}})
    option = "--editable " if editable else ""
    assert how_to_install("eval") == f"install it with: {PYTHON} -m pip install {option}'{checkout}[eval]'"
    assert how_to_install() == f"install it with: {PYTHON} -m pip install {option}'{checkout}'"


def test_a_wheel_is_installed_again_from_its_file(installed: Installed, tmp_path: Path) -> None:
    wheel = tmp_path / "assay-9.9-py3-none-any.whl"
    wheel.write_bytes(b"")
    installed({"url": wheel.as_uri(), "archive_info": {"hash": "sha256=00"}})
    assert how_to_install("eval") == f"install it with: {PYTHON} -m pip install '{wheel}[eval]'"


def test_a_wheel_of_an_address_is_installed_again_from_it(installed: Installed) -> None:
    installed({"url": "https://files.test/assay-9.9-py3-none-any.whl", "archive_info": {}})
    wanted = "'assay[eval] @ https://files.test/assay-9.9-py3-none-any.whl'"
    assert how_to_install("eval") == f"install it with: {PYTHON} -m pip install {wanted}"


def test_a_repository_is_installed_again_at_its_commit(installed: Installed) -> None:
    vcs = {"vcs": "git", "commit_id": "c0ffee", "requested_revision": "main"}
    installed({"url": "ssh://git@forge.test/assay.git", "vcs_info": vcs})
    wanted = "'assay[eval] @ git+ssh://git@forge.test/assay.git@c0ffee'"
    assert how_to_install("eval") == f"install it with: {PYTHON} -m pip install {wanted}"


@pytest.mark.parametrize(
    "origin",
    [
        None,
        {"url": "file:///gone/assay-9.9-py3-none-any.whl", "archive_info": {}},
        {"url": "https://files.test/assay.whl?signature=s3cr3t", "archive_info": {}},
        {"url": "https://me:s3cr3t@files.test/assay.whl", "archive_info": {}},
        {"url": "https://s3cr3t@files.test/assay.whl", "archive_info": {}},
    ],
)
def test_where_the_origin_is_of_no_use_the_parts_themselves_are_named(
    installed: Installed, origin: dict[str, Any] | None
) -> None:
    installed(origin)
    missing = "'nowhere-to-be-found[fast]<2,>=1.1'"
    assert how_to_install("eval") == f"install it with: {PYTHON} -m pip install {missing}"


@pytest.mark.parametrize("text", ["{", "[]", '{"url": 1}', '{"url": "https://[assay"}'])
def test_a_note_of_the_origin_that_is_none_changes_nothing(installed: Installed, text: str) -> None:
    installed(text=text)
    assert how_to_install("web") == f"install it with: {PYTHON} -m pip install nowhere-else==1"


def test_what_uv_installed_uv_adds_to(installed: Installed, tmp_path: Path) -> None:
    installed({"url": tmp_path.as_uri(), "dir_info": {"editable": True}}, installer="uv")
    assert how_to_install("eval") == f"install it with: uv pip install --python {PYTHON} --editable '{tmp_path}[eval]'"


def test_an_image_is_built_anew_with_what_it_has_and_what_it_lacks(
    installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed()
    monkeypatch.setenv("ASSAY_EXTRAS", "web,mcp,scale")
    assert how_to_install("eval").endswith(": podman build --build-arg EXTRAS=eval,mcp,scale,web -t assay:local .")
    containerfile = (ROOT / "Containerfile").read_text(encoding="utf-8")
    assert "ARG EXTRAS=web,mcp,scale" in containerfile and "ENV ASSAY_EXTRAS=$EXTRAS" in containerfile


def test_a_home_is_not_spelled_out(installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "my assay").mkdir()
    installed({"url": (tmp_path / "my assay").as_uri(), "dir_info": {"editable": True}})
    assert how_to_install("eval").endswith("-m pip install --editable ~/'my assay[eval]'")


def test_sources_that_nobody_installed_are_installed_from_where_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert how_to_install("eval").endswith(f"-m pip install --editable {shlex.quote(f'{ROOT}[eval]')}")


def test_a_requirement_is_read_with_its_package_and_its_extra(installed: Installed) -> None:
    installed()
    assert list(requirements()) == [
        ("", "pydantic", "pydantic>=2.12"),
        ("eval", "nowhere-to-be-found", "nowhere-to-be-found[fast]<2,>=1.1"),
        ("eval", "PyYAML", "PyYAML>=6"),
        ("web", "nowhere-else", "nowhere-else==1"),
    ]


def test_who_lacks_a_part_is_told_in_one_line_how_to_get_it(installed: Installed) -> None:
    installed()
    with pytest.raises(MissingExtraError) as caught, needing("a trial", "eval"):
        import nowhere_to_be_found  # pyright: ignore[reportMissingImports]  # noqa: F401
    wanted = f"{PYTHON} -m pip install 'nowhere-to-be-found[fast]<2,>=1.1'"
    assert str(caught.value) == f"a trial needs an optional part; install it with: {wanted}"


@pytest.mark.parametrize("module", ["llm_runtime.nowhere", "pydantic.nowhere"])
def test_a_module_that_a_package_lacks_is_a_fault_and_no_missing_part(module: str) -> None:
    with pytest.raises(ModuleNotFoundError, match="nowhere"), needing("a trial", "eval"):
        importlib.import_module(module)


# Where a line names Assay to an installer, it says where Assay lies.
NAMED = re.compile(
    r"""(?<![\w./-])assay\[[\w,{}$-]+\](?! @ )"""
    r"""|\b(?:pipx?|uv|uvx|tool) install (?:-\S+ )*['"]?assay\b"""
    r"""|^dependencies = \[.*['"]assay['"[]"""
)
KINDS = {".md", ".py", ".toml", ".html", ".yml", ".yaml", ".1", ".txt", ""}


def test_no_line_takes_assay_from_an_index() -> None:
    roots = [ROOT / name for name in ("src", "docs", "tests", "bench", "tools")]
    files = [path for root in roots for path in root.rglob("*") if path.suffix in KINDS and path.is_file()]
    files += [path for path in ROOT.iterdir() if path.is_file() and path.suffix in KINDS]
    named: list[str] = []
    for path in files:
        # An extra that names others of ours is no line for an installer, but what it reads in the copy it installs.
        if path != Path(__file__) and path.name != "pyproject.toml" and "__pycache__" not in path.parts:
            lines = path.read_text(encoding="utf-8", errors="ignore").splitlines()
            named += [
                f"{path.relative_to(ROOT)}:{at}: {line}" for at, line in enumerate(lines, 1) if NAMED.search(line)
            ]
    assert not named, "\n".join(named)
