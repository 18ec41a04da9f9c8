# ruff: noqa: E501 - the tables of hostile things read better in whole lines
"""Hostile archives at every door that opens some: nothing runs, nothing else is opened or
changed, no socket, no process, bounded memory, and one line that says why (THREATS.md)."""

from __future__ import annotations

import gzip
import io
import json
import stat
import tarfile
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import try_all

ROOT = Path(__file__).parents[1]
ENTITIES = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], way: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", way) as archive:
        for name, data in members:
            archive.writestr(name, data, way)
    return out.getvalue()


def unixed(name: str, kind: int) -> zipfile.ZipInfo:
    """An entry of a ZIP that is a link, a device or the like."""
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    return info


def tarred(*entries: tuple[str, Mapping[str, Any], bytes], way: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=way, format=tarfile.PAX_FORMAT) as archive:  # pyright: ignore[reportArgumentType]
        for name, fields, data in entries:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            for field, value in fields.items():
                setattr(entry, field, value)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def changed(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data and len(old) == len(new)
    return data.replace(old, new)


BODY = b"window.YTD.tweets.part0 = []"
LINK, DEVICE, PIPE = stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO
SYMLINK = {"type": tarfile.SYMTYPE, "linkname": "/etc"}


def names(out: Path) -> list[str]:
    """Names that lead out, or are none, ``out`` being a folder that must not change."""
    return [
        "../outside/pwned", "../../../../../../../../tmp/pwned-by-a-test", f"{out}/pwned", "data/../../outside/pwned",
        "..\\outside\\pwned", "C:\\pwned", "//host/share/pwned", "data/\u2025/pwned", "a\0b", "data/con", "~/pwned",
        "-rf", "$(touch pwned)", ".wh..wh..opq", "../.wh.kept", "a" * 5_000, "data/" * 400 + "a", "\u202egnp.exe", "\n",
    ]  # fmt: skip


def zips(out: Path) -> dict[str, bytes]:
    bomb = zipped(("data/tweets.js", bytes(100_000_000)), ("META-INF/container.xml", bytes(50_000_000)))
    small = zipped(("data/tweets.js", BODY))
    twice = zipped(
        ("data/tweets.js", BODY), ("data/tweetz.js", BODY), ("manifest.json", b"{}"), ("manifesu.json", b"{}")
    )
    return {
        **{f"name {number}": zipped((name, b"x"), ("data/tweets.js", BODY)) for number, name in enumerate(names(out))},
        "link": zipped((unixed("data/tweets.js", LINK), b"/etc/passwd"), ("data/tweets.js/x", b"x")),
        "device": zipped((unixed("data/tweets.js", DEVICE), b"")),
        "pipe": zipped((unixed("META-INF/container.xml", PIPE), b"")),
        "bomb": bomb,
        "nested bomb": zipped(("data/tweets.js", bomb), ("manifest.json", bomb)),
        "lie": changed(bomb, (100_000_000).to_bytes(4, "little"), (1_000).to_bytes(4, "little")),
        "huge": changed(small, len(BODY).to_bytes(4, "little"), (2**32 - 2).to_bytes(4, "little")),
        "twice": changed(changed(twice, b"tweetz", b"tweets"), b"manifesu", b"manifest"),
        "many": zipped(*((f"data/{number}", b"") for number in range(20_000))),
        "locked": changed(small, b"PK\x01\x02\x14\x03\x14\0\0\0", b"PK\x01\x02\x14\x03\x14\0\1\0"),
        "other way": changed(small, b"PK\x01\x02\x14\x03\x14\0\0\0\x08\0", b"PK\x01\x02\x14\x03\x14\0\0\0\x62\0"),
        "cut": small[:-10],
        "empty": zipped(),
        "entities": zipped(("META-INF/container.xml", ENTITIES)),  # pyright: ignore[reportAttributeAccessIssue]
        "outward": zipped(("META-INF/container.xml", b'<c><rootfile full-path="../../../../etc/passwd"/></c>')),
    }


def image(layer: bytes) -> bytes:
    """An OCI archive of one layer."""
    blobs: dict[str, bytes] = {}

    def put(data: bytes) -> dict[str, Any]:
        digest = sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = data
        return {"digest": f"sha256:{digest}", "size": len(data)}

    manifest = json.dumps({"layers": [put(layer)]}).encode()
    blobs["index.json"] = json.dumps({"manifests": [put(manifest)]}).encode()
    return tarred(*((name, {}, data) for name, data in blobs.items()))


def tars(out: Path) -> dict[str, bytes]:
    outward = {"type": tarfile.SYMTYPE, "linkname": str(out)}
    up = {"type": tarfile.SYMTYPE, "linkname": "../" * 20 + str(out)[1:]}
    hard = {"type": tarfile.LNKTYPE, "linkname": f"{out}/kept"}
    layers = {
        **{f"name {number}": tarred((name, {}, b"x")) for number, name in enumerate(names(out)) if "\0" not in name},
        "by link": tarred(("a", outward, b""), ("a/pwned", {}, b"x")),
        "by relative link": tarred(("a", up, b""), ("a/pwned", {}, b"x")),
        "by two links": tarred(("a", outward, b""), ("b", {**SYMLINK, "linkname": "a"}, b""), ("b/pwned", {}, b"x")),
        "by hard link": tarred(("a", hard, b""), ("a", {}, b"x")),
        "hard link to a link": tarred(("a", outward, b""), ("b", {**hard, "linkname": "a/kept"}, b"")),
        "taken away by link": tarred(("a", outward, b""), ("a/.wh.kept", {}, b"")),
        "emptied by link": tarred(("a", outward, b""), ("a/.wh..wh..opq", {}, b"")),
        "over a link": tarred(("kept", {**outward, "linkname": f"{out}/kept"}, b""), ("kept", {}, b"x")),
        "mode by link": tarred(("a", outward, b""), ("a", {"type": tarfile.DIRTYPE, "mode": 0}, b"")),
        "device": tarred(("a", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 8}, b"")),
        "pipe": tarred(("a", {"type": tarfile.FIFOTYPE}, b"")),
        "root's": tarred(("a", {"mode": 0o6777, "uid": 0}, b"#!/bin/sh\n")),
        "many": tarred(*((f"d{number}", {"type": tarfile.DIRTYPE}, b"") for number in range(3_000))),
        "bomb": gzip.compress(tarred(("a", {}, bytes(60_000_000)))),
        "sparse": tarred(("a", {"pax_headers": {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.map": "0,1",
                                                "GNU.sparse.size": str(2**50)}}, b"x")),
        "cut": tarred(("a", {}, bytes(2_000)))[:1_000],
        "negative": changed(tarred(("a", {}, b"")), b"00000000000\x00", b"-0000000001\x00")[:1024],
        "itself": tarred(("a", {**SYMLINK, "linkname": "a"}, b""), ("a/a", {}, b"x")),
    }  # fmt: skip
    return {name: image(layer) for name, layer in layers.items()}


@pytest.mark.long
def test_a_hostile_archive_changes_nothing_outside_and_fits_into_memory(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    packed, laid = zips(outside), tars(outside)
    assert len(packed) + len(laid) >= 40
    doors = [("texts", "x.zip"), ("texts", "book.epub"), ("document", "a.epub"), ("document", "a.docx"),
             ("document", "a.xlsx"), ("document", "a.ods"), ("bundle", "trial.assay")]  # fmt: skip
    try_all(tmp_path, [*((door, name, data) for door, name in doors for data in packed.values()),
           *(("image", "image.tar", data) for data in [*laid.values(), *packed.values()])])  # fmt: skip
