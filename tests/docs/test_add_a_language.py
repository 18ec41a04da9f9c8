"""The language of ``docs/add-a-language.md`` is found by the registry, and the page names what there is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import ROOT, install, text_of, write_files

PAGE = "add-a-language.md"


def test_a_folder_that_is_installed_is_a_language(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    install(tmp_path / "tiny", tmp_path / "site")
    paths = os.pathsep.join([str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-W", "error", str(tmp_path / "tiny/look.py")],
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_files_that_the_page_sends_a_reader_to_are_there() -> None:
    go = ROOT / "src/criticality/languages/go"
    table = [line for line in text_of(PAGE).splitlines() if line.startswith("|")]
    named = {name for line in table[2:] for name in re.findall(r"`([\w/]+\.(?:py|toml|jinja))`", line)}
    assert len(named) > 8 and not [name for name in named if not (go / name).is_file()]
    folders = re.findall(r"`(\w+)/`", text_of(PAGE).partition("stands in files")[2].partition("What languages")[0])
    assert folders and not [name for name in folders if not (go / name).is_dir()]
