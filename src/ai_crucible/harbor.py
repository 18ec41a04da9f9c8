"""Tasks out of task folders of Harbor (``task.toml``, ``instruction.md``) and Terminal-Bench (``task.yaml``).

The package that reads them for Inspect needs Python 3.12 and Docker, so they are read here. What their image holds
beside the files that it copies cannot be had without it: a task that builds more is left out, and says so. Tests
run beside the work copy in our box; the task's own folder there (``/app``) becomes the work folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias, cast

from ai_crucible.puzzle_files import LeftOut, SuiteTask, read_text, read_tree, tests_of
from llm_runtime.http.shape import mapping
from llm_runtime.toml import parse_toml
from llm_runtime.yaml_text import parse_yaml
from sandbox import BadRoot, Root
from sandbox.building import build_image

_TESTS = "task_tests"
"""Where its tests lie beside the work copy."""
_LEVELS = {"trivial": 1, "easy": 1, "medium": 2, "hard": 4}
_HARMLESS = re.compile("FROM|WORKDIR|COPY|ADD|ENV|CMD|ENTRYPOINT|EXPOSE|LABEL|ARG|USER|SHELL|STOPSIGNAL")
_FETCHES = re.compile(r"\b(apt-get|apt|apk|curl|wget|pip3?|uvx?|npm|git clone|docker)\b")
_Image: TypeAlias = "tuple[str, str, dict[str, bytes], Path | None]"
"""The image that a task names, its work folder there, the files in that, and the archive of one that was built."""


def harbor_tasks(source: Path, images: Path | None) -> Iterator[tuple[str, Callable[[], SuiteTask]]]:
    """Yield each task below a folder by its name, with what reads it.

    Args:
        source: the folder.
        images: where the tasks' images are built; ``None`` where their files are copied as a ``Dockerfile`` says.
    """
    places = {path.parent for name in ("task.toml", "task.yaml") for path in source.rglob(name)}
    image = partial(_built, images) if images else _followed
    return ((folder.name, partial(_task, folder, image)) for folder in sorted(places))


def _task(folder: Path, image_of: Callable[[Path], _Image]) -> SuiteTask:
    settings, instruction = _settings(folder)
    if not instruction.strip():
        raise LeftOut("it has no instruction")
    base, home, work, image = image_of(folder / "environment" if (folder / "environment").is_dir() else folder)
    tests = {name: _here(data.decode(), home) for name, data in read_tree(folder / "tests").items()}
    if (folder / "run-tests.sh").is_file():
        tests["run-tests.sh"] = _here(read_text(folder / "run-tests.sh"), home)
    own = cast("dict[str, Any]", settings.get("metadata") or settings)
    agent = _number(settings.get("agent"), "timeout_sec", 900)
    seconds = round(_number(settings.get("verifier"), "timeout_sec", 120))
    suites, checks = _checks(folder, tests, home, seconds)
    title = f"Task {folder.name}, made for the image {base}"
    told = _here(instruction, home).strip() + "\n\nYour work folder is where you start."
    hidden = {f"{_TESTS}/{name}": text for name, text in tests.items()}
    budget = {"exec": 60, "read_file": 60, "write_file": 60, "seconds": float(agent), "turns": 120}
    meta = {"difficulty": _LEVELS.get(str(own.get("difficulty")), 2), "shape": "shell", "budget": budget}
    return SuiteTask(
        title, told, work, hidden=hidden, suites=suites, checks=checks, seconds=seconds, meta=meta, image=image
    )


def _settings(folder: Path) -> tuple[dict[str, Any], str]:
    if (folder / "task.toml").is_file():
        return parse_toml(read_text(folder / "task.toml")), read_text(folder / "instruction.md")
    old = mapping(parse_yaml(read_text(folder / "task.yaml")))
    times = {"verifier": "max_test_timeout_sec", "agent": "max_agent_timeout_sec"}
    parts = {part: {"timeout_sec": old[name]} for part, name in times.items() if name in old}
    return {"metadata": old, **parts}, str(old.get("instruction") or "")


def _built(images: Path, place: Path) -> _Image:
    """Build a task's image.

    Raises:
        LeftOut: it is not built, or no box can be made of it.
    """
    text, archive = read_text(place / "Dockerfile"), images / f"{len([*images.iterdir()])}.tar"
    base, home = (re.findall(rf"(?m)^{word}\s+(\S+)", text) for word in ("FROM", "WORKDIR"))
    where = PurePosixPath("/", *home)
    try:
        build_image(place, archive)
        root = Root.at(archive)
    except BadRoot as fault:
        raise LeftOut(f"its image is not there: {fault}") from None
    files = read_tree(root.folder / where.relative_to("/")) if root.folder and home else {}
    return base[-1], str(where), files, archive


def _followed(place: Path) -> _Image:
    """Read a ``Dockerfile`` that does nothing but copy.

    Raises:
        LeftOut: it holds more than that.
    """
    if not (place / "Dockerfile").is_file():
        raise LeftOut(f"its environment has no Dockerfile in {place.name}, and another image is not read")
    image, home, files = "", "/app", dict[str, bytes]()
    for line in re.sub(r"\\\n", " ", read_text(place / "Dockerfile")).splitlines():
        word, _, rest = line.strip().partition(" ")
        match word.upper():
            case "FROM":
                image = rest.split()[0]
            case "WORKDIR":
                home = rest.strip().rstrip("/") or "/"
            case "COPY" | "ADD":
                files.update(_copied(place, rest.split(), home))
            case other if other and not other.startswith("#") and not _HARMLESS.fullmatch(other):
                raise LeftOut(f"it needs an image, which --build builds: {line.strip()[:120]}")
            case _:
                pass
    return image, home, files, None


def _copied(place: Path, words: list[str], home: str) -> dict[str, bytes]:
    *sources, target = words
    inside = PurePosixPath(home, target)
    if any(source.startswith("--") or "://" in source for source in sources) or not inside.is_relative_to(home):
        raise LeftOut(f"it needs an image, which --build builds: COPY {' '.join(words)[:120]}")
    into = target.endswith(("/", ".")) or len(sources) > 1 or "*" in "".join(sources)
    files = {
        (inside.relative_to(home) / where).as_posix(): data
        for source in sources
        for name, data in read_tree(place).items()
        if (where := _landing(name, source.removeprefix("./").rstrip("/") or ".", into)) is not None
    }
    if not files:
        raise LeftOut(f"what it copies is not there: {' '.join(words)[:120]}")
    return files


def _landing(name: str, source: str, into: bool) -> str | None:
    """Return where a file of the task comes to lie below the target of a copy; ``None`` where it is none of it."""
    if source == ".":
        return name if name != "Dockerfile" else None
    if name.startswith(f"{source}/"):
        return name[len(source) + 1 :]
    return (PurePosixPath(name).name if into else "") if fnmatch(name, source) else None


def _checks(
    folder: Path, tests: dict[str, str], home: str, seconds: int
) -> tuple[dict[str, list[str]], list[dict[str, Any]]]:
    """Return the suite of its tests, or the check that runs its script.

    Raises:
        LeftOut: they cannot be run.
    """
    script = next((path for path in (folder / "tests/test.sh", folder / "run-tests.sh") if path.is_file()), None)
    if script is None:
        raise LeftOut("it has no tests/test.sh")
    text = _here(read_text(script), home)
    suites = [name for name in tests if name.endswith(".py") and PurePosixPath(name).name.startswith("test_")]
    if "pytest" in text and suites:
        # What it fetches to have pytest is not needed: the box has it, or a stand-in.
        return {"its tests": [name for suite in suites for name in tests_of(f"{_TESTS}/{suite}", tests[suite])]}, []
    if match := _FETCHES.search(text):
        raise LeftOut(f"it needs an image or a network: its {script.name} calls {match[0]}")
    shell = "bash" if "bash" in text.partition("\n")[0] else "sh"
    verdict = f"{_TESTS}/verifier"
    command = f"rm -rf {verdict}; mkdir -p {verdict}; {shell} {_TESTS}/{script.name}"
    # What a solver left there is no reward.
    command += f'; case "$(cat {verdict}/reward.txt)" in 1 | 1.0) ;; *) exit 1 ;; esac'
    # The script and what it starts of the solver's share a box.
    run = {"kind": "run", "argv": ["sh", "-c", command], "expect": {"exit": 0}, "self_reported": True}
    return {}, [{"name": "its tests", **run, "with": [f"{_TESTS}/{name}" for name in tests], "seconds": seconds}]


def _here(text: str, home: str) -> str:
    """Return a text whose places are those of our box."""
    text = text.replace("/logs/verifier", f"{_TESTS}/verifier").replace("/logs/agent", f"{_TESTS}/agent")
    text = re.sub(r"(?<![\w./])/tests(?=/|\b)", _TESTS, text)
    text = re.sub(rf"(?<![\w./]){re.escape(home)}/", "", text) if home != "/" else text
    return re.sub(rf"(?<![\w./]){re.escape(home)}(?![\w/])", ".", text) if home != "/" else text


def _number(part: object, name: str, usual: float) -> float:
    value = mapping(part).get(name)
    return max(1.0, min(float(value), 3600.0)) if isinstance(value, int | float) else usual
