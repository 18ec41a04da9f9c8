"""An OCI image, a folder or an archive, unpacked once: by its own digest, each part checked against its name.

``podman save --format oci-archive``, ``skopeo copy docker://NAME oci:FOLDER`` and ``docker save`` since Docker 25
write such images. Nothing of one is run here.
"""

from __future__ import annotations

import os
import platform
import shutil
import tarfile
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import IO, Any, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from sandbox.errors import BadRoot
from sandbox.made_once import made_once

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_REMOVED, _EMPTIED = ".wh.", ".wh..wh..opq"
_MOST_NESTED = 4
_Parts: TypeAlias = "Callable[[str], IO[bytes]]"


class _Part(BaseModel):
    digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    platform: dict[str, Any] = {}

    @property
    def fits(self) -> bool:
        machine = self.platform.get("architecture")
        return machine is None or machine == _MACHINES.get(platform.machine(), platform.machine())


class _Listing(BaseModel):
    """An index, which lists manifests, or a manifest, which lists layers."""

    manifests: list[_Part] = []
    layers: list[_Part] = []


def is_image(place: Path) -> bool:
    """Tell whether a path is an image and not a root: an archive, or a folder with its mark."""
    return place.is_file() or (place / "oci-layout").is_file()


def unpacked(place: Path) -> tuple[Path, str]:
    """Return the folder of an image's files, and the digest of its manifest in hex.

    Raises:
        BadRoot: it is no such image, is damaged, or is none for this machine.
    """
    try:
        with _parts(place) as parts:
            layers, digest = _manifest(parts)
            return made_once("images", digest, partial(_unpack, parts, layers)), digest
    except (OSError, EOFError, ValueError, KeyError, RuntimeError, tarfile.TarError, zlib.error) as fault:
        told = "not in its form" if isinstance(fault, ValidationError) else str(fault)
        why = (told.splitlines() or [type(fault).__name__])[0][:200].rstrip(":")
        raise BadRoot(
            f"{place}: no OCI image that can be unpacked ({why}); podman save --format oci-archive writes one"
        ) from None


@contextmanager
def _parts(place: Path) -> Generator[_Parts]:
    """Give what opens a part of an image by its path within."""
    if place.is_dir():
        yield lambda name: (place / name).open("rb")
        return
    with tarfile.open(place) as archive:

        def opened(name: str) -> IO[bytes]:
            if (part := archive.extractfile(name)) is None:
                raise ValueError(f"{name} is no file")
            return part

        yield opened


def _manifest(parts: _Parts) -> tuple[list[_Part], str]:
    """Return the layers for this machine, lowest first, and the digest of the manifest that names them."""
    with parts("index.json") as index:
        listing = _Listing.model_validate_json(index.read())
    digest = ""
    for _ in range(_MOST_NESTED):
        if listing.layers:
            return listing.layers, digest
        if not listing.manifests:
            break
        fitting = [part for part in listing.manifests if part.fits]
        if len(fitting) != 1:
            raise ValueError(f"{len(fitting)} images in it are for {platform.machine()}, and one is needed")
        digest = fitting[0].digest.removeprefix("sha256:")
        with _blob(parts, fitting[0]) as blob:
            listing = _Listing.model_validate_json(blob.read())
    raise ValueError("no layers in it")


@contextmanager
def _blob(parts: _Parts, part: _Part) -> Generator[IO[bytes]]:
    with parts("blobs/" + part.digest.replace(":", "/")) as blob:
        if "sha256:" + file_digest(blob, "sha256").hexdigest() != part.digest:  # pyright: ignore[reportArgumentType] - any file will do
            raise ValueError(f"{part.digest[:19]} is damaged")
        blob.seek(0)
        yield blob


def _unpack(parts: _Parts, layers: list[_Part], folder: Path) -> None:
    for layer in layers:
        with _blob(parts, layer) as blob, tarfile.open(fileobj=blob) as archive:
            # Where tarfile would refuse links by rules of its own, the rules here hold.
            archive.extraction_filter = lambda entry, _: entry
            entries = archive.getmembers()
            # What a layer takes away is of the layers below it.
            for entry in entries:
                _take_away(entry.name, folder)
            for entry in entries:
                _lay(archive, entry, folder)


def _inside(name: str, folder: Path) -> Path:
    """Return where an entry goes, its last part not followed.

    Raises:
        ValueError: that is outside, by its own name or by a link on the way.
    """
    path = folder / name.lstrip("/")
    place = path.parent.resolve() / path.name
    if path.name == ".." or not place.is_relative_to(folder.resolve()):
        raise ValueError(f"{name!r} leads out of it")
    return place


def _take_away(name: str, folder: Path) -> None:
    place = _inside(name, folder)
    if place.name == _EMPTIED:
        for path in list(place.parent.iterdir()) if place.parent.is_dir() else ():
            _remove(path)
    elif place.name.startswith(_REMOVED):
        _remove(place.with_name(place.name.removeprefix(_REMOVED)))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _lay(archive: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> None:
    place = _inside(entry.name, folder)
    if place == folder.resolve() or place.name.startswith(_REMOVED) or entry.isdev():
        return
    if not (entry.isdir() and place.is_dir() and not place.is_symlink()):
        _remove(place)
    if entry.islnk():
        source = _inside(entry.linkname, folder)
        if source.is_symlink() or not source.is_file():
            raise ValueError(f"{entry.name!r} is a hard link to no file of it")
        entry.linkname = str(source.relative_to(folder.resolve()))
    entry.name = str(place.relative_to(folder.resolve()))
    # The files become those of whoever unpacks them.
    entry.uid, entry.gid, entry.uname, entry.gname = os.geteuid(), os.getegid(), "", ""
    entry.mode = entry.mode & 0o755 | (0o755 if entry.isdir() else 0o644)
    archive.extract(entry, folder)
