"""What a box is made of: a task's locked packages and an image, each made once, named, and told where it fails."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from pathlib import Path

import pytest
from tests.ai_crucible.scripted import scripted_solver

from ai_crucible import PuzzleRefused, SealedGrader, load_puzzle, run_attempt
from ai_crucible.puzzle_box import CannotIsolate, open_box, order_of, probe, root_at
from ai_crucible.versions import environment
from llm_runtime.errors import ConfigurationError
from sandbox.made_once import content_digest
from sandbox.packages import with_packages


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's cache, and a package index of one folder: no network has a part in this."""
    # What every test's boxes are made of stays where it is.
    root_at("")
    # As root, boxes run as another user, to whom pytest's own folders are closed.
    place = Path(tempfile.mkdtemp(prefix="assay-cache-"))
    place.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "index").mkdir()
    yield place / "assay/boxes"
    shutil.rmtree(place)


@pytest.fixture
def wheel(tmp_path: Path) -> Callable[[str], str]:
    """Publishes a version of the package ``rounding``; returns the line of a lock that pins it."""

    def publish(version: str) -> str:
        path = tmp_path / "index" / f"rounding-{version}-py3-none-any.whl"
        about = f"rounding-{version}.dist-info"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("rounding.py", f"version = {version!r}\n")
            archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: rounding\nVersion: {version}\n")
            archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{about}/RECORD", "")
        return f"rounding=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"

    return publish


ASKS = "import rounding\n\n\ndef total(n):\n    return rounding.version\n"
CHECKS = {
    "checks": [
        {"name": "by call", "kind": "call", "target": "total:total", "cases": [{"args": [1], "expect": "1.0"}]},
        {"name": "none", "kind": "call", "target": "total:total", "cases": [{"args": [1], "expect": "1.0"}]},
    ]
}


@pytest.mark.usefixtures("boxes")
@pytest.mark.long
async def test_a_task_has_the_packages_of_its_lock_and_no_others(
    make_puzzle: Callable[..., Path], wheel: Callable[[str], str]
) -> None:
    old, new = wheel("1.0"), wheel("2.0")
    files = {"oracle/checks.json": json.dumps(CHECKS), "oracle/gold/total.py": ASKS}
    folder = make_puzzle("locked", **files, **{"requirements.lock": f"# for all\n{old}"})
    look = "exec", {"argv": ["python3", "-c", "import rounding; print(rounding.version, rounding.__file__)"]}
    shadow = "write_file", {"path": "rounding.py", "content": "version = '1.0 of the solver'"}
    state = await run_attempt(
        load_puzzle(folder), scripted_solver(look, shadow, ("write_file", {"path": "total.py", "content": ASKS})),
        SealedGrader(),
    )  # fmt: skip
    seen = next(line.content for line in state.messages if line.role == "tool")
    assert "1.0 /usr/lib/python3" in seen
    # The grading sees it, and not what the solver laid in its place.
    assert state.scores["oracle"].passed and state.scores["verdict"].leftovers == ("added rounding.py",)
    # Another lock is another version of the task, and has its own packages.
    first = load_puzzle(folder)
    (folder / "requirements.lock").write_text(new)
    second = load_puzzle(folder)
    assert first.digest != second.digest and first.lock != second.lock
    boxes = [await order_of(puzzle).open() for puzzle in (first, second)]
    try:
        told = [(await box.run(["python3", "-c", "import rounding; print(rounding.version)"])).stdout for box in boxes]
        write = await boxes[0].run(["sh", "-c", "echo 1 > /usr/lib/python3/dist-packages/rounding.py"])
        assert told == [b"1.0\n", b"2.0\n"] and write.code != 0
    finally:
        for box in boxes:
            await box.close()
    # Without a lock there is the standard library alone, whatever this machine has installed.
    box = await order_of(load_puzzle(make_puzzle("bare"))).open()
    try:
        assert (await box.run(["python3", "-c", "import site; print(site.getsitepackages())"])).code == 0
        assert not (await box.run(["sh", "-c", "ls -A /usr/lib/python3/dist-packages"])).stdout
    finally:
        await box.close()


def test_packages_are_installed_once_and_used_as_they_were(
    make_puzzle: Callable[..., Path], wheel: Callable[[str], str], cache: Path, tmp_path: Path
) -> None:
    puzzle = load_puzzle(make_puzzle("once", **{"requirements.lock": wheel("1.0")}))

    def in_another_process() -> list[str]:
        with_packages.cache_clear()
        content_digest.cache_clear()
        return order_of(puzzle).root.modules()

    assert in_another_process() == ["rounding"]
    shutil.rmtree(tmp_path / "index")
    assert in_another_process() == ["rounding"]
    (installed,) = (cache / "packages").rglob("rounding.py")
    installed.chmod(0o644)
    installed.write_text("version = 'another'")
    with pytest.raises(ConfigurationError, match="was changed since it was made; delete it"):
        in_another_process()


