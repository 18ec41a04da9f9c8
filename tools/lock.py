"""Write constraints.txt anew: every version that continuous integration tries, with the hashes of all its files.

Its parts follow each other, each with what those before do not need yet: whoever wants less stops reading earlier.
A version that stands there already stays; take its lines out to have the newest. Run it by ``make lock``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "constraints.txt"
#: What each part adds, as extras; the Makefile and the Containerfile look for these lines.
PARTS = {"web": ["web"], "mcp scale": ["web", "mcp", "scale"], "dev": ["dev"], "dense": ["dev", "dense", "crosshair"]}
#: What makes the package itself of a checkout.
BUILDING = "hatchling\neditables\n"
OPTIONS = ("--universal", "--python-version", "3.11", "--quiet", "--no-header", "--no-annotate")
_BLOCK = re.compile(r"^\w.*(?:\n    .*)*", re.MULTILINE)
_NAME = re.compile(r"^\w[\w.-]*", re.MULTILINE)


def compiled(extras: list[str], *more: str) -> str:
    """Return what ``uv pip compile`` makes of the package with these extras."""
    asked = [option for extra in extras for option in ("--extra", extra)]
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "-", *asked, *OPTIONS, *more]
    return subprocess.run(command, cwd=ROOT, input=BUILDING, text=True, stdout=subprocess.PIPE, check=True).stdout


def main() -> None:
    """Ask for everything once, then for the names that each part needs."""
    compiled(PARTS["dense"], "--generate-hashes", "--output-file", str(LOCK))
    pins = _BLOCK.findall(LOCK.read_text(encoding="utf-8"))
    text = "# Written by `make lock`. Each part adds to those before it what these extras need besides.\n"
    for part, extras in PARTS.items():
        listed = compiled(extras, "--constraint", str(LOCK)) if part != "dense" else "\n".join(pins)
        names = set(_NAME.findall(listed))
        text += "\n".join([f"# {part}", *(pin for pin in pins if _NAME.findall(pin)[0] in names), ""])
        pins = [pin for pin in pins if _NAME.findall(pin)[0] not in names]
    LOCK.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
