"""What the user configured: keys, addresses, models, limits. Read once, explicit afterwards."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import field, replace
from math import inf
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import Field, SecretStr, field_validator

from llm_runtime.dialects import DIALECTS, GENERIC, HOSTED, HUMAN_PROVIDERS, Dialect
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import ConfigurationError, NoModelError
from llm_runtime.keys import COMMAND, Key, KeySources, key_sources, read_toml
from llm_runtime.messages import Effort
from llm_runtime.models import Model, fits
from llm_runtime.plugins import found
from llm_runtime.programs import PREFIX, AgentProgram, laid_over
from llm_runtime.silence import HOSTED_PATIENCE, LOCAL_PATIENCE, Patience
from llm_runtime.structs import Struct
from llm_runtime.wires import GROUP, dialect_named

Durability: TypeAlias = Literal["sync", "paid", "exit"]


class Limits(Model):
    """What a provider grants a model, as a ``[limits."PROVIDER"]`` or ``[limits."PROVIDER/MODEL"]`` table says it.

    Args:
        requests_per_minute: 1 or more; ``None`` is no limit, here and below.
        tokens_per_minute: 1 or more; input (characters/4) and the output that the request allows.
        in_flight: 1 or more.
    """

    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    in_flight: int | None = Field(default=64, ge=1)


class EndpointEntry(Model):
    """One ``[endpoints.NAME]`` table; what it leaves out is the dialect's. See :class:`Endpoint` for the rest.

    Args:
        dialect: one of :data:`~llm_runtime.dialects.DIALECTS`, or an installed wire; that of its name, else
            ``"generic"``.
        base_url: the vendor's where left out.
        key: ``"env:VARIABLE"``, ``"keyring"`` for what ``assay keys set NAME`` stored, or ``"command:WORDS"``
            for what a program prints.
    """

    dialect: str = ""
    base_url: str = ""
    key: str = ""
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    context: int | None = Field(default=None, ge=1)
    in_flight: int | None = Field(default=None, ge=1)
    body: dict[str, Any] = {}
    vision: bool | None = None

    @field_validator("key")
    @classmethod
    def _no_key_itself(cls, value: str) -> str:
        if re.fullmatch(r"env:\w+|keyring|command:.*\S.*|", value) is None:
            raise ValueError("write env:VARIABLE or keyring or command:WORDS; a key itself has no place in this file")
        return value

    @field_validator("dialect")
    @classmethod
    def _known(cls, value: str) -> str:
        if value and value not in DIALECTS and value not in found(GROUP):
            listed = ", ".join((*DIALECTS, *found(GROUP)))
            raise ValueError(f"there is no dialect {value!r}; those that there are: {listed}")
        return value


class ConfigFile(Model):
    """``config.toml``: everything is optional.

    Args:
        model: the model for every seat that names none of its own, as ``PROVIDER:MODEL``.
        seats: a model for a seat's role or for a phase, e.g. ``red_team = "terminal:"``.
        first_timeout: seconds until the first words of an answer; 600, and 1,800 of a model on this machine.
        idle_timeout: seconds between words; 120, and 600 of a model on this machine.
        call_timeout: seconds for one attempt's whole answer; no limit where left out.
        max_tokens: upper bound of every answer, in tokens, in place of what a protocol asks for.
        effort: how long reasoning models may think, in place of what a protocol asks for.
        durability: what of a run waits for the disk (:mod:`llm_runtime.store.durability`).
        signing_key: file with the key that signs runs' heads, in place of one beside the store.
        signing_command: command line of a program that signs them, in place of a key.
        budget_webhook: an address that is told when half, four fifths and all of a purse are used; what it is
            sent is signed with ``ASSAY_WEBHOOK_SECRET``, where that is set.
        limits: rates, by provider or by ``provider/model``.
        endpoints: services and servers of your own, asked as ``NAME:MODEL``.
        agents: programs that answer as models, asked as ``agent:NAME``; over those that Assay knows.
    """

    model: str | None = None
    seats: dict[str, str] = {}
    first_timeout: float | None = Field(default=None, gt=0)
    idle_timeout: float | None = Field(default=None, gt=0)
    call_timeout: float | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, ge=1)
    effort: Effort | None = None
    durability: Durability = "paid"
    signing_key: str | None = None
    signing_command: str | None = None
    budget_webhook: str | None = None
    limits: dict[str, Limits] = {}
    endpoints: dict[str, EndpointEntry] = {}
    agents: dict[str, AgentProgram] = Field(default_factory=dict[str, AgentProgram], validate_default=True)

    @field_validator("agents", mode="before")
    @classmethod
    def _with_ours(cls, value: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
        return laid_over(value)

    @field_validator("endpoints")
    @classmethod
    def _free_names(cls, value: dict[str, EndpointEntry]) -> dict[str, EndpointEntry]:
        taken = ("http", "https", "agent", *HUMAN_PROVIDERS)
        for name in value:
            if name in taken or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name, re.A):
                raise ValueError(f"{name[:60]!r} is taken or no name: write letters, digits and . _ -, no sign first")
        return value


class Settings(Struct):
    """All that the gateway needs to know. Holds secrets; its repr shows none.

    Args:
        bound_to: where it is set, models are named by vendor, by configured endpoint, or as one of these; no other
            address or folder is.
    """

    keys: Mapping[str, Key] = field(default_factory=dict[str, Key])
    base_urls: Mapping[str, str] = field(
        default_factory=lambda: {name: dialect.base_url for name, dialect in HOSTED.items()}
    )
    config: ConfigFile = field(default_factory=ConfigFile)
    prices_path: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    bound_to: frozenset[str] | None = None

    def bound(self) -> Settings:
        """Return the same for a run of somebody who may reach what is configured here and nothing else."""
        return replace(self, bound_to=frozenset(filter(None, (self.config.model, *self.config.seats.values()))))

    @property
    def providers(self) -> tuple[str, ...]:
        """The names of what can be asked without looking for it: the user's endpoints, then vendors with a key."""
        hosted = (name for name in HOSTED if name in self.keys and name not in self.config.endpoints)
        return (*self.config.endpoints, *hosted)

    def endpoint(self, name: str) -> Endpoint:
        """Return one of :attr:`providers`.

        Raises:
            ConfigurationError: it has no address, or one that does not fit; says where.
            NoModelError: a vendor without a key.
        """
        entry = self.config.endpoints.get(name)
        dialect, key = dialect_of(name, entry), self.keys.get(name)
        if entry is None and key is None:
            raise NoModelError(f"{name} has no key", advice=f"set {dialect.key_env}, or: assay keys set {name}")
        own = entry or EndpointEntry()
        base_url = own.base_url or self.base_urls.get(name) or dialect.base_url
        if not base_url:
            raise ConfigurationError(f"{name} has no address: write base_url under [endpoints.{name}] in config.toml")
        return Endpoint(
            name, base_url, key.secret if key else None, dialect, tuple(own.headers.items()), tuple(own.query.items()),
            own.context, own.in_flight, own.body, vision=own.vision,
            judged=self.bound_to is not None and base_url == dialect.base_url,
            key_command=own.key.removeprefix(COMMAND) if own.key.startswith(COMMAND) else "",
        )  # fmt: skip

    def limits_for(self, provider: str, model: str) -> dict[str, Limits]:
        """Return every limit that a call must keep, by the entry that sets it: the provider's and the model's own.

        Calls under the same entry share it. Without an entry there is the default, for each model by itself.
        """
        names = (provider, f"{provider}/{model}")
        named = {name: self.config.limits[name] for name in names if name in self.config.limits}
        endpoint = self.config.endpoints.get(provider)
        most = endpoint.in_flight if endpoint else None
        if provider.startswith(PREFIX) and (program := self.config.agents.get(provider.removeprefix(PREFIX))):
            most = program.at_once
        if most and provider not in named:
            named[provider] = Limits(in_flight=most)
        return named or {names[1]: Limits()}

    def patience(self, *, local: bool, vendor: bool = False) -> Patience:
        """Return how long a model may be silent.

        Args:
            local: it is on this machine: it is given more time, and noticed when it stalls or repeats itself.
            vendor: it is a vendor's all the same, behind a proxy on this machine.
        """
        config, usual = self.config, LOCAL_PATIENCE if local else HOSTED_PATIENCE
        first, idle = config.first_timeout or usual.first, config.idle_timeout or usual.idle
        heeded = (usual.heeded and not vendor) or config.idle_timeout is not None
        return Patience(first, idle, config.call_timeout or inf, heeded=heeded)


