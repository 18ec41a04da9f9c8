"""Keeps what a past commit wrote as one small file, and lays it out again for whoever tries today's code on it."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import re
import sqlite3
import subprocess
import tarfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from llm_runtime.store.packing import Unpacker

#: Signs the heads of every store, so that whoever has a store can verify it and go on with it. It guards nothing.
SIGNING_KEY = "5a" * 32
#: Where stores are made, and laid out again: logs of runs that work on folders name them whole.
PLACE = Path("/tmp/assay-past-stores")
#: Left out: the key, which is no file's to keep, and what a process holds while it lives.
_LEFT_OUT = ("signing.key", "locks", "config", ".cache", "runs.db-shm", "runs-batches.db-shm")


#: A database in PostgreSQL as statements, without the name of the schema that it was in.
DUMP = "store.sql"
#: Of a dump: what sets up a session or another place than the one it is read into.
_OF_ANOTHER_PLACE = re.compile(r"^(?:--|SET |SELECT pg_catalog\.set_config|CREATE SCHEMA|\\).*\n", re.MULTILINE)


def keep(home: Path, file: Path, url: str = "") -> None:
    """Write a folder that commands were run in as ``file``, with the database at ``url`` where there is one."""
    if url:
        _dump(url, home / DUMP)
    else:
        _shrink(home / "data" / "runs.db")
    preset = 9 | lzma.PRESET_EXTREME
    with lzma.open(file, "wb", preset=preset) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for path in sorted(path for path in home.rglob("*") if path.is_file()):
            name = path.relative_to(home)
            if not any(part in _LEFT_OUT for part in name.parts):
                entry = tarfile.TarInfo(str(name))
                data = path.read_bytes()
                entry.size, entry.mode = len(data), 0o600
                archive.addfile(entry, io.BytesIO(data))


def lay_out(file: Path, home: Path) -> dict[str, Any]:
    """Lay out what :func:`keep` kept, with the key that signed it; return what was made, by its name."""
    with tarfile.open(file) as archive:
        archive.extractall(home, filter="data")
    sign(home)
    return json.loads((home / "made.json").read_text("utf-8"))


def load(home: Path, url: str) -> None:
    """Read a database that was kept into an empty one, and put what lay beside it where that one looks."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute((home / DUMP).read_bytes())
    for folder in (home / "data" / "postgresql").glob("*"):
        folder.rename(_beside(home, url))
    sign(home, url)


def sign(home: Path, url: str = "") -> None:
    """Put the key that signs these stores where every version looks for its own."""
    key = (_beside(home, url) if url else home / "data") / "signing.key"
    key.parent.mkdir(parents=True, exist_ok=True)
    key.write_text(SIGNING_KEY + "\n")
    key.chmod(0o600)


def _shrink(path: Path) -> None:
    """Unpack bodies of events: plain, as a store may have them too, they repeat each other, and xz gains by it."""
    database = sqlite3.connect(path, isolation_level=None)
    try:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        unpackers: dict[int, Unpacker] = {}
        for record, run, body in database.execute("SELECT id, run, body FROM records ORDER BY id").fetchall():
            plain = unpackers.setdefault(run, Unpacker()).unpack(body)
            if plain != body:
                database.execute("UPDATE records SET body = ? WHERE id = ?", (plain, record))
        database.execute("VACUUM")
    finally:
        database.close()


def _beside(home: Path, url: str) -> Path:
    """Return the folder that belongs to a database, as every version names it."""
    parts = urlsplit(url)
    place = f"{parts.hostname}:{parts.port}{parts.path}?{parts.query}"
    return home / "data" / "postgresql" / hashlib.sha256(place.encode()).hexdigest()[:16]


def _dump(url: str, file: Path) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        unpackers: dict[int, Unpacker] = {}
        for run, seq, body in connection.execute("SELECT run, seq, body FROM records ORDER BY run, seq").fetchall():
            plain = unpackers.setdefault(run, Unpacker()).unpack(body)
            connection.execute("UPDATE records SET body = %s WHERE run = %s AND seq = %s", (plain, run, seq))
    schema = urlsplit(url).username
    told = ("--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=100", f"--schema={schema}")
    dumped = subprocess.run(["pg_dump", *told, url], check=True, capture_output=True, text=True).stdout
    file.write_text(_OF_ANOTHER_PLACE.sub("", dumped).replace(f"{schema}.", ""))
