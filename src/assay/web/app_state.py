"""What the routes share: the store, the runs that are watched and carried out, and who may come in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl
from weakref import WeakKeyDictionary

from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from assay.batch.batches import store_url
from assay.batch.spending import Spending
from assay.launch.model_check import Fitness
from assay.launch.model_choices import ModelChoices
from assay.registry import known
from assay.web.asking import Ask
from assay.web.calls import place_words
from assay.web.guard import Gate
from assay.web.live_runs import LiveRun, LiveRuns
from assay.web.people import WHO
from assay.web.permissions import SHARED, acts, may_start
from assay.web.questions import MailboxQuestion, Questions, folders, letters
from assay.web.rendering import PageRenderer
from assay.web.running import ActiveRuns, BatchWorkers
from assay.web.templating import rooted
from assay.web.views import RunPageState
from llm_runtime.capabilities import Capabilities
from llm_runtime.errors import ConfigurationError, RunNotFound
from llm_runtime.events import CallStarted, RunStarted
from llm_runtime.messages import Request as ModelRequest
from llm_runtime.rewording import reworded
from llm_runtime.settings import Settings, load_settings
from llm_runtime.store import RunStore, valid_run_id
from llm_runtime.store.upkeep import tags_of
from llm_runtime.structs import Struct

_BODY = 4 << 20
_READ = 1 << 25
"""What is read of a request that is too long before it is answered: a browser that still sends hears nothing."""
_LETTERS_S = 0.5
"""Between two looks at a mailbox folder."""


class Checked(Struct):
    """A model that was measured, and what that means for each protocol."""

    capabilities: Capabilities
    verdicts: list[Fitness]


@dataclass(slots=True)
class AppState:
    """The application's parts, made once a launch.

    Args:
        store: whose runs are shown, also while other processes write them.
        gate: who may come in.
        settings: reads the configuration, for each run that is started.
    """

    store: RunStore
    gate: Gate
    settings: Callable[[], Settings] = load_settings
    hub: LiveRuns = field(init=False)
    questions: Questions = field(init=False)
    runs: ActiveRuns = field(init=False)
    renderer: PageRenderer = field(init=False)
    spending: Spending = field(init=False)
    _choices: dict[str, ModelChoices] = field(default_factory=dict[str, ModelChoices])
    checked: dict[str, Checked] = field(default_factory=dict[str, Checked])
    """Models that were measured since the server began, by name."""
    workers: BatchWorkers = field(default_factory=BatchWorkers)
    closing: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _letter_names: WeakKeyDictionary[LiveRun, tuple[str, ...]] = field(init=False)
    _mailboxes: WeakKeyDictionary[LiveRun, list[Path]] = field(init=False)

    def __post_init__(self) -> None:
        configured = self.settings
        self.settings = lambda: who.settings(configured()) if (who := WHO.get()) else configured()
        self.spending = Spending(store_url(self.store), self.settings)
        self.hub = LiveRuns(self.store)
        self.questions = Questions(self.hub.take_turn)
        self.runs = ActiveRuns(self.store, self.questions, self.settings, self.hub.take_turn, self.spending)
        self.renderer = PageRenderer(self.page_state, self._standing)
        self._letter_names, self._mailboxes = WeakKeyDictionary(), WeakKeyDictionary()

    @property
    def models(self) -> ModelChoices:
        """The models that whoever asks can choose from."""
        who = WHO.get()
        name = who.name if who and (who.keys or who.endpoints or who.model) else ""
        return self._choices.setdefault(name, ModelChoices(self.settings))

    def close_models(self) -> None:
        """Look for no models any more."""
        for choices in self._choices.values():
            choices.close()

    def _standing(self, watch: LiveRun) -> str:
        """Return in which way a run's page differs by who looks at it."""
        return "" if WHO.get() is None else f"{acts(self.store, watch.run_id)} {may_start()}"

    def page_state(self, watch: LiveRun) -> RunPageState:
        """Return what a run's page shows beside its log."""
        run_id = watch.run_id
        fault = self.runs.faults.get(run_id) or (str(watch.fault) if watch.fault else "")
        stoppable = watch.state == "running" and self.runs.owns(run_id)
        if self.gate.people is None:
            return RunPageState(stoppable, tuple(self._asks(watch)), fault)
        mine, shared = acts(self.store, run_id), SHARED in tags_of(self.store, run_id)
        asks = tuple(self._asks(watch)) if mine else ()
        return RunPageState(mine and stoppable, asks, fault, mine, may_start(), shared)

    def end_streams(self) -> None:
        """End every stream before the server ends, so that readers come back to the next one."""
        self.closing.set()
        self.hub.touch_all()

    def look(self, watch: LiveRun) -> float:
        """Notice letters that came or were answered; return in how many seconds to look again."""
        if watch.state != "running" or not self._folders(watch):
            return inf
        names = tuple(letter.name for letter in self.open_letters(watch))
        if self._letter_names.get(watch, ()) != names:
            self._letter_names[watch] = names
            watch.take_turn()
        return _LETTERS_S

    def _folders(self, watch: LiveRun) -> list[Path]:
        # They are looked for several times a second, and a task may be long.
        if watch not in self._mailboxes:
            self._mailboxes[watch] = folders(watch.started)
        return self._mailboxes[watch]

    def open_letters(self, watch: LiveRun) -> list[MailboxQuestion]:
        """Return the letters that a run's calls in flight wait for."""
        if watch.state != "running":
            return []
        waiting: list[dict[str, Any]] = []
        for key in watch.head.tally.running:
            for _, event in self.store.events(watch.run_id, watch.calls.places[key].started - 1):
                if isinstance(event, CallStarted):
                    waiting.append(event.request)
                break
        return letters(self._folders(watch), waiting)

    def _asks(self, watch: LiveRun) -> list[Ask]:
        asks = [(one.name, one.request, "") for one in self.questions.of_run(watch.run_id)]
        asks += [(f"letter-{one.name}", one.request, one.name) for one in self.open_letters(watch)]
        return [_ask(watch.started, *each) for each in asks]


