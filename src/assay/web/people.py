"""The people of one server, in a TOML file: a table each, with role, the hash of a secret, budget and keys."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from filelock import FileLock, Timeout
from pydantic import Field, SecretStr

from assay.batch.spending import Allowance, Period, allowance
from assay.report.units import count_noun
from assay.web.configuring import changing, put
from llm_runtime.clock import now_ms
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying
from llm_runtime.keys import Key, read_toml
from llm_runtime.models import Model, fits
from llm_runtime.rewording import reworded
from llm_runtime.settings import EndpointEntry, Settings, merged

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


class Holder(Model):
    """Who has a purse of their own: a person, or the key of a program.

    Args:
        what: they are, in words.
        name: for people.
        budget: dollars that their runs may spend together in a period; ``None`` is no bound.
        per: the period, in UTC.
        id: drawn when they are added; their runs and their purse go by it. One without goes by its name.
        since: when they were added, in milliseconds since 1970.
    """

    what: ClassVar[str]
    name: str
    budget: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    per: Period = "day"
    id: str = ""
    since: int = 0

    @property
    def whose(self) -> str:
        """By what runs and purse are known as theirs."""
        return self.id or self.name

    def drawn(self) -> dict[str, str | int]:
        """Return their id and since when, for who is added now.

        Raises:
            ConfigurationError: the name is none.
        """
        if not _NAME.fullmatch(self.name):
            raise ConfigurationError(f"{self.name[:60]} is no name of a {self.what}; use a-z 0-9 . _ -, 40 at the most")
        # No name has such a sign.
        return {"id": f"{self.name}~{secrets.token_hex(8)}", "since": now_ms()}


Role: TypeAlias = Literal["reader", "member", "admin"]
ROLES: tuple[Role, ...] = ("reader", "member", "admin")
SHORTEST = 12
"""Characters of a password."""
#: Of scrypt: 16 MiB and some 50 ms for each try.
_COST, _BLOCK = 2**14, 8


class Person(Holder):
    """Somebody who may sign in; ``since`` tells whether keys of programs of before are another's.

    Args:
        role: a reader sees what is shared, a member starts runs of their own, an admin sees and sets everything.
        secret: hash of the password, or of the one-time secret.
        once: whether the secret is good for one sign-in alone, which sets a password.
        calls: model calls that they may make in the period of their budget.
        model: for every seat, where a run names none.
        keys: by provider or endpoint, the variable that holds their own key: ``env:VARIABLE``.
        endpoints: servers of their own, as in ``config.toml``.
        name: that of the table; somebody else may have it later.
    """

    what = "person"
    role: Role
    secret: str = ""
    once: bool = False
    calls: int | None = Field(default=None, ge=0)
    model: str | None = None
    keys: dict[str, str] = {}
    endpoints: dict[str, EndpointEntry] = {}

    @property
    def allowance(self) -> Allowance:
        """What their runs may spend."""
        return allowance(f"person:{self.whose}", self.budget, self.per, self.calls)

    @property
    def bounds(self) -> list[str]:
        """What bounds their runs, in words."""
        period = "" if self.per == "ever" else f" a {self.per}"
        bounds = [] if self.budget is None else [f"${self.budget:g}{period}"]
        return bounds + ([] if self.calls is None else [f"{count_noun(self.calls, 'call')}{period}"])

    @property
    def budget_words(self) -> str:
        """The budget as it is typed."""
        return "" if self.budget is None else f"{self.budget:g}" + ("" if self.per == "ever" else f"/{self.per}")

    def settings(self, settings: Settings) -> Settings:
        """Return the server's settings with their own laid over them.

        Raises:
            ConfigurationError: a variable that is to hold a key is not set.
        """
        # The server's key goes to nobody else's address.
        keys = {name: key for name, key in settings.keys.items() if name not in self.endpoints}
        for name, where in self.keys.items():
            variable = where.removeprefix("env:")
            if variable == where or not (secret := settings.environment.get(variable)):
                raise ConfigurationError(f"the key of {name} for {self.name}: {where} names no variable that is set")
            keys[name] = Key(SecretStr(secret), "environment")
        named = {**settings.config.endpoints, **self.endpoints}
        endpoints = {name: entry.model_dump(exclude_defaults=True) for name, entry in named.items()}
        own = replace(merged(settings, model=self.model, endpoints=endpoints), keys=keys)
        return own if self.role == "admin" else own.bound()


WHO: ContextVar[Person | None] = ContextVar("WHO", default=None)
"""Who asks; ``None`` for whoever started the server, and for everybody where it has no file of people."""

SEVERAL: ContextVar[bool] = ContextVar("SEVERAL", default=False)
"""Whether the server that was asked has a file of people."""


def may_all() -> bool:
    """Tell whether whoever asks sees and sets everything."""
    who = WHO.get()
    return who is None or who.role == "admin"


class People:
    """Reads and changes the file.

    Args:
        path: of it; what another process changes there is seen at once.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[object, dict[str, Person]] = (None, {})

    def all(self) -> dict[str, Person]:
        """Return everybody by name.

        Raises:
            ConfigurationError: the file cannot be read, or holds something that does not fit.
        """
        with saying(f"{self.path} cannot be read", advice="make it with: assay people add NAME --role admin"):
            stat = self.path.stat()
        stamp = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
        if self._read[0] != stamp:
            self._read = (stamp, self._checked(read_toml(self.path)))
        return self._read[1]

    def find(self, name: str) -> Person:
        """Return somebody by name.

        Raises:
            ConfigurationError: there is nobody of that name.
        """
        if (person := self.all().get(name)) is None:
            raise ConfigurationError(f"there is nobody called {name[:60]}", advice="see: assay people list")
        return person

    def add(self, person: Person) -> str:
        """Add somebody; return the secret for their first sign-in, which is kept nowhere.

        Raises:
            ConfigurationError: the name is taken or none, or the file cannot be written.
        """
        drawn = person.drawn()
        with self._changing() as document:
            if person.name in document:
                raise ConfigurationError(
                    f"there is somebody called {person.name}", advice="a new link: assay people link"
                )
            fields = person.model_dump(exclude={"name", "secret"}, exclude_defaults=True)
            return _draw(document, person.name, {**fields, **drawn})

    def link(self, name: str) -> str:
        """Return a new secret for one sign-in of somebody; what they had opens nothing any more.

        Raises:
            ConfigurationError: there is nobody of that name, or the file cannot be written.
        """
        with self._changing(name) as document:
            return _draw(document, name, document[name])

    def change(self, name: str, **fields: object) -> None:
        """Change fields of somebody; ``None`` takes one out.

        Raises:
            ConfigurationError: as for :meth:`link`; or a value does not fit.
        """
        with self._changing(name) as document:
            put(document[name], fields)

    def remove(self, name: str) -> None:
        """Remove somebody; from the next request on nobody is known by that name.

        Raises:
            ConfigurationError: there is nobody of that name, or the file cannot be written.
        """
        with self._changing(name) as document:
            del document[name]

    def enter(self, name: str, secret: str, password: str) -> Person | None:
        """Return whom a name and a secret belong to; ``None`` where they fit nobody. Takes some 50 ms on purpose.

        Args:
            name: as somebody typed it.
            secret: the password, or the one-time secret.
            password: from then on; needed with a one-time secret.

        Raises:
            ConfigurationError: the one-time secret fits, and the password is too short; or the file is at fault.
        """
        person = self.all().get(name)
        # Who is not there takes as long as who is.
        if not _fits(secret, person.secret if person else _hash("")) or person is None or not secret:
            return None
        return self.choose(person, password) if person.once else person

    def choose(self, person: Person, password: str) -> Person | None:
        """Give somebody a new password; ``None`` where their secret changed meanwhile. Their sessions end.

        Raises:
            ConfigurationError: it is too short, or the file is at fault.
        """
        if len(password) < SHORTEST:
            raise ConfigurationError(f"choose a password of {SHORTEST} characters or more")
        with self._changing(person.name) as document:
            if document[person.name].get("secret") != person.secret:
                return None  # somebody else was quicker with it
            document[person.name]["secret"] = _hash(password)
            document[person.name].pop("once", None)
        return self.all()[person.name]

    @contextmanager
    def _changing(self, name: str = "") -> Generator[Any]:
        """Change the file, all of it or nothing; comments and order stay."""
        lock = FileLock(self.path.with_name(f".{self.path.name}.lock"), timeout=10, mode=0o600)
        with reworded(f"{self.path} cannot be written", OSError, Timeout):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with lock, changing(self.path, self._checked, private=True) as document:
                if name and name not in document:
                    raise ConfigurationError(f"there is nobody called {name[:60]}", advice="see: assay people list")
                yield document

    def _checked(self, tables: Mapping[str, Any]) -> dict[str, Person]:
        return {name: _person(self.path, name, table) for name, table in tables.items()}


def _draw(document: Any, name: str, fields: Any) -> str:
    secret = secrets.token_urlsafe(24)
    document[name] = {**fields, "secret": _hash(secret), "once": True}
    return secret


def _person(path: Path, name: str, table: object) -> Person:
    with fits(f"{path}: {name}: "):
        return Person.model_validate({**table, "name": name} if isinstance(table, dict) else table)


def _hash(secret: str) -> str:
    salt = secrets.token_bytes(16)
    return "scrypt:" + ":".join(base64.b64encode(part).decode() for part in (salt, _derived(secret, salt)))


def _fits(secret: str, stored: str) -> bool:
    try:
        salt, digest = (base64.b64decode(part) for part in stored.removeprefix("scrypt:").split(":"))
    except ValueError:
        return False
    return hmac.compare_digest(_derived(secret, salt), digest)


def _derived(secret: str, salt: bytes) -> bytes:
    return hashlib.scrypt(secret.encode(errors="replace")[:1024], salt=salt, n=_COST, r=_BLOCK, p=1)