def dialect_of(name: str, entry: EndpointEntry | None = None) -> Dialect:
    """Return what an endpoint speaks, by its entry, else by its name.

    Raises:
        ConfigurationError: an installed wire cannot be loaded.
    """
    return dialect_named((entry.dialect if entry else "") or name) or GENERIC


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
    environment: Mapping[str, str] = os.environ, folder: Path | None = None, config: Path | None = None,
    file: ConfigFile | None = None,
) -> Settings:  # fmt: skip
    """Read the configuration.

    A key is taken from the environment, else from ``.env`` in ``folder`` (the working directory), else from
    where ``assay keys set`` stored it, for which ``config`` (:func:`config_dir`) is looked at. ``file`` takes the
    place of the one there.

    Raises:
        ConfigurationError: a file is not TOML, or holds something unknown; says which and where.
    """
    config = config_dir() if config is None else config
    sources = key_sources(environment, folder or Path.cwd(), config)
    file = file or read_config(config)
    keys = {name: key for name in (*file.endpoints, *HOSTED) if (key := _key(name, file, sources))}
    base_urls = {name: url for name, at in HOSTED.items() if (url := sources.variable(at.url_env) or at.base_url)}
    settings = Settings(keys, base_urls, file, config / "prices.toml", dict(environment))
    for name in file.endpoints:
        settings.endpoint(name)
    return settings