@pytest.mark.parametrize(
    "lock", ["rounding==1.0", "rounding>=1", "-r more.txt", "--index-url https://x/y", "rounding @ file:///x.whl"]
)
def test_a_lock_that_pins_nothing_is_refused(make_puzzle: Callable[..., Path], lock: str) -> None:
    with pytest.raises(PuzzleRefused, match=r"requirements\.lock: not NAME==VERSION --hash.*"):
        load_puzzle(make_puzzle(**{"requirements.lock": lock}))


def test_a_lock_that_cannot_be_installed_is_told_in_a_line_and_leaves_nothing(
    make_puzzle: Callable[..., Path], wheel: Callable[[str], str], cache: Path
) -> None:
    pin = wheel("1.0")
    for name, lock in (("changed", pin[:-65] + "0" * 64 + "\n"), ("gone", pin.replace("1.0", "3.0"))):
        puzzle = load_puzzle(make_puzzle(name, **{"requirements.lock": lock}))
        with pytest.raises(ConfigurationError) as fault:
            order_of(puzzle)
        told = str(fault.value)
        assert told.startswith(f"{name}: requirements.lock cannot be installed for Python 3") and "\n" not in told
    assert not [path for path in (cache / "packages").iterdir() if path.is_dir()]


Entry = tuple[tarfile.TarInfo, bytes]


def entry(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, target: str = "") -> Entry:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size, made.mode = kind, target, len(data), 0o755
    return made, data


def layer(*entries: Entry, host: Iterable[str] = ()) -> bytes:
    """Return a layer with these entries, and files of the host's."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for made, data in entries:
            archive.addfile(made, io.BytesIO(data))
        for path in host:
            archive.add(os.path.realpath(path), path, filter=lambda one: None if "/test" in one.name else one)
    return out.getvalue()


def image(folder: Path, *layers: bytes, machine: str = "") -> Path:
    """Write an image as a folder."""

    def blob(data: bytes) -> dict[str, str]:
        digest = hashlib.sha256(data).hexdigest()
        (folder / "blobs/sha256" / digest).write_bytes(data)
        return {"digest": f"sha256:{digest}"}

    (folder / "blobs/sha256").mkdir(parents=True)
    manifest = blob(json.dumps({"layers": [blob(data) for data in layers]}).encode())
    entry = {**manifest, **({"platform": {"architecture": machine}} if machine else {})}
    (folder / "index.json").write_text(json.dumps({"manifests": [entry]}))
    (folder / "oci-layout").write_text("{}")
    return folder


@pytest.fixture
def python() -> bytes:
    """A layer with the host's Python and what it is linked with."""
    program = Path("/usr/bin/python3").resolve()
    library = Path("/usr/lib", program.name)
    if not library.is_dir():
        pytest.skip("this machine has no Python in /usr/bin")
    linked = [program, *library.glob("lib-dynload/_ctypes.*")]
    told = subprocess.run(["ldd", *linked], capture_output=True, text=True, check=True).stdout
    libraries = {word for word in told.split() if word.startswith("/") and not word.endswith(":")}
    link = entry("usr/bin/python3", kind=tarfile.SYMTYPE, target=program.name)
    return layer(link, entry("opt/old"), entry("opt/kept"), host=[str(program), str(library), *libraries])


@pytest.mark.long
@pytest.mark.needs("ldd")
@pytest.mark.usefixtures("boxes")
async def test_boxes_are_made_of_an_image_that_the_plan_names(python: bytes, tmp_path: Path) -> None:
    changes = layer(entry("opt/.wh.old"), entry("opt/new"), entry("dev/null2", kind=tarfile.CHRTYPE))
    place = image(tmp_path / "image", python, gzip.compress(changes))
    with tarfile.open(tmp_path / "image.tar", "w") as archive:
        for part in ("oci-layout", "index.json", "blobs"):
            archive.add(place / part, part)
    root = root_at(place)
    assert root_at(tmp_path / "image.tar") == root
    await probe(root)
    box = await open_box(root=root)
    try:
        look = await box.run(["python3", "-c", "import os; print(sorted(os.listdir('/opt')))"])
        assert look.stdout == b"['kept', 'new']\n" and (await box.run(["sh", "-c", "true"])).code == 127
    finally:
        await box.close()
    manifest = json.loads((place / "index.json").read_bytes())["manifests"][0]["digest"]
    names = environment(root)
    assert "sha256:" + names["image"] == manifest and names["root"] == root.digest() != environment()["root"]


