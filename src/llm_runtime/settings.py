"""What the user configured: keys, addresses, models, limits. Read once, explicit afterwards."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, cast

from pydantic import Field, SecretStr, ValidationError

from llm_runtime.errors import ConfigurationError
from llm_runtime.files import write_atomic
from llm_runtime.models import Model, first_fault
from llm_runtime.silence import HOSTED_PATIENCE, LOCAL_PATIENCE, Patience

#: Hosted providers: the variable that holds the key, and the address, which a variable may replace.
HOSTED: Mapping[str, tuple[str, str, str]] = {
    "openrouter": ("OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "https://openrouter.ai/api/v1"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1"),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a provider grants a model; ``None`` is no limit.

    Args:
        requests_per_minute: 1 or more.
        tokens_per_minute: 1 or more; input (characters/4) and the output that the request allows.
        in_flight: 1 or more.
    """

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    in_flight: int | None = 64


class LimitEntry(Model):
    """One ``[limits."PROVIDER"]`` or ``[limits."PROVIDER/MODEL"]`` table; see :class:`Limits`."""

    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    in_flight: int | None = Field(default=64, ge=1)


class ConfigFile(Model):
    """``config.toml``: everything is optional.

    Args:
        model: the model for every seat that names none of its own, as ``PROVIDER:MODEL``.
        seats: a model for a seat's role or for a phase, e.g. ``red_team = "terminal:"``.
        first_timeout: seconds until the first words of an answer; 600, and 1,800 of a model on this machine.
        idle_timeout: seconds between words; 120, and 600 of a model on this machine.
        call_timeout: seconds for one attempt's whole answer; no limit where left out.
        max_tokens: upper bound of every answer, in tokens, in place of what a protocol asks for.
        limits: rates, by provider or by ``provider/model``.
    """

    model: str | None = None
    seats: dict[str, str] = {}
    first_timeout: float | None = Field(default=None, gt=0)
    idle_timeout: float | None = Field(default=None, gt=0)
    call_timeout: float | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, ge=1)
    limits: dict[str, LimitEntry] = {}


@dataclass(frozen=True, slots=True)
class Key:
    """A provider's key and where it was found."""

    secret: SecretStr
    source: str


@dataclass(frozen=True, slots=True)
class Settings:
    """All that the gateway needs to know. Holds secrets; its repr shows none."""

    keys: Mapping[str, Key] = field(default_factory=dict[str, Key])
    base_urls: Mapping[str, str] = field(
        default_factory=lambda: {name: url for name, (_, _, url) in HOSTED.items()}
    )
    config: ConfigFile = field(default_factory=ConfigFile)
    prices_path: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    def limits_for(self, provider: str, model: str) -> dict[str, Limits]:
        """Return every limit that a call must keep, by the entry that sets it: the provider's and the model's own.

        Calls under the same entry share it. Without an entry there is the default, for each model by itself.
        """
        names = (provider, f"{provider}/{model}")
        named = {name: self.config.limits[name] for name in names if name in self.config.limits}
        entries = named or {names[1]: LimitEntry()}
        return {
            name: Limits(entry.requests_per_minute, entry.tokens_per_minute, entry.in_flight)
            for name, entry in entries.items()
        }

    def patience(self, *, local: bool) -> Patience:
        """Return how long a model may be silent; one on this machine is given more time."""
        config, usual = self.config, LOCAL_PATIENCE if local else HOSTED_PATIENCE
        return Patience(
            config.first_timeout or usual.first, config.idle_timeout or usual.idle, config.call_timeout or inf
        )


def config_dir() -> Path:
    """Return the folder of ``config.toml``, ``keys.toml`` and ``prices.toml``; ``ASSAY_CONFIG_DIR`` moves it."""
    if folder := os.environ.get("ASSAY_CONFIG_DIR"):
        return Path(folder)
    import platformdirs

    return platformdirs.user_config_path("assay", appauthor=False)


def data_dir() -> Path:
    """Return the folder of the run store; ``ASSAY_DATA_DIR`` moves it."""
    if folder := os.environ.get("ASSAY_DATA_DIR"):
        return Path(folder)
    import platformdirs

    return platformdirs.user_data_path("assay", appauthor=False)


def load_settings(
    environment: Mapping[str, str] | None = None, folder: Path | None = None, config: Path | None = None
) -> Settings:
    """Read the configuration.

    A key is taken from the environment, else from ``.env`` in ``folder`` (the working directory), else from
    ``keys.toml`` in ``config`` (:func:`config_dir`).

    Raises:
        ConfigurationError: a file is not TOML, or holds something unknown; says which and where.
    """
    environment = os.environ if environment is None else environment
    config = config_dir() if config is None else config
    dotenv = _read_dotenv((folder or Path.cwd()) / ".env")
    stored = read_keys(config)
    keys: dict[str, Key] = {}
    base_urls: dict[str, str] = {}
    for name, (key_variable, url_variable, url) in HOSTED.items():
        sources = (
            ("environment", environment.get(key_variable, "")),
            (".env", dotenv.get(key_variable, "")),
            ("keys file", stored.get(name, "")),
        )
        for source, value in sources:
            if value.strip():
                keys[name] = Key(SecretStr(value.strip()), source)
                break
        base_urls[name] = environment.get(url_variable) or dotenv.get(url_variable) or url
    return Settings(
        keys, base_urls, _read_config(config / "config.toml"), config / "prices.toml", dict(environment)
    )


def read_keys(config: Path) -> dict[str, str]:
    """Read the keys by provider from ``keys.toml``; empty where there is no such file."""
    data = _read_toml(config / "keys.toml")
    return {name: value for name, value in data.items() if name in HOSTED and isinstance(value, str)}


def write_key(config: Path, provider: str, secret: str) -> Path:
    """Store a key in ``keys.toml``, mode 0600, the whole file at once; an empty ``secret`` removes it.

    Raises:
        ConfigurationError: the provider takes no key.
    """
    if provider not in HOSTED:
        raise ConfigurationError(f"{provider} takes no key; those that do: {', '.join(HOSTED)}")
    keys = {**read_keys(config), provider: secret.strip()}
    lines = [f"{name} = {_toml_string(value)}\n" for name, value in sorted(keys.items()) if value]
    path = config / "keys.toml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(path, "".join(lines), private=True)
    except OSError as fault:
        raise ConfigurationError(f"{path} cannot be written: {fault.strerror}") from None
    return path


def _toml_string(value: str) -> str:
    if not value.isprintable():
        raise ConfigurationError("a key holds printable characters only; was something else pasted?")
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _read_config(path: Path) -> ConfigFile:
    try:
        return ConfigFile.model_validate(_read_toml(path))
    except ValidationError as fault:
        raise ConfigurationError(f"{path}: {first_fault(fault)}") from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ConfigurationError(f"{path} is not readable TOML: {fault}") from None
    except OSError as fault:
        raise ConfigurationError(f"{path} cannot be read: {fault.strerror}") from None


def _read_dotenv(path: Path) -> dict[str, str]:
    """Read the plain ``NAME=value`` lines of a ``.env`` file; quotes around a value are taken off."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    values: dict[str, str] = {}
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            values[name.strip()] = value.strip().strip("'\"")
    return values


def merged(settings: Settings, **changes: object) -> Settings:
    """Return settings with some fields of the configuration file replaced, as flags of a command line do."""
    import dataclasses

    fields = {name: value for name, value in changes.items() if value is not None}
    config = ConfigFile.model_validate({**settings.config.model_dump(), **cast("dict[str, Any]", fields)})
    return dataclasses.replace(settings, config=config)
