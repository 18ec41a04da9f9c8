"""The routes of the settings page: keys, endpoints and defaults, and the check of a model. No key is ever shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from functools import wraps
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from assay.launch.model_check import measure_model, verdicts
from assay.launch.model_choices import Choices
from assay.registry import protocols
from assay.web.acting import begun
from assay.web.app_state import AppState, Checked, redirect, request_fields, respond, site_of
from assay.web.configuring import change_config
from assay.web.endpoints import Handler
from assay.web.forms import whole_number
from assay.web.templating import chip_words, render
from llm_runtime.dialects import HOSTED
from llm_runtime.errors import ConfigurationError
from llm_runtime.keys import write_key
from llm_runtime.settings import Settings, check_key, config_dir


def settings_page(settings: Settings, choices: Choices, checked: Mapping[str, Checked], fault: str = "") -> str:
    """Return the page.

    Args:
        settings: as they are now.
        choices: the models that can be reached.
        checked: what was measured since the server began.
        fault: why a change was refused.
    """
    config = settings.config
    sources = {name: key.source for name, key in settings.keys.items()}
    faults = {entry.provider: entry.fault for entry in choices.endpoints if entry.fault}
    return render(
        "settings.html",
        endpoints=[(name, settings.endpoint(name).base_url) for name in config.endpoints],
        vendors=[(name, dialect.key_env) for name, dialect in HOSTED.items() if name not in config.endpoints],
        sources=sources,
        faults=faults,
        counts={entry.provider: len(entry.models) for entry in choices.endpoints},
        config=config,
        choices=choices,
        checked=checked,
        fault=fault,
    )


Change = Callable[[AppState, dict[str, Any]], Awaitable[None]]


async def show_settings(request: Request) -> Response:
    """Show which vendors and endpoints have a key and where it was found, the defaults, and checks of models."""
    site = site_of(request)
    settings = site.settings()
    await site.models.look()
    return respond(
        request,
        lambda: {
            "keys": {name: key.source for name, key in settings.keys.items()},
            "endpoints": {name: {"base_url": settings.endpoint(name).base_url} for name in settings.config.endpoints},
            "model": settings.config.model,
            "models": [asdict(chip) for chip in site.models.known.chips],
        },
        lambda: settings_page(settings, site.models.known, site.checked),
    )


async def find_models(request: Request) -> Response:
    """Find models that can be reached by parts of their names: what each costs and reads, and its last check."""
    site = site_of(request)
    await site.models.look()
    found = await site.models.search(request.query_params.get("search", "")[:200])
    models: list[dict[str, object]] = [{"name": one.name, "words": chip_words(one), "carries": None} for one in found]
    for model in models:
        if checked := site.checked.get(str(model["name"])):
            model["carries"] = [one.protocol for one in checked.verdicts if one.carries == "ready"]
    return JSONResponse({"models": models})


def _changing(change: Change) -> Handler:
    """Return the handler that makes a change and shows the page; where it is refused, with the reason."""

    @wraps(change)
    async def handle(request: Request) -> Response:
        site, fields = site_of(request), await request_fields(request)

        async def changed() -> Response:
            await change(site, fields)
            site.models.forget()
            checked = site.checked.get(str(fields.get("model") or ""))
            return redirect(request, "/settings", {"checked": asdict(checked)} if checked else {"changed": True})

        return await begun(
            request, changed, lambda why: settings_page(site.settings(), site.models.known, site.checked, why)
        )

    return handle


@_changing
async def store_key(site: AppState, fields: dict[str, Any]) -> None:
    """Store a vendor's or endpoint's key in the keyring or the keys file; an empty one takes it out."""
    name, secret, config = str(fields.get("provider", "")), str(fields.get("key", "")), config_dir()
    check_key(config, name, secret)
    write_key(config, name, secret)


@_changing
async def set_defaults(site: AppState, fields: dict[str, Any]) -> None:
    """Set the model, the effort and the longest answer of runs that say nothing else."""
    longest = fields.get("max_tokens")
    changes = {
        "model": str(fields.get("model") or "").strip() or None,
        "effort": fields.get("effort") or None,
        "max_tokens": whole_number(longest, "max_tokens") if longest else None,
    }
    change_config(config_dir(), changes)


@_changing
async def set_endpoint(site: AppState, fields: dict[str, Any]) -> None:
    """Name a server or service of one's own; without an address it is taken out, and its key with it."""
    name, address = (str(fields.get(field) or "").strip() for field in ("name", "base_url"))
    if name in HOSTED:
        # A vendor's key must not go to another address because of what a page sent.
        raise ConfigurationError(f"{name} is a vendor; give your endpoint another name")
    changes, own = ({"base_url": address}, (name,)) if address else ({name: None}, ())
    change_config(config_dir(), changes, "endpoints", *own)
    if not address:
        # Else the next server of this name would be sent it.
        write_key(config_dir(), name, "")


@_changing
async def check_model(site: AppState, fields: dict[str, Any]) -> None:
    """Measure a model by at most 8 small calls: can it carry each protocol?"""
    model = str(fields.get("model") or "").strip()
    capabilities = await measure_model(site.settings(), model)
    site.checked[model] = Checked(capabilities, verdicts(capabilities, protocols().values()))
