"""`make live`: what is run against a real model before a release runs here against one that answers by schema."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from llm_runtime.testing import Fault, LoopbackServer, Received

ROOT = Path(__file__).parent.parent
#: No two answers are alike: some steps want several that differ.
REASONS = itertools.count(1)


def smallest(schema: dict[str, Any], whole: dict[str, Any]) -> Any:
    """Return a small value that fits a JSON schema: what a model without any thought would write."""
    if "$ref" in schema:
        return smallest(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return smallest(schema[choice][0], whole)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: smallest(of, whole) for name, of in schema.get("properties", {}).items()}
        case "array":
            return [smallest(schema["items"], whole) for _ in range(max(schema.get("minItems", 2), 1))]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return f"Software may decide who waits: reason {next(REASONS)} is that a rule is the same for all."


def thoughtless(received: Received) -> str:
    """Answer by the schema where one is asked for, else in a sentence."""
    wanted = received.payload.get("response_format", {}).get("json_schema", {}).get("schema")
    if not wanted:
        return "The answer is 29."
    answer = smallest(wanted, wanted)
    # A judge says which request it answers.
    if named := re.search(r'"request": "(\w+)"', received.messages[-1].content):
        answer["request"] = named[1]
    return json.dumps(answer)


async def live(server: LoopbackServer, folder: Path, *options: str) -> tuple[int, list[list[str]], str]:
    """Run it as `make live` does; return its exit code, the cells of its table, and what it printed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.live", f"{server.url}/v1#m", "--minutes", "2", "--out", str(folder), *options),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    lines = [line.strip("| ").split(" | ") for line in out.decode().splitlines() if line.startswith("|")]
    return process.returncode or 0, lines[2:], (out + err).decode()


@pytest.mark.long
@pytest.mark.process
async def test_a_row_says_how_it_ended_and_what_it_took(tmp_path: Path) -> None:
    async with LoopbackServer(thoughtless) as server:
        code, rows, said = await live(server, tmp_path, "--only", "circle", "--calls", "20")
    assert code == 0, said
    assert rows[0][:2] == ["circle", "a result"] and int(rows[0][2]) == len(server.requests) > 2


@pytest.mark.long
@pytest.mark.process
async def test_a_model_that_cannot_be_reached_is_a_row_too(tmp_path: Path) -> None:
    async with LoopbackServer(thoughtless, faults=Fault.STATUS_401) as server:
        code, rows, said = await live(server, tmp_path, "--only", "circle")
    assert code == 0, said
    assert rows[0][1].startswith("the provider failed: ") and rows[0][2] == "0"


@pytest.mark.process
async def test_a_cap_on_calls_holds(tmp_path: Path) -> None:
    async with LoopbackServer(thoughtless) as server:
        code, rows, said = await live(server, tmp_path, "--only", "circle", "--calls", "3")
    assert code == 0, said
    assert rows[0][:1] == ["circle"] and rows[0][1].startswith("a cap: ")
    assert int(rows[0][2]) == len(server.requests) == 3


@pytest.mark.long
@pytest.mark.process
@pytest.mark.box
async def test_every_protocol_ends_in_words(tmp_path: Path) -> None:
    async with LoopbackServer(thoughtless) as server:
        code, rows, said = await live(server, tmp_path)
    assert code == 0, said
    assert [row[0] for row in rows] == ["compare", "circle", "ask", "trial", "debate", "build"]
    assert not any("answered:" in row[1] for row in rows), "a build that is blocked says by what"
