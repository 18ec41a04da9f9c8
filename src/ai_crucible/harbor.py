"""Puzzles out of task folders of Harbor (``task.toml``, ``instruction.md``) and Terminal-Bench (``task.yaml``).

The package that reads them for Inspect needs Python 3.12 and Docker, so they are read here. What their image holds
beside the files that it copies cannot be had without it: a task that builds more is left out, and says so. Tests
run beside the work copy in our box; the task's own folder there (``/app``) becomes the work folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any, cast

from ai_crucible.puzzle_files import PuzzleFiles, as_json, read_text, suite_check, tests_of, why_unreadable
from llm_runtime.toml import parse_toml

_TESTS = "task_tests"
"""Where its tests lie beside the work copy."""
_LEVELS = {"trivial": 1, "easy": 1, "medium": 2, "hard": 4}
_HARMLESS = frozenset(
    [
        "FROM",
        "WORKDIR",
        "COPY",
        "ADD",
        "ENV",
        "CMD",
        "ENTRYPOINT",
        "EXPOSE",
        "LABEL",
        "ARG",
        "USER",
        "SHELL",
        "STOPSIGNAL",
    ]
)
_FETCHES = re.compile(r"\b(apt-get|apt|apk|curl|wget|pip3?|uvx?|npm|git clone|docker)\b")
_ID = re.compile(r"[^a-z0-9_-]+")
_MOST_BYTES = 8 << 20
#: Levels of a task.yaml; real ones have three.
_DEEPEST = 16


class _NeedsImage(ValueError):
    """What the task builds on is not here; the message says what."""


def task_folders(source: Path) -> list[Path]:
    """Return the folders of tasks: the one that is named, or those below it."""
    return sorted({path.parent for name in ("task.toml", "task.yaml") for path in source.rglob(name)})


def harbor_tasks(source: Path, origin: str) -> Iterator[tuple[str, PuzzleFiles | str]]:
    """Yield each task by its name: a puzzle's files, or why it makes none."""
    for folder in task_folders(source):
        try:
            yield folder.name, _puzzle(folder, origin)
        except _NeedsImage as fault:
            yield folder.name, str(fault)
        except (OSError, ValueError, SyntaxError, RecursionError) as fault:
            yield folder.name, why_unreadable(fault)


def _puzzle(folder: Path, origin: str) -> PuzzleFiles | str:
    settings, instruction = _settings(folder)
    if not instruction.strip():
        return "it has no instruction"
    place = folder / "environment" if (folder / "environment").is_dir() else folder
    image, home, work = _built(place)
    tests = {name: _here(data.decode(), home) for name, data in _files(folder / "tests").items()}
    if (folder / "run-tests.sh").is_file():
        tests["run-tests.sh"] = _here(read_text(folder / "run-tests.sh"), home)
    check = _check(folder, tests, home, _number(settings.get("verifier"), "timeout_sec", 120))
    if isinstance(check, str):
        return check
    own = cast("dict[str, Any]", settings.get("metadata") or settings)
    agent = _number(settings.get("agent"), "timeout_sec", 900)
    meta = {
        "id": _ID.sub("-", folder.name.lower()).strip("-_")[:64],
        "title": f"Task {folder.name}",
        "kind": "imported",
        "source": f"{origin}: {folder.name}; made for the image {image}, run on the programs of the box",
        "difficulty": _LEVELS.get(str(own.get("difficulty")), 2),
        "shape": "shell",
        "budget": {"exec": 60, "read_file": 60, "write_file": 60, "seconds": float(agent), "turns": 120},
    }
    return {
        "meta.json": as_json(meta),
        "prompt.md": _here(instruction, home).strip() + "\n\nYour work folder is where you start.\n",
        "oracle/checks.json": as_json({"checks": [check]}),
        **{f"work/{name}": data for name, data in work.items()},
        **{f"oracle/with/{_TESTS}/{name}": text for name, text in tests.items()},
    }


def _settings(folder: Path) -> tuple[dict[str, Any], str]:
    if (folder / "task.toml").is_file():
        return parse_toml(read_text(folder / "task.toml")), read_text(folder / "instruction.md")
    import yaml

    text = read_text(folder / "task.yaml")
    try:
        # Data that refers to itself grows without end where it is written out; what is deep takes for ever to read.
        depth = 0
        for event in cast("Any", yaml).parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > _DEEPEST:
                raise ValueError("task.yaml refers to itself or is nested too deep; write it out")
        data: Any = yaml.safe_load(text)
    except yaml.YAMLError as fault:
        raise ValueError(f"task.yaml is not YAML: {' '.join(str(fault).split())[:200]}") from None
    old = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    times = {"verifier": "max_test_timeout_sec", "agent": "max_agent_timeout_sec"}
    parts = {part: {"timeout_sec": old[name]} for part, name in times.items() if name in old}
    return {"metadata": old, **parts}, str(old.get("instruction") or "")


