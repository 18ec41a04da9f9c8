"""Where keys are found and stored: the environment, ``.env``, the system's keyring, ``keys.toml``."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from llm_runtime.errors import ConfigurationError
from llm_runtime.extras import needing
from llm_runtime.files import saying, write_atomic
from llm_runtime.structs import Struct
from llm_runtime.toml import parse_toml

#: How ``config.toml`` names a program that prints a key.
COMMAND = "command:"
#: How long what a program printed is taken to hold; a key that is refused is asked for anew at once.
_PRINTED_SECONDS, _COMMAND_SECONDS = 300.0, 60.0
_printed: dict[str, tuple[float, SecretStr]] = {}
#: In ``keys.toml``, in place of a key: it lies in the keyring.
IN_KEYRING = "keyring:"
_SERVICE = "assay"


class Key(Struct):
    """A provider's key and where it was found."""

    secret: SecretStr
    source: str


class KeySources(Struct):
    """All places where a key may lie, in order: the first that has one wins."""

    environment: Mapping[str, str] = field(repr=False)
    dotenv: Mapping[str, str] = field(repr=False)
    stored: Mapping[str, str] = field(repr=False)

    def variable(self, name: str) -> str:
        """Return a variable of the environment or of ``.env``; empty where neither has it."""
        return (self.environment.get(name) or self.dotenv.get(name) or "").strip()

    def in_variable(self, name: str) -> Key | None:
        """Return the key in a variable."""
        for source, variables in (("environment", self.environment), (".env", self.dotenv)):
            if value := variables.get(name, "").strip():
                return Key(SecretStr(value), source)
        return None

    def in_store(self, name: str, *, ask_keyring: bool = False) -> Key | None:
        """Return the key that was stored for a provider.

        Args:
            name: of the provider or endpoint.
            ask_keyring: look into the keyring even where ``keys.toml`` does not say that the key lies there.
        """
        value = self.stored.get(name, "").strip()
        if value == IN_KEYRING or (ask_keyring and not value):
            secret = _from_keyring(name)
            return Key(SecretStr(secret), "keyring") if secret else None
        return Key(SecretStr(value), "keys file") if value else None


async def printed_key(command: str, refused: SecretStr | None = None) -> SecretStr:
    """Return the key that a program prints: one for short-lived tokens, or a password manager.

    Args:
        command: its words, as a shell reads them; no shell is asked.
        refused: a key that holds no longer.

    Raises:
        ConfigurationError: it cannot be run, fails, or prints nothing.
    """
    import asyncio

    when, known = _printed.get(command, (0.0, None))
    if known is None or known == refused or time.monotonic() - when > _PRINTED_SECONDS:
        known = await asyncio.to_thread(_asked_of, command)
        _printed[command] = time.monotonic(), known
    return known


def _asked_of(command: str) -> SecretStr:
    import shlex
    import subprocess

    try:
        words = shlex.split(command)
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_COMMAND_SECONDS)
    except (OSError, ValueError, subprocess.TimeoutExpired) as fault:
        reason = type(fault).__name__ if isinstance(fault, subprocess.TimeoutExpired) else _words(fault)
        raise ConfigurationError(f"the command for a key, {command.split()[0]}, fails: {reason}") from None
    key = run.stdout.decode("utf-8", "replace").strip()
    if run.returncode or not key:
        said = " ".join(run.stderr.decode("utf-8", "replace").split())[:200]
        words = f"ends with code {run.returncode}" + (f" ({said})" if said else " and prints no key")
        raise ConfigurationError(f"the command for a key, {command.split()[0]}, {words}")
    return SecretStr(key)


def key_sources(environment: Mapping[str, str], folder: Path, config: Path) -> KeySources:
    """Read the places where keys may lie.

    Args:
        environment: variables, which win.
        folder: where ``.env`` may lie.
        config: where ``keys.toml`` may lie.
    """
    return KeySources(environment, _read_dotenv(folder / ".env"), read_keys(config))


def read_keys(config: Path) -> dict[str, str]:
    """Read the keys by provider from ``keys.toml``; empty where there is no such file."""
    return {name: value for name, value in read_toml(config / "keys.toml").items() if isinstance(value, str)}


def write_key(config: Path, name: str, secret: str) -> str:
    """Store a key, in the system's keyring where there is one, else in ``keys.toml``, mode 0600, the whole file at
    once; an empty ``secret`` removes it. Return in words where it lies now.

    Raises:
        ConfigurationError: no header can carry the key, or the place cannot be written.
    """
    secret = secret.strip()
    if not (secret.isascii() and secret.isprintable()):
        raise ConfigurationError("a key holds printable ASCII characters only; was something else pasted?")
    keys = read_keys(config)
    in_keyring = _into_keyring(name, secret, there=keys.get(name) == IN_KEYRING)
    keys[name] = IN_KEYRING if secret and in_keyring else secret
    path = config / "keys.toml"
    lines = [f"{_quoted(entry)} = {_quoted(value)}\n" for entry, value in sorted(keys.items()) if value]
    with saying(f"{path} cannot be written"):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(path, "".join(lines), private=True)
    return "the system's keyring" if in_keyring else f"{path}, readable by you alone"


def read_toml(path: Path, number: Callable[[str], Any] = float, *, there: bool = False) -> dict[str, Any]:
    """Read a TOML file; ``number`` makes what has a point or an exponent.

    Raises:
        ConfigurationError: it is not TOML, or cannot be read, or is not there and should be; else it is empty then.
    """
    try:
        return parse_toml(path.read_text(encoding="utf-8"), number)
    except UnicodeDecodeError as fault:
        raise ConfigurationError(f"{path} is no TOML: it is not UTF-8 text (byte {fault.start})") from None
    except ValueError as fault:
        raise ConfigurationError(f"{path} is not readable TOML: {fault}") from None
    except OSError as fault:
        if isinstance(fault, FileNotFoundError) and not there:
            return {}
        raise ConfigurationError(f"{path} cannot be read: {fault.strerror}") from None


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _read_dotenv(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        # A key may hold a dollar sign: nothing is filled in.
        values = dotenv_values(path, interpolate=False)
    except (OSError, UnicodeDecodeError):
        return {}
    return {name: value for name, value in values.items() if value is not None}


def _from_keyring(name: str) -> str:
    with needing(f"the key of {name}, which lies in the keyring,", "keyring"):
        import keyring
        from keyring.errors import KeyringError
    try:
        return (keyring.get_password(_SERVICE, name) or "").strip()
    except KeyringError as fault:
        raise ConfigurationError(f"the keyring does not give the key of {name}: {_words(fault)}") from None


def _into_keyring(name: str, secret: str, *, there: bool) -> bool:
    """Store or remove a key in the keyring; tell whether there is a real one to do so."""
    try:
        import keyring
        from keyring.errors import KeyringError, PasswordDeleteError
    except ImportError:
        return False
    # Without a desktop the library offers a backend that refuses everything, at priority 0.
    if keyring.get_keyring().priority <= 0:
        return False
    try:
        if secret:
            keyring.set_password(_SERVICE, name, secret)
        elif there:
            keyring.delete_password(_SERVICE, name)
    except PasswordDeleteError:
        pass
    except KeyringError as fault:
        raise ConfigurationError(f"the keyring does not take the key of {name}: {_words(fault)}") from None
    return True


def _words(fault: Exception) -> str:
    return " ".join(str(fault).split()) or type(fault).__name__
