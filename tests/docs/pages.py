"""The pages of the documentation as data: their blocks of code, by the words behind the fence."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.DOTALL | re.MULTILINE)


def text_of(name: str) -> str:
    """Return a page of ``docs``."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def files_of(name: str) -> dict[str, str]:
    """Return the files that a page shows, by the path behind the fence."""
    return {path: text for _, path, text in _BLOCK.findall(text_of(name)) if path}


def commands_of(name: str) -> list[str]:
    """Return the lines of the shell that a page shows, in order."""
    shells = (text for kind, _, text in _BLOCK.findall(text_of(name)) if kind == "sh")
    return [line for text in shells for line in text.splitlines() if line.strip()]


def blocks_of(name: str, kind: str) -> list[str]:
    """Return the blocks of a kind that name no file."""
    return [text for its, path, text in _BLOCK.findall(text_of(name)) if its == kind and not path]


def write_files(name: str, folder: Path) -> None:
    """Write the files that a page shows below a folder."""
    for path, text in files_of(name).items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def install(project: Path, site: Path) -> None:
    """Do what an installer does with a project: its metadata, with the entry points, beside its packages."""
    import shutil
    import tomllib

    data = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    about = site / f"{data['name'].replace('-', '_')}-{data['version']}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {data['name']}\nVersion: {data['version']}\n")
    groups = data["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{key} = {at}\n" for key, at in points.items()) for group, points in groups]
    (about / "entry_points.txt").write_text("\n".join(lines))
    for package in (one for one in project.iterdir() if one.is_dir()):
        shutil.copytree(package, site / package.name)