def site_of(request: Request) -> AppState:
    """Return the application's parts, from a request."""
    return cast(AppState, request.app.state.site)


def run_id_of(request: Request) -> str:
    """Return the run that an address names.

    Raises:
        RunNotFound: it is no run id.
    """
    run_id: str = request.path_params["run_id"]
    if not valid_run_id(run_id):
        raise RunNotFound(f"there is no run {run_id[:80]!r}")
    return run_id


def wants_json(request: Request) -> bool:
    """Tell whether the response must be data: the address ends in ``.json``, or nothing else is accepted."""
    accept = request.headers.get("accept", "")
    path = request.url.path.removeprefix(rooted())
    if path.endswith(".json") or path.startswith("/api/"):
        return True
    return "application/json" in accept and "text/html" not in accept


def respond(request: Request, data: Callable[[], object], html: Callable[[], str], status: int = 200) -> Response:
    """Respond with a page, or with its data where the request wants JSON."""
    return JSONResponse(data(), status) if wants_json(request) else HTMLResponse(html(), status)


def redirect(request: Request, address: str, data: object, status: int = 200) -> Response:
    """Respond to a change: send a browser on to ``address``, a program the data."""
    return JSONResponse(data, status) if wants_json(request) else RedirectResponse(rooted(address), 303)


def download(content: str | bytes, media: str, name: str) -> Response:
    """Respond with a file to keep."""
    return Response(content, media_type=media, headers={"content-disposition": f'attachment; filename="{name}"'})


def is_json(request: Request) -> bool:
    """Tell whether a request carries JSON."""
    return request.headers.get("content-type", "").startswith("application/json")


async def body_of(request: Request, most: int) -> bytes | None:
    """Read what was sent; ``None`` where that is more than so many bytes."""
    body, read = bytearray(), 0
    async for chunk in request.stream():
        read += len(chunk)
        if read <= most:
            body += chunk
        elif read > _READ:
            break
    return bytes(body) if read <= most else None


async def request_fields(request: Request) -> dict[str, Any]:
    """Read the fields of a request: those of a form or of a JSON object.

    Raises:
        ConfigurationError: it is larger than 4 MiB, not UTF-8, or neither of the two.
    """
    body = await body_of(request, _BODY)
    if body is None:
        raise ConfigurationError(
            f"what was sent is larger than {_BODY >> 20} MiB; shorten it, or start this from the command line"
        )
    with reworded("the request cannot be read", ValueError, RecursionError):
        if is_json(request):
            data = from_json(body or b"{}")
            if not isinstance(data, dict):
                raise ConfigurationError("the request's JSON must be an object")
            return cast("dict[str, Any]", data)
        fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=100)
        # Browsers send line ends as CR LF.
        sent: dict[str, Any] = {}
        for name, value in fields:
            # What is ticked more than once is a list, a line each.
            sent[name] = (f"{sent[name]}\n" if name in sent else "") + value.replace("\r\n", "\n")
        return sent


def _ask(started: RunStarted, name: str, request: ModelRequest, where: str) -> Ask:
    label, run = request.label, known(started.protocol)
    role = label.seat.partition(":")[2] or label.seat or label.phase
    does = next((seat.about for seat in run.seats if seat.name == role), "") if run else ""
    messages = tuple((message.role, message.content) for message in request.messages)
    asked = str(started.task.get(run.opening.field, "")) if run and run.opening else ""
    return Ask(name, place_words(label), messages, request.schema or "", where, role.replace("_", " "), does, asked)
