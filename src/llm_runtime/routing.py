"""Where a model id leads: which endpoint answers for it, and under which name it goes there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Container
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from llm_runtime.dialects import HOSTED, HUMAN_PROVIDERS, LOCAL, Dialect
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, NoModelError
from llm_runtime.keys import printed_key
from llm_runtime.programs import PREFIX, found
from llm_runtime.settings import Settings
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from pydantic import SecretStr

    from llm_runtime.endpoints import Endpoint
    from llm_runtime.http import Http

NO_MODEL = "no model to ask"
_NO_MODEL_ADVICE = (
    "set a vendor's key, e.g. OPENROUTER_API_KEY (or: assay keys set openrouter; all vendors: "
    "assay keys list); or start a local server (Ollama, llama.cpp, vLLM, LM Studio); or answer yourself with "
    "--model terminal: or --model mailbox:DIR"
)


def no_model_advice(settings: Settings) -> str:
    """Return how to get a model: what is on this machine comes first."""
    here = " or ".join(f"--model {name}" for name in found(settings.config.agents, settings.environment))
    return (f"{here} asks what you are signed in with on this machine; or " if here else "") + _NO_MODEL_ADVICE


#: Models that do not converse, whatever their makers list before them.
_NO_CHAT = re.compile(r"embed|whisper|tts|audio|speech|transcri|image|vision|video|moderation|guard|rerank|ocr", re.I)


class Target(Struct):
    """An endpoint's name, and the model's name there; an empty model is the endpoint's default."""

    provider: str
    model: str


def parse_model(text: str, endpoints: Container[str] = ()) -> Target | None:
    """Read ``PROVIDER:MODEL`` or a base URL; ``None`` for a plain id, which is routed by what is reachable.

    Args:
        text: what somebody wrote.
        endpoints: names of endpoints that the user configured.

    >>> parse_model("ollama:qwen3:8b")
    Target(provider='ollama', model='qwen3:8b')
    >>> parse_model("http://127.0.0.1:9000/v1#tiny")
    Target(provider='http://127.0.0.1:9000/v1', model='tiny')
    >>> parse_model("agent:claude#opus")
    Target(provider='agent:claude', model='opus')
    >>> parse_model("deepseek/deepseek-r1:free") is None
    True
    """
    if text.startswith(("http://", "https://")):
        url, _, model = text.partition("#")
        host = ""
        with suppress(ValueError):  # half of an IPv6 address
            host = urlsplit(url).hostname
        if not host:
            raise ConfigurationError(f"{text} names no host; write http://HOST:PORT/v1#MODEL")
        return Target(url.rstrip("/"), model)
    if text.startswith(PREFIX):
        program, _, model = text.partition("#")
        return Target(program, model)
    head, colon, rest = text.partition(":")
    if colon and (head in HOSTED or head in LOCAL or head in HUMAN_PROVIDERS or head in endpoints):
        return Target(head, rest)
    return None


def permitted(settings: Settings, asked: str) -> bool:
    """Tell whether a model may be asked by this name: with bound settings only what they allow is."""
    if settings.bound_to is None or asked in settings.bound_to:
        return True
    with suppress(ConfigurationError):
        target = parse_model(asked, settings.config.endpoints)
        # A plain id is led to an endpoint by the configuration; terminal: is the page of whoever asks.
        # A program answers on the subscription of whoever runs this machine, which is theirs alone.
        return target is None or not (
            target.provider == "mailbox" or "://" in target.provider or target.provider.startswith(PREFIX)
        )
    return False


class Reachable(Struct):
    """One endpoint: how it was found, and its models or why they could not be listed."""

    provider: str
    how: str
    models: list[str]
    fault: str = ""

    @property
    def names(self) -> list[str]:
        """What its models are asked by; a program chooses one by itself."""
        alone = [self.provider] if self.provider.startswith(PREFIX) else []
        return [f"{self.provider}:{name}" for name in self.models] or alone


