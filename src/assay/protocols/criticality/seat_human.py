"""A person in a build, asked through the model function: each question is a call to the seat ``person``.

So it is recorded, shown where the run is watched, and answered by whatever sits in the seat. The form of an answer
travels as a JSON schema with words for people in it, from which a page makes its buttons and fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from assay.protocols.criticality.report.words import DECISIONS, DELEGATION, FEATURES
from criticality.human import Approval, Reply, Resolution
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import ConfigurationError, EmptyReply
from llm_runtime.messages import CallLabel, Generate, Message, Request

if TYPE_CHECKING:
    from criticality import AnswersFile
    from criticality.machine.states import HumanQuery
    from criticality.spec.spec import Spec

PERSON = "person"
_DELEGATE = "/delegate"


class SeatHuman:
    """A :class:`criticality.Human`: what the answers hold first, then whoever sits in the seat.

    Args:
        generate: the model function that reaches the seat.
        answers: what is left of those that the run was started with.
        place: how many events the project has; makes two equal questions at different times two questions.
    """

    def __init__(self, generate: Generate, answers: AnswersFile | None, *, place: Callable[[], int]) -> None:
        self._generate, self._answers, self._place = generate, answers, place

    async def answer(self, question: str, text: str, options: tuple[str, ...]) -> Reply | None:
        """Ask a question of the interview."""
        if self._answers is not None and (ready := await self._answers.answer(question, text, options)) is not None:
            return ready
        if question.startswith("delegation:"):
            return await self._delegation(text)
        if options:
            chosen = await self._ask("interview", text, _choice({o: FEATURES.get(o, o) for o in options}))
            return None if chosen is None else Reply(text=chosen)
        hint = f"(To leave this and the rest to the architect, answer {_DELEGATE}, with notes behind it.)"
        words = await self._ask("interview", f"{text}\n\n{hint}", None)
        if words is not None and words.startswith(_DELEGATE):
            return Reply(text=words.removeprefix(_DELEGATE).strip(), delegate=True)
        return None if words is None else Reply(text=words)

    async def approve(self, proposal: Spec, version: int) -> Approval | None:
        """Ask what becomes of a proposal.

        Raises:
            ConfigurationError: a change is wanted, and the answer does not name it.
        """
        if self._answers is not None and (ready := await self._answers.approve(proposal, version)) is not None:
            return ready
        claims = "\n".join(f"- {claim.text}" for claim in proposal.claims.values())
        text = (
            f"Proposal {version}: {proposal.system.description}\n\nIt claims:\n{claims}\n\n"
            "The whole of it is on this page. What becomes of it?"
        )
        feedback = {"type": "string", "title": "What should change, or the condition"}
        fields = await self._ask_fields("approval", text, {"decision": _choice(DECISIONS), "feedback": feedback})
        if fields is None:
            return None
        decision, change = fields["decision"], fields.get("feedback", "").strip()
        if decision in ("revise", "conditional") and not change:
            raise ConfigurationError("say what should change, or the condition; then resume the run")
        conditions = [change] if decision == "conditional" else []
        return Approval.model_validate({"decision": decision, "feedback": change, "conditions": conditions})

    async def resolve(self, query: HumanQuery) -> Resolution | None:
        """Ask for a way out of a block."""
        if self._answers is not None and (ready := await self._answers.resolve(query)) is not None:
            return ready
        option = _choice({option.id: option.label for option in query.options})
        note = {"type": "string", "title": "What you want to add"}
        fields = await self._ask_fields("decision", query.question, {"option": option, "text": note})
        return None if fields is None else Resolution(option=fields["option"], text=fields.get("text", ""))

    async def _delegation(self, text: str) -> Reply | None:
        notes = {"type": "string", "title": "Notes for the architect"}
        fields = await self._ask_fields("interview", text, {"choice": _choice(DELEGATION), "notes": notes})
        if fields is not None and fields["choice"] == "delegate":
            return Reply(text=fields.get("notes", "").strip(), delegate=True)
        return None if fields is None else Reply(text="continue")

    async def _ask_fields(self, phase: str, text: str, properties: dict[str, dict[str, Any]]) -> dict[str, str] | None:
        """Ask for an object whose first field is required."""
        required = next(iter(properties))
        schema: dict[str, Any] = {"properties": properties, "required": [required]}
        schema |= {"additionalProperties": False, "type": "object"}
        reply = await self._ask(phase, text, schema)
        return None if reply is None else _read(reply, required)

    async def _ask(self, phase: str, text: str, schema: dict[str, Any] | None) -> str | None:
        label = CallLabel("criticality", phase, f"0:{PERSON}", attempt=self._place() + 1)
        written = None if schema is None else canonical_json(schema).decode()
        request = Request("terminal:", (Message("user", text),), label, schema=written)
        try:
            return (await self._generate(request)).text.strip()
        except EmptyReply:  # the end of the input at a keyboard: nobody is there
            return None


def _choice(options: Mapping[str, str]) -> dict[str, Any]:
    return {"oneOf": [{"const": value, "title": words} for value, words in options.items()], "type": "string"}


def _read(text: str, name: str) -> dict[str, str]:
    """Read the fields of an answer; a bare word is the choice alone, as it comes from a keyboard.

    Raises:
        ConfigurationError: it is neither.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {name: text.strip()}
    if not isinstance(data, dict) or not isinstance(data.get(name), str):  # pyright: ignore[reportUnknownMemberType]
        raise ConfigurationError(f"the answer must be an object with {name!r}, or the choice alone")
    return {str(key): str(value) for key, value in data.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
