"""What the documentation shows is run or read: Python blocks are run, commands are held to the real options.

A block that names a file behind its fence belongs to a package that a test of ``tests/docs`` builds.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import click
import pytest

from assay.registry import OURS, ours

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_FENCED = re.compile(r"^```(.*?)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.mark.parametrize("page", [p for p in PAGES if _BLOCK.search(p.read_text("utf-8"))], ids=lambda p: p.name)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    script = tmp_path / "page.py"
    script.write_text("\n\n".join(blocks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_help_of_a_group_says_of_each_command_a_whole_sentence() -> None:
    help_ = (ROOT / "docs/cli.md").read_text("utf-8").splitlines()
    assert not [line for line in help_ if re.search(r"[a-z,;]\.\.\.$", line)]


#: Entry points beside ``assay``, and the command of ``assay`` that each is.
_NAMES = {
    "criticality": ["build"],
    "crit": ["build"],
    "crux": ["debate"],
    "fire-circle": ["circle"],
    "ai-crucible": ["trial"],
}


def _commands(page: Path) -> list[list[str]]:
    """The commands of ours in a page's shell blocks, as the words behind ``assay``."""
    lines = [
        line
        for kind, block in _FENCED.findall(page.read_text("utf-8"))
        if kind in ("", "sh")
        for line in block.splitlines()
    ]
    commands: list[list[str]] = []
    for line in lines:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:
            continue  # prose with an apostrophe
        for group, part in itertools.groupby(words, key=lambda word: word in ("|", "&&", ";", "&")):
            first, *rest = part
            name = first.rpartition("/")[2]
            if not group and (name == "assay" or name in _NAMES):
                commands.append([*_NAMES.get(name, []), *rest])
    return commands


_SHOWN = [page for page in PAGES if page.name not in ("cli.md", "add-a-protocol.md") and _commands(page)]


@pytest.mark.parametrize("page", _SHOWN, ids=lambda p: p.name)
def test_the_commands_of_a_page_are_there_with_their_options(page: Path) -> None:
    for words in _commands(page):
        _check(words)


def _check(words: list[str]) -> None:
    from assay.cli import assay

    command, rest = assay, list(words)
    context = click.Context(assay)
    while isinstance(command, click.Group):
        if not rest or rest[0].startswith("-"):
            break
        inner, after = command.get_command(context, rest[0]), rest[1:]
        if inner is None:  # `assay debate TOPIC` is `assay debate debate TOPIC`
            inner, after = command.get_command(context, command.name or ""), rest
        assert inner is not None, f"{' '.join(words)}: no such command"
        command, rest = inner, after
    options = {name for param in command.params for name in (*param.opts, *param.secondary_opts)} | {"--help", "-h"}
    used = {word.partition("=")[0] for word in rest if re.match(r"--?[a-zA-Z]", word)}
    assert used <= options, f"{' '.join(words)}: no such option: {', '.join(sorted(used - options))}"


def test_the_pages_on_the_command_line_are_the_help_of_today() -> None:
    """`make docs` writes both, in a process of its own: click keeps help options of commands that ran before."""
    code = "from docs.generate import cli_page, man_page; print(cli_page(), man_page(), sep='\\0', end='')"
    made = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    page, manual = made.stdout.split("\0")
    assert (ROOT / "docs/cli.md").read_text(encoding="utf-8") == page
    assert (ROOT / "docs/assay.1").read_text(encoding="utf-8") == manual


@pytest.mark.needs("man", "groff", "nroff", "troff", "grotty", "preconv", "tbl", "col")
def test_man_draws_the_page_without_a_warning() -> None:
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "120"}
    command = ["man", "--warnings", "--local-file", str(ROOT / "docs/assay.1")]
    drawn = subprocess.run(command, env=env, capture_output=True, encoding="utf-8", check=True)
    assert not drawn.stderr and "assay serve keys add" in drawn.stdout and "--budget" in drawn.stdout


#: Names of kinds of run look like modules.
KINDS = {run.name for name in OURS for run in ours(name).runs}
_PLACE = re.compile(r"`((?:src|docs|tests|assay|llm_runtime|crucible|criticality)/[\w./-]*(?:\.\w+|/))`")
_NAME = re.compile(r"`((?:assay|llm_runtime|crucible|fire_circle|crux|ai_crucible|criticality)(?:\.[A-Za-z_]\w*)+)`")


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda p: p.name)
def test_the_files_and_modules_that_a_page_names_are_there(page: Path) -> None:
    text = page.read_text("utf-8")
    for place in _PLACE.findall(text):
        if "NAME" not in place:
            assert (ROOT / place).exists() or (ROOT / "src" / place).exists(), place
    for name in _NAME.findall(text):
        if not name.endswith((".toml", ".md", ".db", ".lock", ".signers")) and name not in KINDS:
            resolve_name(name)
