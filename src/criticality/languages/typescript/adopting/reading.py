"""What an existing package exports, as TypeScript's compiler reads it, and why some of it cannot be adopted."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from criticality.judging.served import BUILDING, interpreter
from criticality.languages.base.adopting import plan_name
from criticality.languages.base.data import read_text
from criticality.languages.base.naming import snake
from criticality.languages.base.toolchain.programs import prefix
from criticality.languages.typescript.toolchain import NODE, TypeScriptToolchain, environment
from criticality.standing import Candidate, NamedTypes, Package, Parameter
from llm_runtime.errors import ConfigurationError
from sandbox import NoIsolation, Order, Root, backend, run_now

_HERE = "criticality.languages.typescript.adopting"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}\Z")
_MANIFESTS = ("package.json", "tsconfig.json")
#: Folders of a package that are not its own.
BESIDE = ("node_modules", ".git")
_LIMITS = BUILDING.model_copy(update={"seconds": 120, "output": 64 << 20})


def is_typescript(path: Path) -> bool:
    """Tell whether it is a package's folder with a manifest of it, a folder of one, or a ``.ts`` file."""
    return path.suffix == ".ts" or (path.is_dir() and _root(path) is not None and any(path.rglob("*.ts")))


def _root(path: Path) -> Path | None:
    folders = [path, *path.parents] if path.is_dir() else list(path.parents)
    return next((one for one in folders if any((one / name).is_file() for name in _MANIFESTS)), None)


def read_package(path: Path) -> Package:
    """Read a package's folder, a folder of it, or one TypeScript file.

    Raises:
        ConfigurationError: there is none, its settings cannot be read, or there is no compiler for it.
    """
    path = path.absolute()
    if not path.exists():
        raise ConfigurationError(f"there is no {path}; name a package's folder or a .ts file")
    root = _root(path) or path.parent
    found = _compiled(root, path)
    candidates: list[Candidate] = []
    texts: dict[Path, str] = {}
    known: dict[str, str] = {}
    for each in found:
        file = Path(each["path"])
        dotted = ".".join(file.relative_to(root).with_suffix("").parts)
        texts[file] = each["text"]
        if "fault" in each:
            candidates.append(Candidate("", dotted, "", file, refused=f"it does not compile: {each['fault']}"))
        candidates += [_candidate(file, dotted, plan_name(dotted, known), one) for one in each["functions"]]
    return Package(root, root, tuple(candidates), texts, "typescript", BESIDE)


def _compiled(root: Path, path: Path) -> list[dict[str, Any]]:
    """Return what the compiler read of each file."""
    if NODE.version is None:
        raise ConfigurationError(f"TypeScript needs node, which is not here; {NODE.get}")
    with ThreadPoolExecutor(1) as thread:  # this may be called from within a loop
        packages = thread.submit(asyncio.run, TypeScriptToolchain.pinned().ensure()).result()
    library, node = packages / "node_modules/typescript/lib/typescript.js", NODE.path()
    scripts = {f"/run/{name}": read_text(_HERE, name).encode() for name in ("reader.mjs", "shapes.mjs")}
    order = Order(
        (str(node), *[*scripts][:1], str(library), root.as_posix(), path.as_posix()), _LIMITS, root=Root(whole=True),
        environment=environment(node), readable=(*interpreter(), packages, prefix(node), *_seen(root)),
        texts=scripts, python=sys.executable,
    )  # fmt: skip
    try:
        answer = json.loads(run_now(order, apart=True, by=backend().name).stdout)
    except NoIsolation as fault:
        raise ConfigurationError(str(fault)) from None
    except ValueError:
        raise ConfigurationError(f"{path.name} cannot be read: the compiler gives up on it") from None
    if "fault" in answer:
        raise ConfigurationError(f"{path.name} cannot be read: {answer['fault']}")
    return answer["files"]


def _seen(root: Path) -> Iterator[Path]:
    """Yield what a package is read with: itself, and of the repository around it what compilers look for there."""
    yield root
    top = next((one for one in (root, *root.parents) if (one / ".git").exists()), root)
    for folder in (one for one in (root, *root.parents) if one.is_relative_to(top)):
        modules = folder / "node_modules"
        yield from (modules, *folder.glob("tsconfig*.json"), *folder.glob("package.json"))
        # A workspace links its packages to each other.
        links = (one.resolve() for one in (*modules.glob("*"), *modules.glob("@*/*")) if one.is_symlink())
        yield from (one for one in links if one.is_relative_to(top))


def _candidate(file: Path, dotted: str, plan: str, one: dict[str, Any]) -> Candidate:
    written: str = one["name"]
    name, refused = snake(written), one.get("refused", "")
    if not refused and not _NAME.match(name):
        refused = f"the name {written} is none that a specification can have"
    return Candidate(
        id=f"{plan}.{name}", module=dotted, name=name, path=file, line=one["line"], source=one.get("source", ""),
        doc=one.get("doc", ""), refused=refused, written=written, body=one.get("body", ""),
        span=(one.get("start", 0), one.get("end", 0)), result=one.get("result", ""), title="TypeScript",
        exported=one.get("exported", ""),
        parameters=tuple(Parameter(p["name"], p["default"], type=p["type"]) for p in one.get("params", ())),
        named=NamedTypes.model_validate(one.get("named", {})),
    )  # fmt: skip
