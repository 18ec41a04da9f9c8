"""Models that answer from a script, and models that fail on cue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.providers.scripted import Answer, Script, scripted

Scripts: TypeAlias = "Script | Sequence[Answer] | Mapping[str, Answer | Sequence[Answer] | Script]"


class ScriptedModel:
    """A model that answers from a script and remembers what it was asked.

    >>> model = ScriptedModel({"triage": '{"plan": 1}', "position": ["first", "second"]})

    Args:
        script: a function of the request; or answers, given in the order of the calls; or either of these, or
            one answer for every call, keyed by the label's phase. An answer is a text, a reply, or an exception
            to raise.

    Raises:
        AssertionError: when called, if the script has no answer for the call.
    """

    def __init__(self, script: Scripts) -> None:
        self.requests: list[Request] = []
        if callable(script) or isinstance(script, Sequence):
            self._generate = scripted(_script(script))
        else:
            self._generate = scripted(_by_phase(script))

    async def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        return await self._generate(request)

    def asked(self, phase: str) -> list[Request]:
        """Return the requests of one phase, in the order in which they arrived."""
        return [request for request in self.requests if request.label.phase == phase]


def _by_phase(script: Mapping[str, Answer | Sequence[Answer] | Script]) -> Script:
    scripts = {phase: _script(entry) for phase, entry in script.items()}

    def answer(request: Request) -> Answer | Awaitable[Answer]:
        entry = scripts.get(request.label.phase)
        if entry is None:
            raise AssertionError(f"the script has no phase for {request.label}; it has {', '.join(scripts)}")
        return entry(request)

    return answer


def _script(entry: Answer | Sequence[Answer] | Script) -> Script:
    if isinstance(entry, (str, Reply, BaseException)):
        return lambda _: entry
    if callable(entry):
        return entry
    answers = iter(entry)

    def next_answer(request: Request) -> Answer:
        answer = next(answers, None)
        if answer is None:
            raise AssertionError(f"the script has no answer left for {request.label}")
        return answer

    return next_answer


def faulty(generate: Generate, faults: Mapping[int | str, Answer | Callable[[Request], Answer]]) -> Generate:
    """Answer some calls of ``generate`` otherwise.

    Args:
        generate: what answers the other calls.
        faults: by call number, counted from 1 as the calls arrive; or by label, written out in full
            (``"crucible/position/1:pragmatist/1/1"``) or as its phase alone. A number wins over a label, a label
            over a phase. What is raised or returned instead: an exception, a text, a reply, or a function that
            makes one of them from the request.
    """
    calls = 0

    async def generate_or_fail(request: Request) -> Reply:
        nonlocal calls
        calls += 1
        for key in (calls, str(request.label), request.label.phase):
            if key in faults:
                fault = faults[key]
                return await scripted(fault if callable(fault) else _script(fault))(request)
        return await generate(request)

    return generate_or_fail
