"""The folder `plugin`: skills for agents, and what makes them a plugin of the programs that people use."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from docs.generate import SKILLS, skill_page

from assay import __version__

ROOT = Path(__file__).parents[2]
NAMES = [page.parent.name for page in SKILLS]


@pytest.mark.parametrize("page", SKILLS, ids=NAMES)
def test_a_skill_names_options_in_the_commands_own_words(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert skill_page(text) == text, "run make docs"
    assert "<!-- options: " in text and "| 78 | no model is configured |" in text


@pytest.mark.parametrize("page", SKILLS, ids=NAMES)
def test_a_skill_says_in_the_common_form_when_it_is_for_use(page: Path) -> None:
    _, head, body = page.read_text(encoding="utf-8").split("---\n", 2)
    told = yaml.safe_load(head)
    assert told["name"] == page.parent.name and len(told["name"]) <= 64
    assert "Use when" in told["description"] and len(told["description"]) <= 1024
    assert len(body.splitlines()) <= 500


def test_an_option_that_is_gone_is_told() -> None:
    page = "<!-- options: ask --budget --gone -->\n<!-- /options -->"
    with pytest.raises(KeyError, match="--gone"):
        skill_page(page)
    with pytest.raises(KeyError, match="no command 'quiz'"):
        skill_page(page.replace("ask", "quiz"))


def test_the_manifests_are_of_this_version() -> None:
    for manifest in (".claude-plugin/plugin.json", "gemini-extension.json"):
        assert json.loads((ROOT / "plugin" / manifest).read_text(encoding="utf-8"))["version"] == __version__


@pytest.mark.toolchain
@pytest.mark.needs("claude", "node")
def test_claude_code_takes_the_plugin_with_every_skill(tmp_path: Path) -> None:
    for place in (".", "plugin"):
        assert "Validation passed" in ran(tmp_path, "claude", "plugin", "validate", "--strict", str(ROOT / place))
    ran(tmp_path, "claude", "plugin", "marketplace", "add", str(ROOT))
    ran(tmp_path, "claude", "plugin", "install", "assay@assay")
    told = ran(tmp_path, "claude", "plugin", "details", "assay@assay")
    assert all(name in told for name in NAMES)


@pytest.mark.toolchain
@pytest.mark.needs("codex", "node")
def test_codex_takes_the_plugin(tmp_path: Path) -> None:
    ran(tmp_path, "codex", "plugin", "marketplace", "add", str(ROOT))
    ran(tmp_path, "codex", "plugin", "add", "assay@assay")
    installed = [page.parent.name for page in tmp_path.rglob("plugins/**/SKILL.md")]
    assert set(NAMES) <= set(installed)


@pytest.mark.toolchain
@pytest.mark.needs("gemini", "node")
def test_gemini_takes_the_extension(tmp_path: Path) -> None:
    assert "successfully validated" in ran(tmp_path, "gemini", "extensions", "validate", str(ROOT / "plugin"))


def ran(home: Path, *command: str) -> str:
    """Run a program with a home of its own; return what it printed."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    done = subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
