"""Has a watched process open what is hostile, and checks what came of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


def try_all(folder: Path, orders: list[tuple[str, str, bytes]]) -> None:
    """Open files, each at a door and under a name; ``folder`` holds ``outside``, which nothing may reach."""
    outside, out, given = folder / "outside", folder / "out", folder / "given"
    for each in (outside, out, given):
        each.mkdir()
    (outside / "kept").write_text("kept")
    lines = ""
    for number, (door, name, data) in enumerate(orders):
        path = given / str(number) / name
        path.parent.mkdir()
        path.write_bytes(data)
        lines += json.dumps({"door": door, "path": str(path), "out": str(out)}) + "\n"
    before = snapshot(outside), snapshot(given)
    env = dict.fromkeys(("HOME", "ASSAY_DATA_DIR", "ASSAY_CONFIG_DIR", "TMPDIR"), str(out))
    env |= {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT / "src")}
    script = [sys.executable, str(ROOT / "tests" / "watched.py")]
    done = subprocess.run(script, input=lines, env=env, cwd=out, capture_output=True, text=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(orders), done.stderr[-2000:]
    bad = [
        (one["door"], number, one["outcome"], one["unasked"])
        for number, one in enumerate(told)
        if one["outcome"] not in ("read", "refused") or one["unasked"]
    ]
    assert not bad, "\n".join(map(str, bad))
    assert (snapshot(outside), snapshot(given)) == before
    assert not [path for path in (out, folder) if (path / "CANARY").exists() or (path / "pwned").exists()]