class Router:
    """Finds endpoints for model ids; local servers are looked for only when nothing else answers.

    A plain id goes to OpenRouter if it has a key, else to its vendor if that has one. Else it goes to the user's
    first endpoint, to whichever vendor has a key, or to the first local server, with that endpoint's default model.
    """

    def __init__(self, settings: Settings, http: Http) -> None:
        self._settings = settings
        self._http = http
        self._local: dict[str, tuple[Endpoint, list[str]]] | None = None
        self._endpoints: dict[str, Endpoint] = {}
        self._defaults: dict[str, str] = {}

    async def resolve(self, asked: str, *, named: bool = False) -> Target:
        """Return the target of a model id.

        Args:
            asked: the id, or a full specification.
            named: the user asked for this very model, so another one will not do.

        Raises:
            ConfigurationError: ``named``, and nothing that is reached serves the model; or it may not be named.
            NoModelError: no endpoint is configured or found.
            CallError: the endpoint's list of models was needed and could not be read.
        """
        if not permitted(self._settings, asked):
            raise ConfigurationError(f"{asked[:60]}: only an admin names folders and addresses as models")
        written = parse_model(asked, self._settings.config.endpoints)
        if written and named and await self._is_local_name(asked, written):
            return await self._exactly(asked)
        target = written or self._hosted(asked)
        if named and (target is None or not target.model) and written is None:
            return await self._exactly(asked)
        if target is None:
            local = await self._local_servers()
            if not local:
                raise NoModelError(NO_MODEL, advice=no_model_advice(self._settings))
            target = Target(next(iter(local)), "")
        if asked.startswith("~") and target.model and target.provider != "openrouter":
            return await self.successor(target) or Target(target.provider, await self._default_model(target.provider))
        if target.model or target.provider in HUMAN_PROVIDERS or target.provider.startswith(PREFIX):
            return target
        return Target(target.provider, await self._default_model(target.provider))

    def written(self, asked: str) -> bool:
        """Tell whether the endpoint is part of the model's name."""
        return parse_model(asked, self._settings.config.endpoints) is not None

    async def _is_local_name(self, asked: str, written: Target) -> bool:
        """Tell whether ``mistral:7b`` is what a local server calls a model, where the vendor has no key."""
        if written.provider not in HOSTED or written.provider in self._settings.providers:
            return False
        return any(asked in models for _, models in (await self._local_servers()).values())

    async def _exactly(self, asked: str) -> Target:
        """Return the local server that lists this model."""
        for name, (_, models) in (await self._local_servers()).items():
            if asked in models:
                return Target(name, asked)
        raise ConfigurationError(
            f"nothing that is reached here serves {asked}; write PROVIDER:MODEL", advice="see: assay models"
        )

    async def endpoint(self, name: str) -> Endpoint:
        """Return the endpoint of a provider's name or base URL.

        Raises:
            NoModelError: a hosted provider without a key, or a local server that does not answer.
        """
        if name.startswith(("http://", "https://")):
            return await self._at_address(name)
        if name.startswith(PREFIX):
            return self._program(name)
        if name in HOSTED or name in self._settings.providers:
            if name not in self._endpoints:
                self._endpoints[name] = self._settings.endpoint(name)
            return await self._with_key(self._endpoints[name])
        local = await self._local_servers()
        if name not in local:
            raise NoModelError(f"no {name} server answers on this machine", advice="see: assay models")
        return local[name][0]

    async def _with_key(self, endpoint: Endpoint, refused: SecretStr | None = None) -> Endpoint:
        """Return an endpoint with the key that its command prints, where it has one."""
        if not endpoint.key_command:
            return endpoint
        return replace(endpoint, key=await printed_key(endpoint.key_command, refused))

    async def renewed(self, endpoint: Endpoint) -> Endpoint:
        """Return an endpoint with another key than the one that it refuses."""
        return await self._with_key(endpoint, endpoint.key)

    async def _at_address(self, url: str) -> Endpoint:
        """Return the server of a bare address; what it lists tells which kind it is."""
        if url not in self._endpoints:
            from llm_runtime.providers.catalogue import server_at

            self._endpoints[url] = await server_at(self._http, url)
        return self._endpoints[url]

    async def successor(self, gone: Target) -> Target | None:
        """Return the newest listed model of the line of one that its endpoint serves no longer, if there is any."""
        from llm_runtime.providers.catalogue import listing
        from llm_runtime.providers.listing import successor

        with suppress(LlmRuntimeError):
            if name := successor(gone.model, await listing(await self.endpoint(gone.provider), self._http)):
                return Target(gone.provider, name)
        return None

    async def any_model(self, instead_of: Target) -> Target | None:
        """Return what an endpoint answers with where no model is asked for, if that is another one."""
        with suppress(LlmRuntimeError):
            target = Target(instead_of.provider, await self._default_model(instead_of.provider))
            return target if target != instead_of else None
        return None

    async def reachable(self) -> list[Reachable]:
        """Ask every endpoint of the user, every vendor with a key and every local server at the same time."""

        async def hosted(name: str, source: str) -> Reachable:
            from llm_runtime.providers.catalogue import list_models

            try:
                return Reachable(name, source, await list_models(await self.endpoint(name), self._http))
            except LlmRuntimeError as error:
                return Reachable(name, source, [], str(error))

        local = asyncio.ensure_future(self._local_servers())
        reached = await asyncio.gather(*(hosted(name, self._origin(name)) for name in self._settings.providers))
        servers = [Reachable(name, f"found at {at.base_url}", models) for name, (at, models) in (await local).items()]
        return [*(Reachable(*one, []) for one in self._programs().items()), *reached, *servers]

    def _program(self, name: str) -> Endpoint:
        """Return a program of this machine as an endpoint."""
        from llm_runtime.endpoints import Endpoint

        programs, environment = self._settings.config.agents, self._settings.environment
        program = programs.get(name.removeprefix(PREFIX))
        if program is None:
            listed = ", ".join(f"{PREFIX}{one}" for one in programs)
            raise NoModelError(f"there is no {name[:60]}; there are: {listed}")
        if program.place(environment) is None:
            words = f"{name}: there is no program {Path(program.argv[0]).name} on this machine"
            raise NoModelError(words, advice="install it, or put its folder on the PATH")
        dialect = Dialect("agent", wire="agent", effort="effort", efforts=program.efforts)
        sees = "pictures" in program.holds
        return Endpoint(name, "", dialect=dialect, program=program, environment=environment, vision=sees)

    def _programs(self) -> dict[str, str]:
        """Return where each program is that answers as a model, unless only what is configured may be asked."""
        places = found(self._settings.config.agents, self._settings.environment)
        return {name: f"program {place}" for name, place in places.items() if permitted(self._settings, name)}

    def _origin(self, name: str) -> str:
        key, own = self._settings.keys.get(name), name in self._settings.config.endpoints
        return ", ".join((["configured"] if own else []) + ([f"key from {key.source}"] if key else []))

    def _hosted(self, asked: str) -> Target | None:
        own = self._settings.config.endpoints
        reached = [one for one in self._settings.providers if one in own or not HOSTED[one].by_name]
        if "openrouter" in reached:
            return Target("openrouter", asked)
        # A tilde marks what OpenRouter leads to the newest of a line.
        slug, _, name = asked.removeprefix("~").partition("/")
        vendor = next((one for one, dialect in HOSTED.items() if slug in (one, dialect.vendor)), "")
        if vendor in reached:
            return Target(vendor, name)
        return next((Target(provider, "") for provider in reached), None)

    async def _local_servers(self) -> dict[str, tuple[Endpoint, list[str]]]:
        if self._local is None:
            from llm_runtime.providers.catalogue import discover_local

            servers = await discover_local(self._http, self._settings.environment)
            self._local = {server.endpoint.name: (server.endpoint, server.models) for server in servers}
        return self._local

    async def _default_model(self, provider: str) -> str:
        if provider == "openrouter":
            return "openrouter/auto"
        if provider not in self._defaults:
            self._defaults[provider] = await self._newest(provider)
        return self._defaults[provider]

    async def _newest(self, provider: str) -> str:
        from llm_runtime.providers.catalogue import list_models

        endpoint = await self.endpoint(provider)
        models = await list_models(endpoint, self._http)
        if not models:
            raise NoModelError(f"{provider} serves no model; load one there, or name one", advice="with --model")
        conversing = [name for name in models if not _NO_CHAT.search(name)] or models
        return next((name for name in conversing if re.match(endpoint.dialect.general, name)), conversing[0])
