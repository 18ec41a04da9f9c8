"""A PostgreSQL of the tests' own: in a temporary folder, on a socket, as an ordinary user."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def installed() -> Path | None:
    """Where PostgreSQL's programs are; ``None`` where they are not."""
    programs = [Path(found).resolve().parent for found in (shutil.which("initdb"),) if found]
    programs += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in programs if (folder / "initdb").exists()), None)


class PostgresServer:
    """A server that can be killed and started again.

    Args:
        durable: whether it waits for the disk at every commit. Without, it outlives everything but the machine.
        lazy: what no commit flushes waits ten seconds, not a fifth of one.
    """

    def __init__(self, *, durable: bool = False, lazy: bool = False) -> None:
        programs = installed()
        if programs is None:
            pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
        pytest.importorskip("psycopg", reason="psycopg is not installed")
        self._programs = programs
        self._fsync = "on" if durable else "off"
        self._late = "10s" if lazy else "200ms"
        self._user = self._ordinary_user()
        self.folder = Path(tempfile.mkdtemp(prefix="assay-pg-"))
        if self._user:
            shutil.chown(self.folder, self._user)
        self._run("initdb", "-D", str(self.folder / "data"), "-U", "assay", "-A", "trust", "--no-sync", "-E", "UTF8")
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", str(self.folder / "log"), "-o",
            f"-k {self.folder} -c listen_addresses= -c max_connections=200 -c fsync={self._fsync} "
            f"-c wal_writer_delay={self._late}", "start",
        )  # fmt: skip

    def kill(self) -> None:
        """What an immediate stop does: no checkpoint, no farewell; the next start recovers from the log."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop")

    def remove(self) -> None:
        """Stop it for good."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, user: str = "assay") -> str:
        return f"postgresql://{user}@/postgres?host={self.folder}"

    def new_database(self, name: str) -> str:
        """The address of an empty database: a user whose tables are its own, for a true one is 300 files."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {name} SUPERUSER LOGIN; CREATE SCHEMA AUTHORIZATION {name}".encode())
        return self.url(name)

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        done = subprocess.run(
            [str(self._programs / program), *arguments],
            user=self._user, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/", check=False,
        )  # fmt: skip
        if check and done.returncode:
            raise RuntimeError(done.stderr.decode())

    @staticmethod
    def _ordinary_user() -> str | None:
        """The server refuses to run as root; then it runs as the user that its package made, or as nobody."""
        if os.geteuid() != 0:
            return None
        known = {entry.pw_name for entry in pwd.getpwall()}
        return "postgres" if "postgres" in known else "nobody"