def _built(place: Path) -> tuple[str, str, dict[str, bytes]]:
    """Return the image, the work folder in it, and the files that are copied there.

    Raises:
        _NeedsImage: it holds more than that.
    """
    if not (place / "Dockerfile").is_file():
        raise _NeedsImage(f"its environment has no Dockerfile in {place.name}, and another image is not read")
    image, home, files = "", "/app", dict[str, bytes]()
    text = re.sub(r"\\\n", " ", read_text(place / "Dockerfile"))
    for line in filter(None, (line.strip() for line in text.splitlines())):
        word, _, rest = line.partition(" ")
        if line.startswith("#"):
            continue
        if word.upper() not in _HARMLESS:
            raise _NeedsImage(f"it needs an image, which is built with: {line[:120]}")
        if word.upper() == "FROM":
            image = rest.split()[0]
        elif word.upper() == "WORKDIR":
            home = rest.strip().rstrip("/") or "/"
        elif word.upper() in ("COPY", "ADD"):
            files.update(_copied(place, rest.split(), home))
    return image, home, files


def _copied(place: Path, words: list[str], home: str) -> dict[str, bytes]:
    *sources, target = words
    inside = PurePosixPath(home, target)
    if any(source.startswith("--") or "://" in source for source in sources) or not inside.is_relative_to(home):
        raise _NeedsImage(f"it needs an image, into which is copied: {' '.join(words)[:120]}")
    to, files = inside.relative_to(home), dict[str, bytes]()
    for name, data in _files(place).items():
        for source in (source.removeprefix("./").rstrip("/") or "." for source in sources):
            if name == "Dockerfile" and source == ".":
                continue
            if source == "." or name.startswith(f"{source}/"):
                files[(to / (name if source == "." else name[len(source) + 1 :])).as_posix()] = data
            elif fnmatch(name, source):
                folder = target.endswith(("/", ".")) or len(sources) > 1 or "*" in source
                files[(to / PurePosixPath(name).name if folder else to).as_posix()] = data
    if not files:
        raise _NeedsImage(f"what it copies is not there: {' '.join(words)[:120]}")
    return files


def _check(folder: Path, tests: dict[str, str], home: str, seconds: float) -> dict[str, Any] | str:
    """Return the check that runs its tests, or why they cannot be run."""
    script = next((path for path in (folder / "tests/test.sh", folder / "run-tests.sh") if path.is_file()), None)
    if script is None:
        return "it has no tests/test.sh"
    text, beside = _here(read_text(script), home), [f"{_TESTS}/{name}" for name in tests]
    suites = [name for name in tests if name.endswith(".py") and PurePosixPath(name).name.startswith("test_")]
    if "pytest" in text and suites:
        # What it fetches to have pytest is not needed: the box has it, or a stand-in.
        names = [name for suite in suites for name in tests_of(f"{_TESTS}/{suite}", tests[suite])]
        return suite_check("its tests", names, beside, round(seconds)) if names else "a test file holds no tests"
    if match := _FETCHES.search(text):
        return f"it needs an image or a network: its {script.name} calls {match[0]}"
    shell = "bash" if "bash" in text.partition("\n")[0] else "sh"
    verdict = f"{_TESTS}/verifier"
    command = f"rm -rf {verdict}; mkdir -p {verdict}; {shell} {_TESTS}/{script.name}"
    # What a solver left there is no reward.
    command += f'; case "$(cat {verdict}/reward.txt)" in 1 | 1.0) ;; *) exit 1 ;; esac'
    argv = ["sh", "-c", command]
    return {
        "name": "its tests",
        "kind": "run",
        "argv": argv,
        "with": beside,
        "seconds": seconds,
        "expect": {"exit": 0},
    }


def _here(text: str, home: str) -> str:
    """Return a text whose places are those of our box."""
    text = text.replace("/logs/verifier", f"{_TESTS}/verifier").replace("/logs/agent", f"{_TESTS}/agent")
    text = re.sub(r"(?<![\w./])/tests(?=/|\b)", _TESTS, text)
    text = re.sub(rf"(?<![\w./]){re.escape(home)}/", "", text) if home != "/" else text
    return re.sub(rf"(?<![\w./]){re.escape(home)}(?![\w/])", ".", text) if home != "/" else text


def _files(root: Path) -> dict[str, bytes]:
    """Return the regular files of a folder.

    Raises:
        ValueError: there is more than a puzzle holds.
    """
    paths = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    if sum(path.stat().st_size for path in paths) > _MOST_BYTES:
        raise ValueError(root)
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in paths if "__pycache__" not in path.parts
    }


def _number(part: object, name: str, usual: float) -> float:
    value = cast("dict[str, Any]", part).get(name) if isinstance(part, dict) else None
    return max(1.0, min(float(value), 3600.0)) if isinstance(value, int | float) else usual
