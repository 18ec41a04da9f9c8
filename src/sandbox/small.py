"""A small root of this machine's own programs: those that ``small.toml`` names, what they load, and Python's library.

Compilers, browsers and whatever else lies below ``/usr`` are no part of it: nobody finds them in a box, and no digest
changes with them. It is copied once, and stays as it is until one of its programs changes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Sequence
from functools import cache, partial
from hashlib import sha256
from importlib import resources
from pathlib import Path

from sandbox.errors import BadRoot
from sandbox.made_once import made_once

_SYSTEM = "/usr/bin:/usr/sbin:/bin:/sbin"
_LOADED = re.compile(r"(?:=> |^[^\S\n]++)(/\S+)", re.MULTILINE)


def small_root() -> Path:
    """Return its folder, which is made again where the cache was emptied.

    Raises:
        BadRoot: it cannot be made.
    """
    try:
        return made_once("roots", *_described())
    except OSError as fault:
        raise BadRoot(f"no small root can be made here ({fault}): --box-root host takes all programs") from None


@cache
def _described() -> tuple[str, Callable[[Path], None]]:
    """Return the digest of what it is made from, and what makes it."""
    text = resources.files("sandbox").joinpath("small.toml").read_text(encoding="utf-8")
    table: dict[str, list[str]] = tomllib.loads(text)
    programs = {
        name: Path(found).resolve() for name in table["programs"] if (found := shutil.which(name, path=_SYSTEM))
    }
    told = [f"{name} {path} {path.stat().st_mtime_ns} {path.stat().st_size}" for name, path in programs.items()]
    library = _told("python3", "-I", "-S", "-c", "import sys; print('\\n'.join(sys.path))").split()
    folders = [path for path in map(Path, [*library, *table["folders"]]) if path.is_dir()]
    key = sha256("\n".join([text, *map(str, folders), *told]).encode()).hexdigest()
    return key, partial(_fill, programs, folders, table["not_of_python"])


def _fill(programs: dict[str, Path], folders: Sequence[Path], left_out: Sequence[str], root: Path) -> None:
    """Copy programs under their names, folders, and the libraries that programs and modules of Python load."""
    for place in folders:
        ignored = shutil.ignore_patterns(*left_out)
        shutil.copytree(place, root / place.relative_to("/"), symlinks=True, ignore=ignored, dirs_exist_ok=True)
    python = programs["python3"]
    loading = [*programs.values(), *(path for place in folders for path in place.rglob("*.so"))]
    loaded = map(Path, set(_LOADED.findall(_told("ldd", *map(str, loading)))))
    libraries = {path.relative_to("/usr" if path.is_relative_to("/usr") else "/"): path for path in loaded}
    named = {Path("bin", name): path for name, path in {**programs, python.name: python}.items()}
    for place, path in {**libraries, **named}.items():
        (root / "usr" / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, root / "usr" / place)
    # By where this leads the version is known; packages of a task are mounted beside it.
    (root / "usr/bin/python3").unlink()
    (root / "usr/bin/python3").symlink_to(python.name)
    (root / "usr/lib" / python.name / "dist-packages").mkdir(parents=True)
    for link in {place.parts[0] for place in (*libraries, Path("bin"))}:
        (root / link).symlink_to(f"usr/{link}")


def _told(*command: str) -> str:
    # Of what is no program ldd says so and ends with 1; it tells of the others.
    return subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": _SYSTEM}).stdout
