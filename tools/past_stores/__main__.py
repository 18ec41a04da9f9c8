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
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.past_stores.commits import IN_POSTGRESQL, OVER_POSTGRESQL, PAST, Past
from tools.past_stores.keeping import PLACE, keep
from tools.past_stores.making import MODELS, Answers, Maker

from llm_runtime.testing import LoopbackServer

_ROOT = Path(__file__).resolve().parents[2]
#: What Crux needed before it read whole books of claims, at the versions of then.
_LIBRARIES = ("scikit-learn==1.9.1", "joblib==1.6.0", "threadpoolctl==3.8.0", "networkx==3.6.1", "cloudpickle==3.1.2")


def main() -> int:
    """Make what is asked for, and enter it in the manifest."""
    parser = argparse.ArgumentParser(prog="python -m tools.past_stores", description=__doc__)
    parser.add_argument("commits", nargs="*", help="names of stores, as in the manifest; all where left out")
    parser.add_argument("--out", type=Path, default=_ROOT / "tests" / "past", help="where the stores go")
    parser.add_argument("--libraries", type=Path, help="a folder that has what past commits needed besides")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    manifest = asked.out / "manifest.json"
    with tempfile.TemporaryDirectory(prefix="past-") as folder:
        libraries = asked.libraries or _installed(Path(folder) / "libraries")
        for past in PAST:
            for name, why in _stores(past):
                if asked.commits and name not in asked.commits:
                    continue
                file = asked.out / f"{name}.tar.xz"
                with _database(name) as url:
                    made = asyncio.run(_made(past, Path(folder), libraries, url))
                    (PLACE / past.commit / "made.json").write_text(json.dumps(made, indent=1))
                    keep(PLACE / past.commit, file, url)
                known: dict[str, Any] = json.loads(manifest.read_text("utf-8")) if manifest.exists() else {}
                runs = [step for step, one in made.items() if "run" in one or "runs" in one]
                digest = hashlib.sha256(file.read_bytes()).hexdigest()
                known[name] = {"why": why, "sha256": digest, "runs": runs}
                names = [name for one in PAST for name, _ in _stores(one) if name in known]
                manifest.write_text(json.dumps({name: known[name] for name in names}, indent=1) + "\n")
                print(f"{name}: {len(runs)} runs and batches, {file.stat().st_size} bytes", flush=True)
    return 0


def _stores(past: Past) -> Iterator[tuple[str, str]]:
    """Yield the stores that a commit's code makes, each by its name and what it is there for."""
    yield past.commit, past.why
    if form := IN_POSTGRESQL.get(past.commit):
        yield f"{past.commit}{OVER_POSTGRESQL}", f"tables of PostgreSQL in their form {form}"


@contextmanager
def _database(name: str) -> Generator[str]:
    """Give the address of an empty database to a store that wants one."""
    if not name.endswith(OVER_POSTGRESQL):
        yield ""
        return
    from tests.llm_runtime.store.postgres_server import PostgresServer

    server = PostgresServer()
    try:
        yield server.new_database(f"past_{name[:8]}")
    finally:
        server.remove()


def _installed(folder: Path) -> Path:
    install = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder))
    subprocess.run([*install, *_LIBRARIES], check=True)
    return folder


async def _made(past: Past, folder: Path, libraries: Path, url: str) -> dict[str, dict[str, object]]:
    tree, home = folder / past.commit, PLACE / past.commit
    shutil.rmtree(home, ignore_errors=True)
    _git("worktree", "add", "--detach", str(tree), past.commit)
    try:
        answers = Answers()
        priced, unpriced = (LoopbackServer(answers, models=MODELS, cost=cost) for cost in (0.0004, None))
        async with priced, unpriced:
            return await Maker(tree, home, libraries, priced, unpriced, answers, url).make(past.rare)
    finally:
        _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(_ROOT), *arguments], check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
