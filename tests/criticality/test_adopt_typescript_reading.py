"""Reading a package of TypeScript shows its compiler the package, and nothing else of the machine."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.criticality.languages.tools_here import require

from criticality.languages import adopter

pytestmark = [pytest.mark.toolchain, pytest.mark.box]

CANARY = "q7canary"


async def test_a_package_names_files_elsewhere_and_none_is_read(tmp_path: Path) -> None:
    await require("typescript")
    away, folder = tmp_path / "away", tmp_path / "repository" / "packages" / "shop"
    away.mkdir()
    folder.mkdir(parents=True)
    (tmp_path / "repository/.git").mkdir()
    (away / "secret.ts").write_text(f'export const secret = "{CANARY}" as const;\n')
    (away / "tsconfig.json").write_text(json.dumps({"compilerOptions": {"strict": CANARY}}))
    (tmp_path / "repository/tsconfig.base.json").write_text('{"compilerOptions": {"target": "es2023"}}')
    (folder / "tsconfig.json").write_text(json.dumps({"extends": ["../../tsconfig.base.json", str(away)]}))
    place = str(away / "secret")
    (folder / "one.ts").write_text(
        f'/// <reference path="{place}.ts" />\nimport {{ secret }} from "{place}";\n'
        "export function told(text: typeof secret): string { return text; }\n"
    )
    (folder / "two.ts").write_text("export function half(n: number): number { return n / 2; }\n")
    read = await asyncio.to_thread(adopter(folder).read, folder)
    words = {one.module: one.refused for one in read.candidates}
    assert CANARY not in str(read.candidates) and "does not compile" in words["one"]
    assert words["two"] == ""
