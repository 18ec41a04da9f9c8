"""The tutorial is run as it stands, the page on worth holds measured figures alone, the site builds strictly."""

from __future__ import annotations

import asyncio
import lzma
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_FENCED = re.compile(r"^```(sh|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.long
async def test_the_tutorial_does_what_it_says_offline(commands: Any, tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "ASSAY_DATA_DIR": str(tmp_path / "data")}
    env |= {"ASSAY_CONFIG_DIR": str(tmp_path / "config"), "ASSAY_LOCAL_SERVERS": "", "COLUMNS": "200"}
    shown = ""
    for kind, block in _FENCED.findall((DOCS / "tutorial.md").read_text("utf-8")):
        if kind == "text":
            for line in block.splitlines():
                assert line in shown, f"{line} is not in:\n{shown}"
            continue
        shown = ""
        for line in block.splitlines():
            words, _, code = line.partition("  # exit ")
            first, *rest = shlex.split(words)
            rest, into = (rest[:-2], rest[-1]) if ">" in rest else (rest, "")
            if first == "assay":
                done = await commands.run(*rest, cwd=tmp_path, env=env)
                assert done.code == int(code or 0), f"{line}\n{done.err}"
                out, shown = done.out, shown + done.out + done.err
            else:
                made = await asyncio.create_subprocess_exec(first, *rest, cwd=tmp_path, stdout=subprocess.PIPE)
                out = (await made.communicate())[0].decode()
            if into:
                (tmp_path / into).write_text(out)
    assert (tmp_path / "council.html").stat().st_size > 10_000


@pytest.mark.long
async def test_each_recording_of_the_cookbook_is_what_its_row_says_and_plays_again(
    commands: Any, tmp_path: Path
) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "ASSAY_DATA_DIR": str(tmp_path / "data")}
    rows = re.findall(
        r"\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| \$0 \| \[\w+\]\((.*)\) \|", (DOCS / "cookbook.md").read_text("utf-8")
    )
    assert {DOCS / row[-1] for row in rows} == set((DOCS / "cookbook").iterdir())
    for calls, tokens, seconds, file in rows:
        log = lzma.decompress((DOCS / file).read_bytes())
        taken = await commands.run("runs", "import", "-", cwd=tmp_path, env=env, stdin=log)
        run_id = taken.err.split()[-1]
        listed = (await commands.run("runs", "list", "--json", cwd=tmp_path, env=env)).json["runs"]
        (run,) = [one for one in listed if one["run_id"] == run_id]
        assert [f"{run['calls']:,}", f"{run['input_tokens'] + run['output_tokens']:,}"] == [calls, tokens], file
        assert f"{(run['updated_at'] - run['started_at']) / 1000:,.0f}" == seconds and run["cost"] == 0
        played = await commands.run("runs", "replay", run_id, cwd=tmp_path, env=env)
        assert played.code == 0 and "replayed, with the result that was recorded" in played.out + played.err, played


def test_whether_it_is_worth_it_rests_on_measured_figures_alone() -> None:
    measured = (DOCS / "evidence.md").read_text("utf-8") + (DOCS / "live.md").read_text("utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (DOCS / "worth.md").read_text("utf-8").splitlines()
        if line.startswith("|") and any(character.isdigit() for character in line)
    ]
    assert rows
    for name, *cells in rows:
        same = [line for line in measured.splitlines() if line.startswith(f"| {name} ")]
        assert any(all(f"| {cell} " in line for cell in cells if cell) for line in same), (name, cells)


@pytest.mark.long
@pytest.mark.skipif(find_spec("material") is None, reason="mkdocs-material is not installed; make test installs it")
def test_the_site_builds_without_a_warning_and_every_link_in_it_leads_somewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert built.returncode == 0 and "WARNING" not in built.stderr, built.stderr
    pages = {page.relative_to(tmp_path): page.read_text("utf-8") for page in tmp_path.rglob("*.html")}
    assert len(pages) > len(list(DOCS.rglob("*.md"))) and (tmp_path / "search/search_index.json").exists()
    del pages[Path("404.html")]  # its links begin at the root of the server that shows it
    for place, text in pages.items():
        # Nothing is fetched from elsewhere, and no fence was taken for prose.
        assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="https?://', text), place
        assert "```" not in re.sub(r"<pre.*?</pre>|<code.*?</code>", "", text, flags=re.DOTALL), place
        for link in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', text):
            assert (tmp_path / place.parent / link).exists(), (place, link)
