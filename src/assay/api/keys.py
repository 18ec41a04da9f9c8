"""Keys of programs that ask this server: shown once, kept as hashes, with a budget and the models they may use."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from assay.api.catalogue import PREFIX
from assay.batch.spending import Allowance, Period, allowance
from assay.web.people import Holder
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying, write_atomic
from llm_runtime.models import first_fault
from llm_runtime.settings import config_dir


class ApiKey(Holder):
    """What a key allows.

    Args:
        hash: SHA-256 of the key, which has 256 bits of its own, in hex.
        allow: names of the models that it may use; empty allows all.
        background: whether its runs go on when the program that asked has left.
        person: whose it is, where the server has people: its runs are theirs, and so is what they spend.
    """

    what = "key"
    hash: str
    per: Period = "ever"
    allow: tuple[str, ...] = ()
    background: bool = False
    person: str = ""

    def allows(self, model: str) -> bool:
        """Tell whether it may use a model, by its name without the prefix."""
        return not self.allow or model in {name.removeprefix(PREFIX) for name in self.allow}

    @property
    def allowance(self) -> Allowance:
        """What its runs may spend."""
        return allowance(f"key:{self.whose}", self.budget, self.per)


_KEYS = TypeAdapter(list[ApiKey])


class ApiKeys:
    """The keys, in a file that its owner alone can read.

    Args:
        folder: where ``api-keys.json`` is; the user's configuration where left out.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or config_dir()) / "api-keys.json"
        self._read: tuple[object, list[ApiKey]] = (None, [])

    def all(self) -> list[ApiKey]:
        """Return the keys in the order in which they were made; what another process changes is seen at once.

        Raises:
            ConfigurationError: the file cannot be read.
        """
        try:
            stat = self.path.stat()
            stamp = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
            if self._read[0] != stamp:
                self._read = (stamp, _KEYS.validate_json(self.path.read_bytes()))
        except FileNotFoundError:
            self._read = (None, [])
        except ValidationError as fault:
            raise ConfigurationError(f"{self.path} is damaged: {first_fault(fault)}; make the keys anew") from None
        except OSError as fault:
            raise ConfigurationError(f"{self.path} cannot be read: {fault.strerror}") from None
        return self._read[1]

    def find(self, secret: str) -> ApiKey | None:
        """Return the key that a program has shown; ``None`` where there is none such."""
        shown = _hash(secret)
        # Hashes are compared: how long that takes says nothing of a key.
        return next((key for key in self.all() if key.hash == shown), None)

    def add(self, key: ApiKey) -> str:
        """Make a key; return it. It is kept nowhere.

        Raises:
            ConfigurationError: the name is taken or none, or the file cannot be written.
        """
        drawn = key.drawn()
        secret = f"assay-{secrets.token_urlsafe(32)}"
        with self._changing() as keys:
            if any(one.name == key.name for one in keys):
                raise ConfigurationError(f"there is a key {key.name}; remove it first: assay serve keys remove")
            keys.append(key.model_copy(update={"hash": _hash(secret), **drawn}))
        return secret

    def remove(self, name: str) -> None:
        """Remove a key; it opens nothing from now on.

        Raises:
            ConfigurationError: there is none of that name, or the file cannot be written.
        """
        with self._changing() as keys:
            if all(one.name != name for one in keys):
                raise ConfigurationError(f"there is no key {name[:60]}; see: assay serve keys list")
            keys[:] = [one for one in keys if one.name != name]

    @contextmanager
    def _changing(self) -> Generator[list[ApiKey]]:
        with saying(f"{self.path} cannot be written"):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with FileLock(self.path.with_suffix(".lock"), timeout=10):
                keys = list(self.all())
                yield keys
                write_atomic(self.path, _KEYS.dump_json(keys, indent=1, exclude_defaults=True), private=True)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
