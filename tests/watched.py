"""Opens hostile files by the project's own doors, in a process whose every step is looked at.

Reads ``{"door", "path", "out"}`` a line; writes what came of each and what it did that nobody asked for: code run,
a file opened elsewhere, a socket, a process. Memory is bounded.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any, ForwardRef

#: Bytes of address space that all doors together may take, beyond what their libraries do.
ROOM = 768 * 2**20
HERE = Path(__file__).resolve().parents[1]
OURS = tuple(map(os.path.realpath, {*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, HERE / "src"}))
SYSTEM = ("/proc/self", "/etc/localtime", "/usr/share/zoneinfo", "/dev/null", "/dev/urandom", "/etc/os-release")
DEEDS = ("socket.", "subprocess.", "os.exec", "os.spawn", "os.posix_spawn", "os.system", "os.fork", "pickle.", "pty.")
CHANGES = {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.chmod", "os.truncate",
           "shutil.rmtree", "shutil.move", "os.chown", "os.setxattr"}  # fmt: skip
asked: list[str] = []
kept: list[str] = []
unasked: list[str] = []
quiet = True


def is_below(path: str, places: list[str] | tuple[str, ...]) -> bool:
    return any(path == place or path.startswith(place.rstrip("/") + "/") for place in places)


def of_code() -> bool:
    """Tell whether code that is there already runs: a module that is imported, an annotation that is looked up."""
    frame: Any = sys._getframe()
    while frame is not None:
        if "importlib._bootstrap" in frame.f_code.co_filename or frame.f_code is ForwardRef._evaluate.__code__:
            return True
        frame = frame.f_back
    return False


def look(event: str, arguments: tuple[Any, ...]) -> None:
    if quiet:
        return
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        writes = isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if not is_below(path, kept) and (writes or not is_below(path, [*asked, *OURS, *SYSTEM])):
            unasked.append(f"{event} {path}")
    elif event in CHANGES and isinstance(arguments[0], (str, bytes)):
        # What a link says is not where it stands.
        path = Path(os.fsdecode(arguments[event == "os.symlink"]))
        made = event == "os.mkdir" and os.path.realpath(path) in kept  # it is there already
        if path.is_absolute() and not made and not is_below(os.path.realpath(path.parent), kept):
            unasked.append(f"{event} {path}")
    elif event.startswith(DEEDS) or (event == "exec" and not of_code()):
        unasked.append(f"{event} {str(arguments)[:200]}")


def doors() -> dict[str, Callable[[Path, Path], object]]:
    """Import what is tried, so that its libraries are there before anything is looked at."""
    from ai_crucible.bundle import verify_bundle
    from ai_crucible.importing import import_folder
    from ai_crucible.puzzle_loader import load_puzzle
    from assay.batch.loading import load_job_file
    from assay.protocols.fire_circle.gating.suite import read_suite
    from assay.protocols.fire_circle.prompt_file import read_prompt_file
    from criticality.config import load_config
    from criticality.human import load_answers
    from crux.personas.importing import import_corpus
    from crux.watch_file import read_watch
    from llm_runtime.documents import read_bytes, read_document
    from llm_runtime.settings import read_config
    from llm_runtime.store import SqliteStore
    from llm_runtime.store.transfer import import_run
    from sandbox import made_once
    from sandbox.image import unpacked

    # Root keeps what it unpacks where all accounts find it; here it is kept with everything else.
    made_once._cache = Path.home  # pyright: ignore[reportPrivateUsage]

    def recording(path: Path, out: Path) -> None:
        store = SqliteStore(out / "runs.db")
        try:
            with path.open("rb") as file:
                import_run(store, file)
        finally:
            store.close()

    return {
        "puzzle": lambda path, out: load_puzzle(path.parent),
        "tasks": lambda path, out: import_folder(path.parent, out / "puzzles"),
        "job": lambda path, out: load_job_file(path),
        "suite": lambda path, out: read_suite(path),
        "prompt": lambda path, out: read_prompt_file(str(path)),
        "watch": lambda path, out: read_watch(path),
        "answers": lambda path, out: load_answers(path),
        "build": lambda path, out: load_config(path),
        "settings": lambda path, out: read_config(path.parent),
        "texts": lambda path, out: import_corpus(path),
        "document": lambda path, out: read_document(path.name, read_bytes(path, 2**25)),
        "recording": recording,
        "bundle": lambda path, out: verify_bundle(path),
        "image": lambda path, out: unpacked(path),
    }


def main() -> None:
    """Try each file; see the head of the module."""
    global quiet
    from llm_runtime.errors import LlmRuntimeError
    from sandbox import SandboxError

    opened = doors()
    before = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (before + ROOM, before + ROOM))
    sys.addaudithook(look)
    for line in sys.stdin:
        order = json.loads(line)
        path, out = Path(order["path"]), Path(order["out"])
        asked[:], kept[:] = [os.path.realpath(path.parent)], [os.path.realpath(out)]
        unasked.clear()
        quiet = False
        try:
            opened[order["door"]](path, out)
            outcome = "read"
        except (LlmRuntimeError, SandboxError) as error:
            outcome = "refused" if len(str(error).splitlines()) == 1 else f"{len(str(error).splitlines())} lines"
        except BaseException as error:
            outcome = f"{type(error).__name__}: {str(error)[:200]}"
        quiet = True
        print(json.dumps({**order, "outcome": outcome, "unasked": list(unasked)}), flush=True)


if __name__ == "__main__":
    main()
