"""What the commands about trials share: the workshop, the model, the plan of a trial, and what must be there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias, TypeVar

from assay.console.declared import declares
from llm_runtime.dialects import HOSTED
from llm_runtime.errors import ConfigurationError, MissingExtraError
from llm_runtime.names import Kind, Names

if TYPE_CHECKING:
    from ai_crucible.workshop import Workshop
    from llm_runtime.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
#: Providers that our gateway reaches too, each with the package that Inspect reaches it by.
_CLIENTS = {"anthropic": "anthropic", "openai": "openai", "openrouter": "openai"}
_NO_MODEL = (
    "no model to try: give --model, any that Inspect knows (openrouter/VENDOR/MODEL, ollama/NAME, ...), one of "
    "ours (ollama:NAME, a base URL, mailbox:DIR, terminal:), or assay/crucible/MODEL for a council"
)


log_dir_option = declares("assay.protocols.ai_crucible.commands", "options.toml")("log-dir")
"""Adds the option that says where logs and the ledger are kept."""


def solver_of(model: str | None) -> str:
    """Return the model that a person named as Inspect does: ours as ``assay/single/...``, a council by its own.

    What is written as Inspect writes it is left to Inspect, unless the package is missing that it needs and our own
    gateway does without.

    A council without MODEL takes the one that is configured, so that its name says who answers.

    Raises:
        NoModelError: none was named and none is configured, or its vendor has no key.
        ConfigurationError: the name cannot be one.
    """
    from llm_runtime.errors import NoModelError
    from llm_runtime.routing import parse_model
    from llm_runtime.settings import load_settings

    settings = load_settings()
    config, configured = settings.config, settings.config.model
    name = model or configured
    if not name:
        raise NoModelError(_NO_MODEL)
    if name == "assay/crucible":
        return f"{name}/{configured}" if configured else name
    if (target := parse_model(name, config.endpoints)) is None:
        if not all(name.split("/")) or "/" not in name:
            raise ConfigurationError(
                f"{name} is no model: write PROVIDER/MODEL, as in ollama/qwen3 or openrouter/VENDOR/MODEL"
            )
        provider, _, rest = name.partition("/")
        if provider in _CLIENTS and find_spec(_CLIENTS[provider]) is None:
            return _single(settings, provider, f"{provider}:{rest}")
        return name
    return _single(settings, target.provider, name)


def _single(settings: Settings, provider: str, name: str) -> str:
    if provider in HOSTED:
        settings.endpoint(provider)  # says which key it lacks
    return f"assay/single/{name}"


def check_models(models: Sequence[str], judges: Sequence[str], others: Sequence[str], *, untagged: bool) -> None:
    """Refuse models that cannot be named so, or judges that could not sit, before anything is opened.

    Args:
        models: those that attempt, the first one's cohort behind it.
        judges: of claimed novelty.
        others: with a part besides.
        untagged: whether a judge whose family nobody knows may sit.

    Raises:
        NoModelError: none was named and none is configured.
        ConfigurationError: a name cannot be one, or a judge has no family or the solver's.
    """
    from ai_crucible.judge_panel import eligible
    from ai_crucible.types import team_name

    seats = [solver_of(name) for name in judges]
    for name in others:
        solver_of(name)
    eligible(seats, team_name([solver_of(name or None) for name in models]), allow_untagged=untagged)


class Contestant(NamedTuple):
    """Who makes the attempts of one trial: a model, and the agent that it works in; empty for none."""

    model: str
    agent: str

    @property
    def name(self) -> str:
        """What it is called beside others."""
        from ai_crucible.agents import agent_name
        from ai_crucible.types import team_name

        return team_name([self.model], agent_name(self.agent)) if self.agent else self.model


def by_trial(first: str, models: Sequence[str], agents: Sequence[str]) -> dict[str, Contestant]:
    """Return each model in each agent by the id of its trial, of which the first is given.

    Raises:
        ConfigurationError: two of them are one, one's name cannot be a model's, or an agent is not here.
    """
    from ai_crucible.agents import find_agent

    for agent in agents:
        find_agent(agent)
    each = [Contestant(*pair) for pair in product(models, agents or ("",))]
    if len({(solver_of(one.model or None), one.agent) for one in each}) < len(each):
        raise ConfigurationError("--against or --agent names what is compared already; name another")
    return {first if at == 1 else f"{first}-{at}": one for at, one in enumerate(each, 1)}


def workshop(log_dir: str | None) -> Workshop:
    """Return the workshop of a folder, or the user's own, with whoever the user wants to sign.

    Raises:
        ConfigurationError: two signers are named, or the key is none.
    """
    from ai_crucible.workshop import Workshop
    from llm_runtime.settings import load_settings
    from llm_runtime.store.signing import configured_signer

    config = load_settings().config
    signer = configured_signer(os.environ, config.signing_key, config.signing_command)
    return Workshop.at(Path(log_dir).absolute() if log_dir else None, signer=signer)


def need_inspect(feature: str) -> None:
    """Refuse what cannot run without the extra.

    Raises:
        MissingExtraError: Inspect is not installed.
    """
    if find_spec("inspect_ai") is None:
        raise MissingExtraError(feature, "eval")


@cache
def need_box(root: str = "") -> None:
    """Refuse what cannot run without a box, before anything else is done.

    Raises:
        CannotIsolate: this machine gives none; the message says why.
    """
    from ai_crucible.puzzle_box import CannotIsolate, probe, root_at

    # In a thread, for it is also asked where an event loop runs already.
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(asyncio.run, probe(root_at(root))).result()
        except CannotIsolate as fault:
            raise CannotIsolate(f"{root}: no box starts of it: {fault}" if root else str(fault)) from None


def _own_puzzle(text: str) -> list[tuple[Kind, str]]:
    return [] if text in known_puzzles() else [("folder", text)]


PuzzleName: TypeAlias = Annotated[str, Names("folder", _own_puzzle)]
"""An id of a puzzle that comes with Assay, or a folder."""


def _own_agent(text: str) -> list[tuple[Kind, str]]:
    from ai_crucible.agents import agent_names

    return [] if text in agent_names() else [("folder", text)]


AgentName: TypeAlias = Annotated[str, Names("folder", _own_agent)]
"""An agent that Assay knows, or a command line, which says what of this machine its box shows."""


def known_puzzles() -> list[str]:
    """Return the ids of the puzzles that come with Assay, and ``all``."""
    from ai_crucible.catalog_paths import built_in_ids

    return ["all", *built_in_ids()]