HOSTILE = {
    "goes up": [entry("../escaped")],
    "through a link": [entry("a", kind=tarfile.SYMTYPE, target="OUTSIDE"), entry("a/escaped")],
    "links the host's": [entry("b", kind=tarfile.LNKTYPE, target="../../../../../../../../etc/passwd")],
    "takes away outside": [entry("a", kind=tarfile.SYMTYPE, target="OUTSIDE"), entry("a/.wh.bait")],
    "names the parent": [entry("a/..", kind=tarfile.DIRTYPE)],
}


@pytest.mark.parametrize("entries", HOSTILE.values(), ids=HOSTILE)
def test_an_image_writes_nothing_outside(entries: list[Entry], tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "bait").touch()
    for made, _ in entries:
        made.linkname = made.linkname.replace("OUTSIDE", str(outside))
    with pytest.raises(ConfigurationError, match="no OCI image that can be unpacked"):
        root_at(image(tmp_path / "image", *(layer(one) for one in entries)))
    assert [path.name for path in outside.iterdir()] == ["bait"]


def test_a_link_in_a_lower_layer_is_replaced_and_not_followed(tmp_path: Path) -> None:
    bait = tmp_path / "bait"
    bait.write_bytes(b"untouched")
    link = layer(entry("usr/bin/python3", kind=tarfile.SYMTYPE, target=str(bait)))
    root = root_at(image(tmp_path / "image", link, layer(entry("usr/bin/python3", b"#!/bin/false\n"))))
    assert bait.read_bytes() == b"untouched" and root.folder
    assert (root.folder / "usr/bin/python3").read_bytes() == b"#!/bin/false\n"


@pytest.mark.box
async def test_an_image_that_does_not_start_is_told_in_a_line(tmp_path: Path) -> None:
    dead = image(tmp_path / "dead", layer(entry("usr/bin/python3", b"#!/bin/false\n")))
    with pytest.raises(CannotIsolate, match="gives no box here") as fault:
        await probe(root_at(dead))
    assert "\n" not in str(fault.value)


def test_what_is_no_image_is_told_in_a_line(tmp_path: Path) -> None:
    cut = image(tmp_path / "cut", layer(entry("usr/bin/python3", b"x" * 9000)))
    blob = max((cut / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
    blob.write_bytes(blob.read_bytes()[:-1])
    empty = image(tmp_path / "empty")
    other = image(tmp_path / "other", layer(entry("usr/bin/python3")), machine="z80")
    bare = image(tmp_path / "bare", layer(entry("usr/bin/sh")))
    (tmp_path / "words.txt").write_text("no image")
    for place, why in (
        (cut, "is damaged"), (empty, "no layers"), (other, "0 images in it are for"), (bare, "no Python there"),
        (tmp_path / "words.txt", "could not be opened"), (tmp_path / "nowhere", "no root of a box"),
    ):  # fmt: skip
        with pytest.raises(ConfigurationError, match=why) as refused:
            root_at(place)
        assert "\n" not in str(refused.value) and str(place) in str(refused.value)


def program_besides() -> str:
    """Name a program of this machine that is no part of the small root."""
    named = set(tomllib.loads(resources.files("sandbox").joinpath("small.toml").read_text())["programs"])
    return next(path.name for path in sorted(Path("/usr/bin").iterdir()) if path.name not in named)


@pytest.mark.usefixtures("boxes")
async def test_what_a_machine_has_besides_is_in_no_box_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    other = program_besides()
    small = root_at("")
    assert small == root_at("") and small.digest() != root_at("host").digest()
    found = f"for one in awk python3 sh {other}; do command -v $one; done"
    looks = f"{found}; python3 -c 'import ssl, sqlite3, zoneinfo; print(1)'"
    seen: dict[str, str] = {}
    for root in ("", "host"):
        box = await open_box(root=root_at(root))
        try:
            seen[root] = (await box.run(["sh", "-c", looks])).text
        finally:
            await box.close()
    usual = ["/usr/bin/awk", "/usr/bin/python3", "/usr/bin/sh"]
    assert seen[""].split() == [*usual, "1"]
    assert seen["host"].split() == [*usual, f"/usr/bin/{other}", "1"]
    # An engine that has an image is shown nothing of the machine.
    monkeypatch.setenv("ASSAY_SANDBOX_IMAGE", "python:3.12-slim")
    assert root_at("").folder is None
