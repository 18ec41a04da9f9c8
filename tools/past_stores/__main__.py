"""Make the stores: ``python -m tools.past_stores [COMMIT...]``."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.past_stores.commits import PAST, Past
from tools.past_stores.keeping import PLACE, keep
from tools.past_stores.making import MODELS, Answers, Maker

from llm_runtime.testing import LoopbackServer

_ROOT = Path(__file__).resolve().parents[2]
#: What Crux needed before it read whole books of claims, at the versions of then.
_LIBRARIES = (
    "scikit-learn==1.9.1",
    "joblib==1.6.0",
    "threadpoolctl==3.8.0",
    "networkx==3.6.1",
    "cloudpickle==3.1.2",
)


def main() -> int:
    """Make what is asked for, and enter it in the manifest."""
    parser = argparse.ArgumentParser(prog="python -m tools.past_stores", description=__doc__)
    parser.add_argument("commits", nargs="*", help="of those in commits.py; all where left out")
    parser.add_argument("--out", type=Path, default=_ROOT / "tests" / "past", help="where the stores go")
    parser.add_argument("--libraries", type=Path, help="a folder that has what past commits needed besides")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    manifest = asked.out / "manifest.json"
    with tempfile.TemporaryDirectory(prefix="past-") as folder:
        libraries = asked.libraries or _installed(Path(folder) / "libraries")
        for past in PAST:
            if asked.commits and past.commit not in asked.commits:
                continue
            made = asyncio.run(_made(past, Path(folder), libraries))
            file = asked.out / f"{past.commit}.tar.xz"
            (PLACE / past.commit / "made.json").write_text(json.dumps(made, indent=1))
            keep(PLACE / past.commit, file)
            known: dict[str, Any] = json.loads(manifest.read_text("utf-8")) if manifest.exists() else {}
            runs = [name for name, one in made.items() if "run" in one or "runs" in one]
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            known[past.commit] = {"why": past.why, "sha256": digest, "runs": runs}
            ordered = {one.commit: known[one.commit] for one in PAST if one.commit in known}
            manifest.write_text(json.dumps(ordered, indent=1) + "\n")
            print(f"{past.commit}: {len(runs)} runs and batches, {file.stat().st_size} bytes", flush=True)
    return 0


def _installed(folder: Path) -> Path:
    install = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder))
    subprocess.run([*install, *_LIBRARIES], check=True)
    return folder


async def _made(past: Past, folder: Path, libraries: Path) -> dict[str, dict[str, object]]:
    tree, home = folder / past.commit, PLACE / past.commit
    shutil.rmtree(home, ignore_errors=True)
    _git("worktree", "add", "--detach", str(tree), past.commit)
    try:
        answers = Answers()
        priced, unpriced = (LoopbackServer(answers, models=MODELS, cost=cost) for cost in (0.0004, None))
        async with priced, unpriced:
            return await Maker(tree, home, libraries, priced, unpriced, answers).make(past.rare)
    finally:
        _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(_ROOT), *arguments], check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