def read_config(config: Path, environment: Mapping[str, str] | None = None) -> ConfigFile:
    """Read ``config.toml``; everything has its default where there is none, and ``ASSAY_DURABILITY`` comes first.

    Raises:
        ConfigurationError: it is not TOML, or holds something unknown; says where.
    """
    path = config / "config.toml"
    data = read_toml(path)
    if level := (environment or {}).get("ASSAY_DURABILITY"):
        path, data = Path("ASSAY_DURABILITY"), {**data, "durability": level}
    with fits(f"{path}: "):
        return ConfigFile.model_validate(data)


def check_key(config: Path, name: str, secret: str = "") -> None:
    """Look whether a vendor or an endpoint of the file takes a key, and this one: kept beside an address that cannot
    have it, it would stop every command and page.

    Raises:
        ConfigurationError: it takes none, or its address cannot have this one.
    """
    endpoints = read_config(config).endpoints
    if name not in (takers := (*HOSTED, *endpoints)):
        raise ConfigurationError(f"{name[:40]} takes no key; those that do: {', '.join(takers)}")
    if secret and name in endpoints and (address := endpoints[name].base_url):
        Endpoint(name, address, SecretStr(secret.strip()))


def _key(name: str, file: ConfigFile, sources: KeySources) -> Key | None:
    entry = file.endpoints.get(name)
    named = entry.key if entry else ""
    if named == "keyring":
        return sources.in_store(name, ask_keyring=True)
    if named.startswith(COMMAND):
        return None
    if variable := named.removeprefix("env:"):
        key = sources.in_variable(variable)
        if key is None:
            raise ConfigurationError(f"endpoints.{name}.key: {variable} is set neither here nor in .env")
        return key
    return _unasked_key(name, entry, sources)


def _unasked_key(name: str, entry: EndpointEntry | None, sources: KeySources) -> Key | None:
    """Return the key of an endpoint whose entry names none."""
    # A vendor's key goes to nobody else's address.
    variable = dialect_of(name, entry).key_env if name in HOSTED or (entry and not entry.base_url) else ""
    return (sources.in_variable(variable) if variable else None) or sources.in_store(name)


def merged(settings: Settings, **changes: object) -> Settings:
    """Return settings with some fields of the configuration file replaced, as flags of a command line do."""
    if fields := {name: new for name, new in changes.items() if new not in (None, getattr(settings.config, name))}:
        # What nobody has set stays unset: a limit that the user set is kept in another way than the default.
        whole = {**settings.config.model_dump(exclude_unset=True), **fields}
        return replace(settings, config=ConfigFile.model_validate(whole))
    return settings
