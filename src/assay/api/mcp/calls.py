"""What a tool call does: begin a run or look after one, wait a while with signs of life, and tell how it stands."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from assay.api.answering import account, answer_of, why_none
from assay.api.catalogue import ChatModel, chat_models
from assay.api.desk import Desk, Order, order_name
from assay.api.keys import ApiKey
from assay.api.refused import Refused
from assay.launch.naming import names_of
from assay.registry import find
from assay.report.clean import clean
from assay.web.forms import read_form
from assay.web.live_runs import LiveRun
from assay.web.people import WHO
from assay.web.permissions import permit_names

#: Seconds after which a call returns, and between two signs of life.
_MOST_S = 40.0
_BEAT_S = 10.0
_STEPS = 5


class _Progress(Protocol):
    """Where signs of life go."""

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell that there is one more."""
        ...


class RunReply(BaseModel):
    """How a run stands.

    Args:
        run_id: by which the other tools know it.
        state: ``"starting"``, ``"running"``, ``"finished"``, ``"stopped"``, ``"failed"`` or ``"interrupted"``.
        next: the tool to call with ``run_id`` for the result; empty where there is nothing to wait for.
        answer: Markdown, once it is finished.
        why: why there is no answer, where there will be none.
        steps: what it completed last.
        calls: of models, so far.
        cost_usd: so far; ``None`` where a price is not known.
        partial: whether a call failed, so that something is missing in the answer.
        standing: its verdict, who answered, where that comes from, and what can be done next.
        asks: questions that it puts to a person: name, what it is about, text.
    """

    run_id: str
    state: str
    next: Literal["run_result", ""] = ""
    answer: str = ""
    why: str = ""
    steps: list[str] = []
    calls: int = 0
    cost_usd: float | None = 0
    partial: bool = False
    asks: list[dict[str, str]] = []
    standing: dict[str, object] = {}


class Caller:
    """Does what the tools say.

    Args:
        desk: takes the orders.
        most_s: seconds after which a call returns.
    """

    def __init__(self, desk: Desk, most_s: float = _MOST_S) -> None:
        self.desk = desk
        self._most_s = most_s
        self._starting: dict[str, asyncio.Task[str]] = {}

    async def run(self, kind: str, fields: Mapping[str, Any], key: ApiKey | None, progress: _Progress) -> RunReply:
        """Begin a run, or find the same one, and wait for its end.

        Args:
            kind: of run.
            fields: of its task, options and terms, and the ``preset`` of the user; what is empty is left out.
            key: of whoever asks; ``None`` is bound by nothing.
            progress: where signs of life go.

        Raises:
            Refused: the key does not allow it, or there is no such preset.
            LlmRuntimeError: it could not begin.
        """
        until = asyncio.get_running_loop().time() + self._most_s
        order = self._order(kind, fields, key)
        begun = self._starting.get(order.name)
        if begun is None:
            begun = self._starting[order.name] = asyncio.create_task(self.desk.take(order))
            begun.add_done_callback(lambda _: self._starting.pop(order.name, None))
        # The run goes on where this call is given up.
        await asyncio.wait([begun], timeout=self._most_s)
        if not begun.done():
            why = "the models cannot be reached yet; call the same tool again"
            return RunReply(run_id="", state="starting", why=why)
        return await self._until(begun.result(), progress, until)

    async def wait(self, run_id: str, key: ApiKey | None, progress: _Progress) -> RunReply:
        """Wait for a run's end, as long as a call may take."""
        return await self._until(self.desk.own(run_id, key), progress, asyncio.get_running_loop().time() + self._most_s)

    def status(self, run_id: str, key: ApiKey | None) -> RunReply:
        """Return how a run stands."""
        return self._reply(self.desk.hub.watch(self.desk.own(run_id, key)))

    async def cancel(self, run_id: str, key: ApiKey | None) -> RunReply:
        """Stop a run.

        Raises:
            ConfigurationError: this process does not carry it out.
        """
        await self.desk.runs.stop(self.desk.own(run_id, key))
        return self.status(run_id, key)

    def answer(self, run_id: str, name: str, text: str, key: ApiKey | None) -> RunReply:
        """Give a run the answer of a person.

        Raises:
            ConfigurationError: the question is not open.
        """
        self.desk.questions.answer(self.desk.own(run_id, key), name, text)
        return self.status(run_id, key)

    def _order(self, kind: str, sent: Mapping[str, Any], key: ApiKey | None) -> Order:
        models, run = chat_models(), find(kind)
        fields = {name: value for name, value in sent.items() if value not in ("", [])}
        preset = str(fields.pop("preset", ""))
        if preset and (preset not in models or models[preset].run is not run):
            raise Refused(404, f"there is no preset {preset[:60]} of this kind", "model_not_found", "preset")
        name = preset or run.chat or kind
        if key is not None and not key.allows(name):
            raise Refused(404, f"this key does not allow {name}", "model_not_found")
        made: Mapping[str, Any] = models[preset].preset if preset else {}
        prepared, terms = read_form({"kind": kind, **made, **fields}, strict=True)
        if key is not None and WHO.get() is None:
            # A key that is nobody's names no more than a member may; of runs, those that it began.
            names = [name for name in names_of(prepared, terms) if name.field in fields]
            permit_names(self.desk.runs.settings().bound(), prepared, names)
            for name in names:
                if name.kind == "run":
                    self.desk.own(name.text, key)
        return Order(prepared, terms, order_name(key, [kind, preset, fields]), key)

    async def _until(self, run_id: str, progress: _Progress, until: float) -> RunReply:
        loop = asyncio.get_running_loop()
        run, began = self.desk.hub.watch(run_id), loop.time()
        with run.viewed():
            while run.state == "running" and run.fault is None and not self.desk.questions.of_run(run_id):
                left = until - loop.time()
                if left <= 0 or self.desk.closing.is_set():
                    break
                seen = len(run.lines)
                changed = await run.changed(run.version, min(_BEAT_S, left))
                if not changed or any(line.step for line in run.lines[seen:]):
                    latest = next((line.step for line in reversed(run.lines) if line.step), "begun")
                    await progress.report_progress(round(loop.time() - began, 3), None, clean(latest))
        return self._reply(run)

    def _reply(self, run: LiveRun) -> RunReply:
        steps = [clean(line.step) for line in run.steps(_STEPS)]
        reply = RunReply(run_id=run.run_id, state=run.state, steps=steps, **account(run))
        if run.state == "finished":
            reply.answer = answer_of(run, ChatModel("", find(run.started.protocol)), "").text
        elif run.state == "running" and run.fault is None:
            reply.next = "run_result"
            reply.asks = [
                {"name": one.name, "about": one.request.label.words, "text": one.request.messages[-1].content}
                for one in self.desk.questions.of_run(run.run_id)
            ]
        else:
            reply.why = str(why_none(run))
        return reply
